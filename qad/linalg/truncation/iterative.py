"""Truncated decompositions without the full one: of large matrices, and of operators that are no matrix.

The kept space is found by block Lanczos (`block_lanczos.py`) and differentiated as the solution of an equation
(`kept_space.py`); in its orthonormal bases what remains is the decomposition of a small matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ConvergenceError, ShapeError
from qad.extend import no_grad, stack_of, value_of, vjp
from qad.linalg.decompositions.eigh import eigh
from qad.linalg.decompositions.svd import svd
from qad.linalg.factored.factors import by_size
from qad.linalg.krylov.block_lanczos import RESTARTS, triples
from qad.linalg.support.check import finite, require_hermitian
from qad.linalg.support.degeneracy import width
from qad.linalg.support.hermitian_parts import adjoint, hermitian
from qad.linalg.support.random import normal
from qad.linalg.truncation.kept_space import eigenspace, singular_spaces
from qad.linalg.truncation.truncation_rank import discarded, has_gap, orthonormal, rank_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from qad.typing import Array, ArrayLike, LinearMap

    Cut: TypeAlias = tuple[int | None, float | None, bool]  # the largest rank, the cutoff, and whether it is relative

METHODS = ("auto", "full", "iterative")
LARGE, FEW = 1024, 16  # "auto" iterates from this size on, for at most one FEW-th of the values
FEW_RESTARTS = 6  # after which "auto" decomposes the matrix


def iterated(
    of_kept: Callable[..., Any], a: LinearMap, v0: ArrayLike | None, cut: Cut, method: str, name: str, **how: str
) -> Any:
    """The truncation by `svd_of_kept` or `eigh_of_kept`; None where the matrix is to be decomposed."""
    if method not in METHODS:
        raise ArgumentError(f"{name}: method={method!r}; write one of {', '.join(METHODS)}")
    max_rank, patient = cut[0], callable(a) or method == "iterative"
    if callable(a) and (method == "full" or max_rank is None):
        raise ArgumentError(f"{name} of a function is iterative, and needs max_rank")
    if patient and not callable(a) and (a.ndim != 2 or max_rank is None):
        raise ArgumentError(f'{name}: method="iterative" needs max_rank and one matrix, not shape {a.shape}')
    if not patient and (max_rank is None or method == "full" or stack_of(a).ndim > 2):
        return None
    if not patient and not LARGE <= min(a.shape[-2:]) >= FEW * max_rank:
        return None
    try:
        return of_kept(a, v0, cut, patient=patient, **how)
    except ConvergenceError:
        if patient:
            raise
        return None


def svd_of_kept(
    a: LinearMap, v0: ArrayLike | None, cut: Cut, *, multiplets: str, degenerate: str, patient: bool
) -> tuple[Array, Array, Array, Array | None]:
    """`truncated_svd`, iteratively."""
    operator = _Columns(a, v0, "truncated_svd", patient)
    u, s, vh = operator.triples(cut[0])
    k = _rank(s, cut, multiplets, operator)
    found, u, s, v = s, u[:, :k], s[:k], adjoint(vh[:k])
    if callable(a):
        operator.transpose.prepare(k)
    left, right = singular_spaces(operator.apply, operator.transpose, u, s, v)
    if value_of(left) is not left:
        left, right = orthonormal(left), orthonormal(right)
        u, s, vh = svd(adjoint(left) @ operator.apply(right), degenerate=degenerate)
        u, v = left @ u, right @ adjoint(vh)
    return u, s, adjoint(v), None if callable(a) else discarded(a - (u * s) @ adjoint(v), found, k)


def eigh_of_kept(
    a: LinearMap, v0: ArrayLike | None, cut: Cut, *, multiplets: str, degenerate: str, patient: bool
) -> tuple[Array, Array, Array | None]:
    """`truncated_eigh`, iteratively."""
    if not callable(a):
        require_hermitian(value_of(a), "truncated_eigh")
        a = hermitian(a)
    operator = _Columns(a, v0, "truncated_eigh", patient)
    operator.transpose = operator.apply
    _, s, vh = operator.triples(cut[0])
    k = _rank(s, cut, multiplets, operator)
    v = adjoint(vh[:k])
    core = adjoint(v) @ operator.plain(operator.apply)(v)
    require_hermitian(core, "truncated_eigh, between the vectors that it keeps")
    w, turn = by_size(*np.linalg.eigh(hermitian(core)))
    v = v @ turn
    basis = eigenspace(operator.apply, w, v)
    if value_of(basis) is not basis:
        basis = orthonormal(basis)
        w, turn = by_size(*eigh(hermitian(adjoint(basis) @ operator.apply(basis)), degenerate=degenerate))
        v = basis @ turn
    return w, v, None if callable(a) else discarded(a - (v * w) @ adjoint(v), s, k)


class _Columns:
    """A matrix, or a function of columns (n, b) -> (m, b), and its adjoint."""

    def __init__(self, a, v0, name, patient):
        self.name, self.patient = name, patient
        bare = None if callable(a) else value_of(a)
        rng, is_free = np.random.default_rng(1), v0 is None and bare is not None
        self.start = normal(rng, bare.shape[1], bare.dtype) if is_free else _start(v0, name)
        if bare is None:
            self.start = self.start.astype(np.result_type(self.start, self.plain(a)(self.start[:, None])))
            self.apply, self.transpose = a, _Adjoint(a, self.start)
        else:
            self.start, ah = self.start.astype(np.result_type(self.start, bare)), adjoint(a)
            self.apply, self.transpose = (lambda v: a @ v), (lambda u: ah @ u)

    def triples(self, k):
        """The `k` leading singular triples, and the next values, on plain arrays."""
        restarts = RESTARTS if self.patient else FEW_RESTARTS
        back = _Adjoint(self.apply, self.start) if isinstance(self.transpose, _Adjoint) else self.transpose
        return triples(self.plain(self.apply), self.plain(back), self.start, k, self.name, restarts)

    def plain(self, f):
        """`f` of plain arrays, not recorded, whose result is checked."""

        def on_columns(x):
            with no_grad():
                y = np.asarray(value_of(f(x)))
            if y.ndim != 2 or y.shape[1] != x.shape[1]:
                raise ShapeError(f"{self.name}: the function returns shape {y.shape} for columns of shape {x.shape}")
            finite(y, f"{self.name}, in the result of the function")
            return y

        return on_columns


class _Adjoint:
    """The adjoint of a function of columns, by its vjp, which is recorded once for each number of columns."""

    def __init__(self, apply, start):
        self.apply, self.start, self.pullbacks = apply, start, {}

    def prepare(self, b):
        """Record the function of `b` columns."""
        if b not in self.pullbacks:
            _, self.pullbacks[b] = vjp(self.apply, np.repeat(self.start[:, None], b, axis=1))

    def __call__(self, u):
        self.prepare(u.shape[1])
        return self.pullbacks[u.shape[1]](u)[0]


def _start(v0, name):
    if v0 is None:
        raise ArgumentError(
            f"{name} of a function needs v0, a vector (n,): where to start, and of which length and dtype"
        )
    v0 = np.asarray(value_of(v0))
    if v0.ndim != 1 or not np.linalg.norm(v0) > 0:
        raise ArgumentError(f"{name}: v0 is one vector that is not zero, not an array of shape {v0.shape}")
    return v0 if v0.dtype.kind in "fc" else v0.astype(float)


def _rank(s, cut, multiplets, operator):
    """How many to keep; a derivative asks for a gap behind them, and for values that are not zero."""
    policy = multiplets if operator.patient or multiplets != "warn" else "cut"
    k = rank_of(s, *cut, policy, operator.start.size, level=5)
    if s[k - 1] <= width(s) or not (k == s.size or has_gap(s, k)):
        what = "zero" if s[k - 1] <= width(s) else f"degenerate with the next, {s[k]:.6g}"
        raise (ArgumentError if operator.patient else ConvergenceError)(
            f"{operator.name}: value number {k - 1}, {s[k - 1]:.6g}, is {what} to rounding, which an iterative "
            'truncation does not keep: lower max_rank, give a cutoff, or write multiplets="drop"'
        )
    return k
