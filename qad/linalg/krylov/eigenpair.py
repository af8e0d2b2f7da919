"""One simple eigenpair of an operator as the solution of a bordered equation.

    A x / s - nu x = 0,    <w, x> = 1,    lambda = s nu

is holomorphic in (x, nu), and its derivative is invertible where the eigenvalue is simple: the other eigenvalues shift
to ``(lambda_i - lambda) / s`` and the border adds two of modulus one. w is the solution itself, held fixed.
Afterwards x is given unit norm and the phase in which ``<v0, x>`` is positive, by ordinary recorded operations.

Reference: H. Xie, J.-G. Liu and L. Wang, Phys. Rev. B 101, 245139 (2020), for real symmetric operators.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.sparse.linalg when it is first used

from qad.core.errors import ArgumentError, ConvergenceError, ShapeError
from qad.core.trees import flatten, tree_map, unflatten
from qad.extend import like, operand, value_of
from qad.linalg.implicit.packing import Packing
from qad.linalg.implicit.root import attach
from qad.linalg.krylov.gmres import bare, plain_leaves
from qad.linalg.krylov.rival_levels import unrefuted
from qad.linalg.support import tolerances
from qad.linalg.support.check import finite
from qad.linalg.support.guarded import guarded
from qad.linalg.support.lengths import length, unit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.linalg.krylov.eigensearch import Search
    from qad.linalg.krylov.gmres import Report
    from qad.typing import Array, LinearMap, Number, Tree


def operator_of(a: LinearMap) -> Callable[[Tree], Tree]:
    """`a` as a function: it may be one already, or a square matrix."""
    if callable(a):
        return a
    if np.ndim(a) != 2 or np.shape(a)[0] != np.shape(a)[1]:
        raise ArgumentError(f"the operator is a function or a square matrix, not an array of shape {np.shape(a)}")
    a = operand(a)
    finite(value_of(a), "the operator")

    def product(v):
        if np.shape(value_of(v))[:1] != a.shape[:1]:
            raise ShapeError(
                f"the operator is a matrix of shape {a.shape}, the vector has shape {np.shape(value_of(v))}"
            )
        return a @ v

    return product


class FlatOperator:
    """A function of pytrees on plain vectors; counts its calls.

    What it returns is divided by `unit`, a power of two that is 1 unless squares would overflow or vanish.
    """

    apply: Callable[[Tree], Tree]
    name: str
    spec: Any
    calls: int
    unit: float
    start: list[np.ndarray]
    packing: Packing
    on_leaves: Callable[[list[np.ndarray]], list[np.ndarray]]

    def __init__(self, apply: Callable[[Tree], Tree], v0: Tree, name: str):
        leaves, self.spec = plain_leaves(v0)
        self.apply, self.name, self.calls = apply, name, 0
        self.start, image = self._promoted(leaves)
        self.packing = Packing(self.start)
        if self.packing.real and self.packing.complex != [False] * len(leaves):
            raise ArgumentError(f"{name}: the arrays of v0 are all real or all complex, not mixed")
        self.on_leaves = bare(apply, self.spec, self.start, name)
        start = self.packing.pack(self.start)
        if not length(start) > 0:
            raise ArgumentError(f"{name}: v0 is zero or not finite")
        self.unit = unit_of(length(self.packing.pack(image)) / length(start), start.dtype)

    def _promoted(self, leaves):
        """`leaves` in the dtype that the operator returns, and what it returns for them."""
        wide = [x.astype(np.result_type(x, np.complex64)) for x in leaves]
        out = bare(self.apply, self.spec, wide, self.name)(leaves)
        return [x.astype(np.result_type(x, y), copy=False) for x, y in zip(leaves, out, strict=True)], out

    def __call__(self, v: np.ndarray) -> np.ndarray:
        self.calls += 1
        image = self.packing.pack(self.on_leaves(self.packing.unpack(v)))
        return image if self.unit == 1 else image / self.unit

    def linear_operator(self) -> Any:
        """For SciPy."""
        n = sum(x.size for x in self.start)
        return scipy.sparse.linalg.LinearOperator((n, n), matvec=lambda v: self(np.ravel(v)), dtype=self.packing.dtype)

    def tree(self, v: np.ndarray) -> Tree:
        """The pytree that vector `v` holds."""
        return unflatten(self.spec, self.packing.unpack(v))


def pair(
    operator: FlatOperator, hermitian: bool, limits: dict[str, Any], report: Report, find: Search,
    start: np.ndarray | None = None, partner: Sequence[np.ndarray] | None = None,
) -> tuple[Array, Tree]:  # fmt: skip
    """Value and vector of an eigenpair, differentiable.

    Parameters
    ----------
    operator : Operator
    find : callable
        ``find(operator, start, maxiter)`` searches for the pair; see `eigensearch`.
    start : vector, optional
        Where to search from, if not from v0.
    partner : list of arrays, optional
        The left eigenvector, if it is known: then a gradient of the value takes no solve, unless the vector is
        used too. A Hermitian operator's is the right one.
    """
    start = operator.packing.pack(operator.start) if start is None else start
    value, x, distance = unrefuted(operator, start, find, limits["maxiter"], hermitian)
    value, x = _real_if_real(operator, value, x)
    x = x / length(x)
    image = operator(x)
    value = np.vdot(x, image).real if hermitian else value
    scale = max(abs(value), length(image), tolerances.tiny(image.dtype))
    if hermitian:
        scale = max(scale, length(operator(start)) / length(start))
    report.iterations, report.residual = operator.calls, length(image - value * x) / scale
    _check_pair(operator, value, report, scale)
    w, whole = operator.tree(x), scale * operator.unit

    def equation(unknown):
        v, nu = unknown
        y = operator.apply(v)
        return tree_map(lambda y, v: y * (1 / whole) - nu * v, y, v), inner(w, v) - 1

    def guess(seeds, solution):
        """The adjoint solution for a cotangent of the value only: the left eigenvector."""
        left = solution[:-1] if hermitian else partner
        overlap = sum(np.vdot(v, u) for v, u in zip(solution[:-1], left, strict=True))
        return [*(-seeds[-1] / overlap * u for u in left), np.zeros_like(seeds[-1])]

    def again(f, solution):
        return _again(f, solution, find, limits, operator, hermitian)

    nu = like(x).asarray(value / scale, x.dtype)
    known = guess if hermitian or partner is not None else None
    v, nu = attach(equation, (w, nu), again, guess=known, options=limits, report=report)
    if value_of(nu) is nu:
        return nu * whole, v
    quarter = tolerances.quarter(x.dtype)
    by_product = max(tolerances.lost(x.dtype), report.residual / quarter)
    by_solve = max(by_product, limits["tol"] / quarter)
    by_product = by_product if known else by_solve
    first, later = (_isolated(distance / scale, least, by_solve, operator.name) for least in (by_product, by_solve))
    return guarded(nu, check=first) * whole, tree_map(lambda x: guarded(x, check=later), v)


def _isolated(distance, first, later, name):
    """The check that the next level is far enough: of derivatives of order one by `first`, of others by `later`.

    All are relative to the operator's norm.
    """

    def check(g, order):
        least = later if order > 1 else first
        if not distance > least:
            raise ArgumentError(
                f"{name}: the level is degenerate, or the next one too close for its derivative (at {distance:.3g} of "
                f"the operator's norm; {least:.3g} is needed), which is arbitrary: differentiate a function of the "
                "whole multiplet, by qad.linalg.truncated_eigh or funm_herm, or lift the degeneracy"
            )

    return check


def _real_if_real(operator, value, x):
    """Undo the complex arithmetic of ARPACK and LAPACK for a real operator."""
    if operator.packing.dtype.kind == "c" or not np.iscomplexobj(x):
        return value, x.astype(operator.packing.dtype, copy=False)
    if abs(value.imag) > tolerances.half(x.dtype) * abs(value):
        raise ArgumentError(
            f"{operator.name}: the dominant eigenvalue {value:.6g} is one of a complex pair: start from a complex v0"
        )
    turned = x * np.conj(x[np.argmax(np.abs(x))])
    return value.real, like(turned).ascontiguousarray(turned.real)


def _check_pair(operator, value, report, scale):
    if not abs(value) > 0 and scale <= tolerances.tiny(operator.packing.dtype):
        raise ArgumentError(f"{operator.name}: the eigenvalue is {value:.3g}: the operator is nilpotent or zero")
    limit = tolerances.half(operator.packing.dtype)
    if not report.residual < limit:
        raise ConvergenceError(
            f"{operator.name}: |A x - lambda x| is {report.residual:.3g} of |A x| after {operator.calls} products: "
            "the operator is not linear (over the complex numbers), or it is defective"
        )


def _again(f, solution, find, limits, old, hermitian):
    """The eigenpair of the same equation with other operands."""
    operator = copy(old)
    operator.unit = 1.0
    zero = np.zeros_like(solution[-1])
    operator.on_leaves = lambda leaves: f([*leaves, zero])[:-1]
    value, x, _ = unrefuted(operator, operator.packing.pack(solution[:-1]), find, limits["maxiter"], hermitian)
    value, x = _real_if_real(operator, value, x)
    x = x / np.vdot(operator.packing.pack(solution[:-1]), x)
    return [*operator.packing.unpack(x), like(x).asarray(value, x.dtype)]


def inner(a: Tree, b: Tree) -> Number:
    """``sum conj(a) b`` over the leaves of two pytrees."""
    pairs = zip(flatten(a)[0], flatten(b)[0], strict=True)
    return sum((x.conj() * y).sum() for x, y in pairs)


def normalised(v: Tree, v0: Tree, name: str) -> Tree:
    """`v` of unit norm, with ``<v0, v>`` positive."""
    overlap, square = inner(v0, v), inner(v, v).real
    size = np.sqrt(value_of(square) * value_of(inner(v0, v0)).real)
    if not abs(value_of(overlap)) > tolerances.lost(size.dtype) * size:
        raise ArgumentError(
            f"{name}: v0 is orthogonal to the eigenvector (overlap {abs(value_of(overlap)) / size:.3g}), so that it "
            "cannot fix its phase: start from another v0"
        )
    factor = overlap.conj() / (abs(overlap) * np.sqrt(square))
    return tree_map(lambda x: x * factor, v)
