"""Linear equations over lists of plain arrays, by GMRES and conjugate gradients.

Reference: Y. Saad and M. H. Schultz, SIAM J. Sci. Stat. Comput. 7, 856 (1986).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ConvergenceError
from qad.core.trees import flatten, unflatten
from qad.extend import as_array, like, no_grad, value_of
from qad.linalg.implicit.packing import Packing
from qad.linalg.krylov.conjugate_gradients import descent
from qad.linalg.support import tolerances
from qad.linalg.support.check import finite
from qad.linalg.support.lengths import length

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from qad.typing import Tree

    Leaves: TypeAlias = list[np.ndarray]
    Product: TypeAlias = Callable[[np.ndarray], np.ndarray]  # with a matrix


@dataclass
class Report:
    """How an iteration went.

    Attributes
    ----------
    iterations : int
        Calls of the function in the forward iteration.
    residual : float
        Of the solution, relative.
    adjoint : list of (iterations, residual)
        One entry for each linear solve of a derivative, in the order in which they ran.

    Examples
    --------
    >>> import numpy as np, qad
    >>> report = qad.linalg.Report()
    >>> x = qad.fixed_point(np.cos, np.array(1.0), method="plain", report=report)
    >>> report.iterations, report.residual < 1e-12
    (69, True)
    """

    iterations: int = 0
    residual: float = float("inf")
    adjoint: list[tuple[int, float]] = field(default_factory=list)


def plain_leaves(tree: Tree) -> tuple[Leaves, Any]:
    """Leaves of `tree` as plain arrays of float or complex numbers, and its spec."""
    leaves, spec = flatten(tree)
    arrays = [as_array(value_of(x)) for x in leaves]
    for x in arrays:
        finite(x, "an iteration starts from finite numbers")
    return [x if x.dtype.kind in "fc" else x.astype(float) for x in arrays], spec


def bare(f: Callable[[Tree], Tree], spec: Any, like: Leaves, name: str) -> Callable[[Leaves], Leaves]:
    """`f` of a pytree as a function of lists of plain arrays, which checks what comes back.

    Nothing is recorded; the answer must have the structure `spec` and the shapes of the leaves `like`.
    """

    def on_leaves(leaves):
        with no_grad():
            out, given = flatten(f(unflatten(spec, leaves)))
        if given != spec:
            raise ArgumentError(f"{name} returns the structure {given} for an argument of structure {spec}")
        out = [as_array(value_of(x)) for x in out]
        for x, y in zip(like, out, strict=True):
            if x.shape != y.shape:
                raise ArgumentError(f"{name} returns shape {y.shape} for an argument of shape {x.shape}")
            if y.dtype.kind == "c" and x.dtype.kind != "c":
                raise ArgumentError(f"{name} returns {y.dtype} for {x.dtype}: start from a complex array")
        return out

    return on_leaves


def solve(
    operator: Callable[[Leaves], Leaves],
    b: Leaves,
    start: Leaves | None = None,
    tol: float = tolerances.SOLVED,
    restart: int = 60,
    maxiter: int = 2000,
    name: str = "linear_solve",
    positive: bool = False,
    preconditioner: Callable[[Leaves], Leaves] | None = None,
) -> tuple[Leaves, int, float]:
    """Solve a linear equation over lists of plain arrays, by GMRES or, of a `positive` operator, conjugate gradients.

    Parameters
    ----------
    operator : callable
        List of arrays to list of arrays, linear over the complex or only over the real numbers; which
        one is found out by a call.
    b, start : lists of arrays

    Returns
    -------
    solution, iterations, relative residual
    """
    packing = Packing(b, real=not _is_complex_linear(operator, b))

    def on_vectors(function):
        def product(v):
            found = packing.pack(function(packing.unpack(v)))
            finite(found, f"{name}: the operator returns numbers that are not finite")
            return found

        return product

    x0, correct, method = None if start is None else packing.pack(start), correction, "GMRES"
    if positive:
        precondition = None if preconditioner is None else on_vectors(preconditioner)
        correct, method, restart = partial(descent, precondition=precondition), "the search", maxiter
    limits = tol, restart, maxiter, name, correct, method
    x, iterations, residual = corrected(on_vectors(operator), packing.pack(b), x0, *limits)
    return packing.unpack(x), iterations, residual


def _is_complex_linear(operator, b):
    if not b or not all(x.dtype.kind == "c" for x in b):
        return False
    straight, turned = operator(b), operator([1j * x for x in b])
    atol = tolerances.half(b[0].dtype) * max(np.abs(y).max(initial=0) for y in turned)
    return all(np.allclose(1j * x, y, rtol=0, atol=atol) for x, y in zip(straight, turned, strict=True))


def corrected(
    matvec: Product, b: np.ndarray, x0: np.ndarray | None, tol: float, restart: int, maxiter: int, name: str,
    correct: Callable[..., np.ndarray], method: str,
) -> tuple[np.ndarray, int, float]:  # fmt: skip
    """Solve ``matvec(x) = b`` on plain vectors by corrections for the residual, by restarted GMRES or another `method`.

    Returns
    -------
    x, number of calls of matvec, ``|b - A x| / |b|``

    Raises
    ------
    ConvergenceError
        If the residual is above `tol`, and above what rounding allows, after `maxiter` calls.
    """
    size = length(b)
    if size == 0:
        return np.zeros_like(b), 0, 0.0
    tol, calls, most = max(tol, tolerances.sums(b.dtype)), 0, b.size if correct is correction else maxiter

    def product(v):
        nonlocal calls
        calls += 1
        return matvec(v)

    b = b / size
    x = np.zeros_like(b) if x0 is None else x0 / size
    r = b if x0 is None else b - product(x)
    error, previous = length(r), np.inf
    while error > tol and calls < maxiter and error <= 0.99 * previous:
        step = correct(product, r, tol, min(restart, maxiter - calls, most))
        moved = b - product(x + step)
        previous, error = error, length(moved)
        if error < previous:
            x, r = x + step, moved
    error = min(error, previous)
    if not error < 1e3 * tol:  # what rounding leaves
        raise ConvergenceError(
            f"{name}: {method} stopped after {calls} products at a relative residual of {error:.3g} (tol={tol:.3g}): "
            "the operator is singular, not linear or badly conditioned, or needs a larger maxiter or restart"
            + "; if it is Hermitian and positive, as a Laplacian, write positive=True"
            * (method == "GMRES")
        )
    return x * size, calls, float(error)


def correction(matvec: Product, r: np.ndarray, target: float, m: int) -> np.ndarray:
    """The correction for a residual `r`, from `m` steps of GMRES, or fewer if what is left is below `target`.

    An orthonormal basis of the Krylov space, and least squares with the operator's small matrix H in it. What is left
    is ``|r| / |n|`` for the row n with ``n H = 0`` and ``n[0] = 1``.
    Reference: E. H. Ayachour, J. Comput. Appl. Math. 159, 269 (2003).
    """
    size = length(r)
    basis, small = like(r).zeros((m + 1, r.size), r.dtype), np.zeros((m + 1, m), r.dtype)
    row = np.ones(m + 1, r.dtype)
    basis[0] = r / size
    for k in range(m):
        w, known = matvec(basis[k]), basis[: k + 1]
        least = tolerances.unit(r.dtype) * length(w)
        for _ in range(2):  # once more, against rounding
            overlaps = (known @ w.conj()).conj()
            w = w - overlaps @ known
            small[: k + 1, k] += overlaps.tolist()
        rest = length(w)
        if rest <= least:  # the space is invariant
            break
        small[k + 1, k], basis[k + 1] = rest, w / rest
        row[k + 1] = -(row[: k + 1] @ small[: k + 1, k]) / rest
        if size <= target * length(row[: k + 2]):
            break
    start = np.zeros(k + 2, r.dtype)
    start[0] = size
    weights = np.linalg.lstsq(small[: k + 2, : k + 1], start, rcond=None)[0]
    return like(r).asarray(weights) @ known
