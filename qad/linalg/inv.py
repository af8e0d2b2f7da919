"""Inverse ``Y = A^-1``: ``G_A = -Y^H G Y^H`` (Giles 2008, section 2.2.3)."""

import numpy as np

from qad.extend import defjvp, defvjp


def inv(a):
    """Inverse (..., n, n) of `a` (..., n, n). Where it multiplies something, `solve` is cheaper and more accurate.

    Raises
    ------
    LinAlgError
        If a matrix is singular.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: np.trace(qad.linalg.inv(a)))(np.diag([1.0, 2.0])).round(6)
    array([[-1.  , -0.  ],
           [-0.  , -0.25]])
    """
    return np.linalg.inv(a)


def _inv_vjp(g, ans, a):
    y = ans.mT
    return -(y @ g @ y)


defvjp(np.linalg.inv, _inv_vjp, fresh=True)
defjvp(np.linalg.inv, lambda t, ans, a: -(ans @ t @ ans))
