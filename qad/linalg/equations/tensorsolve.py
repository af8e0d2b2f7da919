"""Linear equations between tensors: `solve` and `inv` of matrices with grouped axes."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ShapeError
from qad.extend import implements, operand
from qad.linalg.equations.inv import inv
from qad.linalg.equations.solve import solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array, ArrayLike


def tensorinv(a: ArrayLike, ind: int = 2) -> Array:
    """Inverse of `a` for `tensordot`, as `numpy.linalg.tensorinv`.

    Parameters
    ----------
    a : array
        ``prod(a.shape[:ind]) == prod(a.shape[ind:])``.
    ind : int
        How many leading axes are those of the inverse's sum.

    Returns
    -------
    array of shape ``a.shape[ind:] + a.shape[:ind]``

    Raises
    ------
    ShapeError
        If the two groups of axes are not of equal size.
    LinAlgError
        If the matrix that they make is singular.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: qad.linalg.tensorinv(a, ind=1).sum())(2.0 * np.eye(2))
    array([[-0.25, -0.25],
           [-0.25, -0.25]])
    """
    a = operand(a)
    n = prod(a.shape[:ind])
    if ind < 1 or n * n != a.size:
        raise ShapeError(f"tensorinv: axes of shape {a.shape} split at ind={ind} make no square matrix")
    return inv(a.reshape(n, n)).reshape(a.shape[ind:] + a.shape[:ind])


def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """Solution x of ``tensordot(a, x, x.ndim) == b``, as `numpy.linalg.tensorsolve`.

    Parameters
    ----------
    a : array of shape ``b.shape + Q``
    b : array
    axes : tuple of int, optional
        Axes of `a` to move to its end first.

    Returns
    -------
    array of shape Q

    Raises
    ------
    ShapeError
        If `a` makes no square matrix between Q and the shape of `b`.
    LinAlgError
        If that matrix is singular.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda b: qad.linalg.tensorsolve(2.0 * np.eye(2), b).sum())(np.ones(2))
    array([0.5, 0.5])
    """
    a, b = operand(a), operand(b)
    if axes is not None:
        a = a.transpose(*[i for i in range(a.ndim) if i not in axes], *axes)
    rest = a.shape[b.ndim :]
    if prod(rest) != b.size:
        raise ShapeError(f"tensorsolve: a of shape {a.shape} is no square matrix from {rest} to b of shape {b.shape}")
    return solve(a.reshape(b.size, b.size), b.reshape(b.size)).reshape(rest)


implements(np.linalg.tensorinv)(tensorinv)
implements(np.linalg.tensorsolve)(tensorsolve)
