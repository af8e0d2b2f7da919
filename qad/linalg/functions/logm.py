"""Matrix logarithm; its derivative is the corner of the logarithm of a block matrix (see ``block_matrix.py``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.linalg when it is first used

from qad.core.errors import ArgumentError
from qad.extend import defbatch, defjvp, defvjp, primitive, stack_of, stacks
from qad.linalg.functions.block_matrix import each, frechet
from qad.linalg.functions.sqrtm import off_the_cut
from qad.linalg.support.check import square

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike


def logm(a: ArrayLike) -> Array:
    """Principal logarithm of square matrices.

    For Hermitian positive matrices ``funm_herm(np.log, a)`` is faster, and returns a Hermitian matrix.

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
        If an entry is not finite, or an eigenvalue is zero or lies on the negative axis, where the logarithm has a cut;
        in a second derivative, if the sizes of eigenvalues are so far apart that it overflows.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: np.trace(qad.linalg.logm(a)))(np.diag([4.0, 1.0])).round(6)
    array([[0.25, 0.  ],
           [0.  , 1.  ]])
    """
    a = square(a, "logm")
    off_the_cut(stack_of(a), "logm")
    return _log(a)


@primitive(name="logm")
def _log(a):
    return each(_logarithm, a)


def _logarithm(a):
    """SciPy's, which overflows in the block matrices of derivatives where eigenvalues are small, and says nothing."""
    try:
        with np.errstate(all="ignore"):
            log = scipy.linalg.logm(a)
    except ValueError:
        log = np.full_like(a, np.nan)
    if not np.isfinite(log).all():
        size = np.abs(np.linalg.eigvals(a))
        raise ArgumentError(
            f"logm: the eigenvalues, of sizes from {size.min():.3g} to {size.max():.3g}, are too far apart for this "
            "derivative, whose block matrix SciPy takes no logarithm of. Of Hermitian matrices use "
            "qad.linalg.funm_herm(np.log, A), or shift the matrix"
        )
    return log


defvjp(_log, lambda g, ans, a: frechet(_log, a, g.mT).mT)
defjvp(_log, lambda t, ans, a: frechet(_log, a, t))
defbatch(_log, stacks(_log, 2))
