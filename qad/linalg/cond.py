"""Condition number and rank."""

import numpy as np

from qad.extend import implements, passes_through, value_of
from qad.linalg.norm import norm


def cond(x, p=None):
    """Condition number ``norm(x, p) * norm(inv(x), p)`` over the last two axes, with NumPy's signature.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(qad.linalg.cond)(np.diag([4.0, 2.0]))
    array([[ 0.5,  0. ],
           [ 0. , -1. ]])
    """
    if value_of(x) is x:
        return np.linalg.cond(x, p)
    if p is None or p in (2, -2):
        ratio = norm(x, 2, (-2, -1)) / norm(x, -2, (-2, -1))
        return 1 / ratio if p == -2 else ratio
    return norm(x, p, (-2, -1)) * norm(np.linalg.inv(x), p, (-2, -1))


implements(np.linalg.cond)(cond)
passes_through(np.linalg.matrix_rank)


def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """Number of singular values above a tolerance, exactly `numpy.linalg.matrix_rank`; it has no derivative.

    Examples
    --------
    >>> import numpy as np, qad
    >>> int(qad.linalg.matrix_rank(np.ones((2, 2))))
    1
    """
    return np.linalg.matrix_rank(A, tol, hermitian, **({} if rtol is None else {"rtol": rtol}))
