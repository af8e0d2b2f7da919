"""Condition number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import implements, passes_through, stack_of, unrecorded
from qad.linalg.functions.norm import norm
from qad.linalg.support import tolerances
from qad.linalg.support.check import batch_entry, matrices
from qad.linalg.support.guarded import guarded

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike


def cond(x: ArrayLike, p: float | str | None = None) -> Array:
    """Condition number ``norm(x, p) * norm(inv(x), p)`` over the last two axes, with NumPy's signature.

    Parameters
    ----------
    x : array (..., m, n)
        Square unless `p` is None, 2 or -2.
    p : None, 1, -1, 2, -2, inf, -inf, "fro" or "nuc"
        Order of the norm; None is 2, the ratio of the extreme singular values.

    Returns
    -------
    real array (...)

    Raises
    ------
    ShapeError
        If `x` has fewer than two axes or no entries, or is not square where that matters.
    ArgumentError
        If an entry is not finite; in a derivative, if the matrix is singular, or so nearly that rounding would be more
        than 1e-4 of it.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(qad.linalg.cond)(np.diag([4.0, 2.0]))
    array([[ 0.5,  0. ],
           [ 0. , -1. ]])
    """
    x = matrices(x, "cond")
    if not stack_of(x).size:
        raise ShapeError(f"cond: a matrix of shape {x.shape} has no condition number")
    if stack_of(x) is x:
        return np.linalg.cond(x, p)
    if p is None or p in (2, -2):
        largest, least = norm(x, 2, (-2, -1)), norm(x, -2, (-2, -1))
        return _quotient(least, largest) if p == -2 else _quotient(largest, least)
    return norm(x, p, (-2, -1)) * norm(np.linalg.inv(x), p, (-2, -1))


implements(np.linalg.cond)(cond)


def _quotient(x, y):
    """The quotient of two extreme singular values, infinite where both are zero, as NumPy has it."""
    nothing = stack_of(unrecorded(x) == 0)
    zero, lost = unrecorded(y) == 0, stack_of(unrecorded(y) <= tolerances.lost(stack_of(y).dtype) * unrecorded(x))

    def check(g, order):
        bad = np.argwhere(lost & ((g != 0) | nothing))  # tangents of singular values vanish at the zero matrix
        if len(bad):
            raise ArgumentError(
                f"cond{batch_entry(bad[0])}: the matrix is singular, or so nearly that rounding would be more than "
                "1e-4 of the derivative of its condition number. Shift it, or keep away from such matrices"
            )

    quotient = guarded(x / np.where(zero, 1.0, y), check=check)  # here tangents arrive, cotangents behind the infinity
    return guarded(np.where(zero, np.inf, quotient), check=check)


passes_through(np.linalg.matrix_rank)
