"""Division by triangular factors: the condition at which rules of QR and LU lose digits, or refuse.

A rule multiplies sums of terms by ``R^-1``.  Their rounding is `eps` of the terms, hence that of the derivative `eps`
times ``|terms| |R^-1|``, which is much more than `eps` of the derivative where the terms cancel: this *growth* is 1
where they do not, and up to the condition number of R where they do.  Each further derivative divides once more by R,
so that it multiplies by the condition number once more.  Where ``SPARE * eps * growth * condition**(order - 1)`` is
above ``eps**(1/4)``, which is 1e-4 in double precision, the derivative of that order is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.linalg when it is first used

from qad.core.errors import ArgumentError
from qad.linalg.support.degeneracy import max_of
from qad.linalg.support.gap_quotients import SPARE

if TYPE_CHECKING:
    from collections.abc import Callable


def check_growth(
    r: np.ndarray, part: int, order: int, owner: str, sizes: Callable[[np.ndarray], tuple] | None = None
) -> None:
    """Raise where rounding is too much of a derivative of this `order` for which a part of R is inverted.

    Parameters
    ----------
    r : array (..., k, n)
        Upper triangular factors of plain numbers. Rules refuse singular ones themselves.
    part : int
        The size of the leading block of R that is inverted.
    order : int
    owner : str
        Who asks, for the message.
    sizes : function of ``|R^-1|``, optional
        It returns the largest term, the bound of what R's inverse makes of the terms, and the largest entry of the
        result, of each matrix.  Without it, in forward mode, terms are taken to be those of all of R, and of order 2
        and above any there can be.
    """
    if part <= 0 or not r.size:
        return
    largest, eps = np.abs(r).max(axis=(-2, -1)), np.finfo(r.dtype).eps
    most = eps**-0.75 / SPARE  # of growth * condition**(order - 1)
    if _estimated(r, part, largest) ** order <= most:
        return
    if (np.diagonal(r[..., :part, :part], axis1=-2, axis2=-1) == 0).any():
        return
    inverse = np.abs(np.linalg.inv(r[..., :part, :part]))
    condition = np.maximum(inverse.max(axis=(-2, -1)) * largest, 1.0)
    if (condition**order <= most).all():  # the growth is no more than the condition
        return
    if sizes is None:
        growth = (inverse @ np.abs(r[..., :part, :])).max(axis=(-2, -1)) if order == 1 else condition
    else:
        terms, bound, found = sizes(inverse)
        growth = bound / max_of(found, terms / largest, np.finfo(r.dtype).tiny)
    lost = np.maximum(growth, 1.0) * condition ** (order - 1) > most
    if lost.any():
        raise ArgumentError(
            f"{owner}: the first {part} columns depend on each other so nearly (the condition number is "
            f"{condition[lost].max():.1e}) that rounding would be more than {eps**0.25:.0e} of a derivative of order "
            f"{order} of the factors. Write the loss without them, by the matrix itself, or use qad.linalg.svd"
        )


def _estimated(r, part, largest):
    """Ten times LAPACK's estimate of the condition of a plain matrix, which takes no inverse; infinity without one.

    Old SciPy (1.14) does not have it.
    """
    name = {"f": "strcon", "d": "dtrcon", "F": "ctrcon", "D": "ztrcon"}.get(r.dtype.char, "")
    estimate = getattr(scipy.linalg.lapack, name, None)
    if estimate is None or type(r) is not np.ndarray or r.ndim > 2:
        return np.inf
    block, share = r, 1.0
    if r.shape != (part, part):
        block = np.ascontiguousarray(r[:part, :part])
        share = max(largest / max(np.abs(block).max(), np.finfo(r.dtype).tiny), 1.0)
    reciprocal = estimate(block.T, uplo="L")[0]  # the transpose of an array in C order needs no copy
    return 10 * share / reciprocal if reciprocal > 0.0 else np.inf


def top(x: np.ndarray) -> np.ndarray:
    """The largest entry of each matrix."""
    return np.abs(x).max(axis=(-2, -1), initial=0.0)
