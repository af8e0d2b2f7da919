"""Least squares ``min |A x - b|``, through the Moore-Penrose inverse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import BatchError, ShapeError
from qad.extend import implements, like, operand, stack_of, value_of
from qad.linalg.decompositions.svd import svdvals
from qad.linalg.equations.pinv import pinv
from qad.linalg.support import tolerances
from qad.linalg.support.check import matrices, rows_fit

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike


def lstsq(a: ArrayLike, b: ArrayLike, rcond: float | None = None) -> tuple[Array, Array, int, Array]:
    """Least-squares solution of ``a @ x = b``, with NumPy's signature.

    Parameters
    ----------
    a : array (m, n)
    b : array (m,) or (m, k)
    rcond : float, optional
        Singular values below this multiple of the largest count as zero.

    Returns
    -------
    x : array (n,) or (n, k), the solution of least norm
    residuals : array (k,), sums of squared residuals; empty unless m > n = rank
    rank : int, without derivative
    s : array (min(m, n),), singular values

    Raises
    ------
    ShapeError
        If `a` is not one matrix, or `b` has not as many rows.
    ArgumentError
        If an entry is not finite.

    Examples
    --------
    >>> import numpy as np, qad
    >>> a = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> qad.grad(lambda b: qad.linalg.lstsq(a, b)[0][1])(np.array([1.0, 2.0, 4.0])).round(6) + 0.0
    array([-0.5,  0. ,  0.5])
    """
    a, b = matrices(a, "lstsq"), operand(b)
    rows_fit(value_of(a), value_of(b), "lstsq")
    if a.ndim > 2 or b.ndim > 2:
        raise ShapeError(f"lstsq takes one matrix and one right-hand side, not shapes {a.shape} and {b.shape}")
    if stack_of(a) is a and stack_of(b) is b:
        return np.linalg.lstsq(a, b, rcond)
    m, n = a.shape
    cut = tolerances.unit(stack_of(a).dtype) * max(m, n) if rcond is None else rcond
    x, s = pinv(a, rtol=cut) @ b, svdvals(a)
    values = stack_of(s)
    ranks = np.sum(values > cut * values[..., :1], axis=-1)
    rank = int(ranks.max())
    if rank > ranks.min():
        raise BatchError("lstsq: the ranks of the examples of a batch differ: write qad.linalg.pinv(a) @ b")
    if not m > n == rank:
        return x, like(values).zeros(0, values.dtype), rank, s
    apart = (b - a @ x).reshape(m, -1)
    return x, np.sum((apart * apart.conj()).real, axis=0), rank, s


implements(np.linalg.lstsq)(lstsq)
