"""Leading singular vectors of a pair of sites that changed a little, by the bond that it had: a wall of speed.

A bond of largest dimension is cut in every step, and a singular value decomposition of the pair M finds twice as many
vectors as are kept.  The rows V of the old isometry of one of its sites span nearly what is to be kept: with Q a basis
of ``M V^H`` and ``C = Q^H M``, ``M ~ Q C``; where much is lost, once more with the rows of C in place of V.  What is
lost, ``|M - Q C|^2``, is known exactly, whatever Q is; it is a few percent more than the least loss.  Where V lacks a
direction altogether (its charge is new), a vector outside Q has more weight than one within: that is noticed, and the
decomposition made.  J. Unfried, J. Hauschild and F. Pollmann, PRB 107, 155133 (2023).
"""

from __future__ import annotations

import numpy as np

SMALLEST = 16  # bond below which a decomposition takes no longer
FAINT = 1e-10  # relative weight that is lost, below which a difference has lost too many digits of it
LOOSE = 2.0  # loss, over the weight of the least vector that is kept, above which the guess is improved
ROUNDS = 3  # of the power method for the largest vector that is lost


def leading(matrix: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``Q, C`` with ``Q C`` near the best approximation of the matrix of that rank, and the columns that Q spans."""
    columns = matrix @ known.conj().T
    q = np.linalg.qr(columns[:, leading_first(columns)])[0]  # the least come last: they tell what C holds
    return q, q.conj().T @ matrix, columns


def leading_first(columns: np.ndarray) -> np.ndarray:
    """The order of columns by their norm."""
    return np.argsort(-weights(columns))


def loose(matrix: np.ndarray, c: np.ndarray) -> bool:
    """Whether so much is lost, beside what the least vector of C holds, that Q may be far from the best."""
    return bool(np.vdot(matrix, matrix).real - np.vdot(c, c).real > LOOSE * weights(c.T).min())


def lost(matrix: np.ndarray, q: np.ndarray, c: np.ndarray, cutoff: float) -> float | None:
    """The relative weight of ``M - Q C``; None where a decomposition would lose or keep less.

    That is so where a vector outside of Q has more weight than one within it, or the loss is at the cutoff.
    """
    whole, within = np.vdot(matrix, matrix).real, weights(c.T).min()
    share = float(1 - np.vdot(c, c).real / whole)
    if share <= max(cutoff, FAINT) or (share * whole > within and largest_outside(matrix, q, c) > within):
        return None
    return share


def largest_outside(matrix: np.ndarray, q: np.ndarray, c: np.ndarray) -> float:
    """The largest squared singular value of ``M - Q C``, by the power method; a little less, never more."""
    x, size = np.eye(1, matrix.shape[1], (weights(matrix) - weights(c)).argmax())[0], 0.0
    for _ in range(ROUNDS):
        x = ((matrix @ x - q @ (c @ x)).conj() @ matrix).conj()
        size = np.linalg.norm(x)
        x = x / size
    return float(size)


def weights(columns: np.ndarray) -> np.ndarray:
    """Squared norms of columns."""
    return (columns.real**2 + columns.imag**2).sum(axis=0)
