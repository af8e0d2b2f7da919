"""Matrix logarithm; its derivative is the corner of the logarithm of a block matrix (see ``frechet.py``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.linalg when it is first used

from qad.core.errors import ArgumentError
from qad.extend import core, primitive, rule, stack_of
from qad.linalg.functions.frechet import corner, each
from qad.linalg.functions.sqrtm import off_the_cut
from qad.linalg.support.check import square

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike

NEAR, MOST_ROOTS = 0.25, 100  # norm of what is near to 1; roots of numbers of any size
NODES, WEIGHTS = (np.polynomial.legendre.leggauss(8)[0] + 1) / 2, np.polynomial.legendre.leggauss(8)[1] / 2


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
    return each(_logarithm, a) if a.size else a


def _logarithm(a):
    """The logarithm of one matrix; raises where it overflows, as in the block matrices of derivatives it may."""
    try:
        with np.errstate(all="ignore"):
            factor, basis = scipy.linalg.schur(a, output="complex")
            log = basis @ _of_triangular(factor) @ basis.conj().T
    except (ValueError, np.linalg.LinAlgError):
        log = np.full_like(a, np.nan)
    log = log if a.dtype.kind == "c" else log.real
    if not np.isfinite(log).all():
        size = np.abs(np.linalg.eigvals(a))
        raise ArgumentError(
            f"logm: the eigenvalues, of sizes from {size.min():.3g} to {size.max():.3g}, are too far apart for this "
            "derivative, whose block matrix has no logarithm in floating point. Of Hermitian matrices use "
            "qad.linalg.funm_herm(np.log, A), or shift the matrix"
        )
    return log


def _of_triangular(factor):
    """Roots until it is near 1, a Padé approximant by Gauss' rule, and back (Higham, "Functions of Matrices", 11.5).

    Unlike SciPy's it estimates no norm by draws from NumPy's global generator.
    """
    one, logs, root, halvings = np.eye(len(factor)), np.log(factor.diagonal()), factor, 0
    while np.linalg.norm(root - one, 1) > NEAR:
        root, halvings = _root(root), halvings + 1
        if halvings > MOST_ROOTS:
            raise ValueError
    small = root - one
    np.fill_diagonal(small, np.expm1(logs / 2**halvings))  # without what cancels in the difference
    found = sum(w * scipy.linalg.solve_triangular(one + x * small, small) for x, w in zip(NODES, WEIGHTS, strict=True))
    found *= 2**halvings
    np.fill_diagonal(found, logs)
    return found


def _root(t):
    """The principal root of an upper triangle, by halves: ``R11 X + X R22 = T12`` gives the corner X of R."""
    if len(t) == 1:
        return np.sqrt(t)
    half, out = len(t) // 2, np.zeros_like(t)
    out[:half, :half], out[half:, half:] = one, two = _root(t[:half, :half]), _root(t[half:, half:])
    solve = scipy.linalg.get_lapack_funcs("trsyl", (t,))
    corner, scale, _ = solve(one, two, t[:half, half:])
    out[:half, half:] = corner / scale
    return out


rule(_log, lambda g, ans, a: corner(_log, a, g.mT).mT, forward=lambda t, ans, a: corner(_log, a, t), batch=core(2))
