"""Triangular systems ``A x = b``: ``G_b = A^-H G``, ``G_A`` the triangle of ``-G_b x^H`` (Giles 2008)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.linalg when it is first used

from qad.core.errors import ArgumentError
from qad.extend import core, like, operand, primitive, rule, unbroadcast, value_of
from qad.linalg.support.check import rows_fit, square

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike


def solve_triangular(
    a: ArrayLike, b: ArrayLike, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False
) -> Array:
    """Solution x of ``a @ x = b`` with triangular `a`; SciPy's arguments, in batches.

    Parameters
    ----------
    a : array (..., n, n)
        Only one triangle is read, and only that has a gradient.
    b : array (n,) or (..., n, k)
        One-dimensional `b` is a vector.
    trans : 0, 1 or 2, or "N", "T", "C"
        Solve with `a`, its transpose or its adjoint.
    lower, unit_diagonal : bool
        Which triangle, and whether its diagonal is taken as ones.

    Returns
    -------
    array (..., n) or (..., n, k)

    Raises
    ------
    ShapeError
        If the matrices are not square, or `b` does not fit.
    ArgumentError
        If an entry is not finite, or `trans` is something else.
    LinAlgError
        If a diagonal entry is zero.

    Examples
    --------
    >>> import numpy as np, qad
    >>> a = np.array([[2.0, 1.0], [0.0, 4.0]])
    >>> qad.grad(lambda b: qad.linalg.solve_triangular(a, b).sum())(np.ones(2))
    array([0.5  , 0.125])
    """
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ArgumentError(f"solve_triangular: trans={trans!r}; write 0, 1 or 2, or 'N', 'T' or 'C'")
    a, b = square(a, "solve_triangular"), operand(b)
    rows_fit(value_of(a), value_of(b), "solve_triangular")
    if unit_diagonal:
        a = (np.tril(a, -1) if lower else np.triu(a, 1)) + like(a).eye(a.shape[-1])
    else:
        a = _triangle(a, lower)
    if trans in (1, "T", 2, "C"):
        a, lower = (a.conj().mT if trans in (2, "C") else a.mT), not lower
    return _solution(a, b[..., None], lower=lower)[..., 0] if b.ndim == 1 else _solution(a, b, lower=lower)


@primitive(name="solve_triangular")
def _solution(r, b, *, lower):
    if r.ndim == b.ndim == 2 and type(r) is np.ndarray and b.size:  # SciPy before 1.14 takes no empty matrices
        return scipy.linalg.solve_triangular(r, b, lower=lower, check_finite=False)
    return np.linalg.solve(r, b)


def solve_upper(r: Array, b: Array) -> Array:
    """``r^-1 b`` for upper triangular `r` (..., n, n), `b` (..., n, k); what is below the diagonal must be zero."""
    return _solution(r, b, lower=False)


def solve_lower(r: Array, b: Array) -> Array:
    """``r^-1 b`` for lower triangular `r`."""
    return _solution(r, b, lower=True)


def _triangle(x, lower):
    return np.tril(x) if lower else np.triu(x)


def _solution_vjp(needed, g, x, r, b, *, lower):
    gb = _solution(r.mT, g, lower=not lower)
    moved = (lambda: _triangle(-(gb @ x.mT), lower)), (lambda: gb)
    return [unbroadcast(moved[i](), (r, b)[i].shape) for i in needed]


rule(
    _solution,
    shared=_solution_vjp,
    forward=(
        lambda t, x, r, b, *, lower: -_solution(r, _triangle(t, lower) @ x, lower=lower),
        lambda t, x, r, b, *, lower: _solution(r, t, lower=lower),
    ),
    batch=core(2, 2),
)
