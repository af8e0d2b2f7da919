"""Inverse ``Y = A^-1``: ``G_A = -Y^H G Y^H`` (Giles 2008, section 2.2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import core, implements, primitive, rule
from qad.linalg.support.check import solvable, square

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike


def inv(a: ArrayLike) -> Array:
    """Inverse of square matrices. Where it multiplies something, `solve` is cheaper and more accurate.

    Parameters
    ----------
    a : array (..., n, n)

    Returns
    -------
    array (..., n, n)

    Raises
    ------
    ShapeError
        If the matrices are not square.
    ArgumentError
        If an entry is not finite.
    LinAlgError
        If a matrix is singular; with its smallest singular value.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: np.trace(qad.linalg.inv(a)))(np.diag([1.0, 2.0])).round(6)
    array([[-1.  , -0.  ],
           [-0.  , -0.25]])
    """
    return _inv(square(a, "inv"))


implements(np.linalg.inv)(inv)


@primitive(name="inv")
def _inv(a):
    return solvable(np.linalg.inv, "inv", a)


def _inv_vjp(g, ans, a):
    y = ans.mT
    return -(y @ g @ y)


rule(_inv, _inv_vjp, forward=lambda t, ans, a: -(ans @ t @ ans), batch=core(2), fresh=True)
