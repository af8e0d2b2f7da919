"""Linear equations between tensors: `solve` and `inv` of matrices with grouped axes."""

from math import prod

import numpy as np

from qad.core.errors import ShapeError
from qad.extend import implements, value_of


def tensorinv(a, ind=2):
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

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: qad.linalg.tensorinv(a, ind=1).sum())(2.0 * np.eye(2))
    array([[-0.25, -0.25],
           [-0.25, -0.25]])
    """
    if value_of(a) is a:
        return np.linalg.tensorinv(a, ind)
    n = prod(a.shape[:ind])
    if ind < 1 or n * n != a.size:
        raise ShapeError(f"tensorinv: axes of shape {a.shape} split at ind={ind} make no square matrix")
    return np.linalg.inv(a.reshape(n, n)).reshape(a.shape[ind:] + a.shape[:ind])


def tensorsolve(a, b, axes=None):
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

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda b: qad.linalg.tensorsolve(2.0 * np.eye(2), b).sum())(np.ones(2))
    array([0.5, 0.5])
    """
    if value_of(a) is a and value_of(b) is b:
        return np.linalg.tensorsolve(a, b, axes)
    if axes is not None:
        a = a.transpose(*[i for i in range(a.ndim) if i not in axes], *axes)
    rest = a.shape[b.ndim :]
    if prod(rest) != b.size:
        raise ShapeError(f"tensorsolve: a of shape {a.shape} is no square matrix from {rest} to b of shape {b.shape}")
    return np.linalg.solve(a.reshape(b.size, b.size), b.reshape(b.size)).reshape(rest)


implements(np.linalg.tensorinv)(tensorinv)
implements(np.linalg.tensorsolve)(tensorsolve)
