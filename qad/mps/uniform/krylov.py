"""Krylov methods of searches on infinite chains, to residuals: lowest vectors, and linear equations.

The effective operators of a critical chain take a hundred products where those of a finite one take five.  What the
small projected matrices cost would then be most of it, so that they are looked at after every few products only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from qad.core.errors import ConvergenceError
from qad.linalg.krylov.lanczos import Krylov

if TYPE_CHECKING:
    from qad.mps.kernels.terms import Apply

LOOK = 5  # products between two looks at the projected matrix
RESTART = 60  # vectors that GMRES keeps


def lowest_vector(apply: Apply, start: np.ndarray, tol: float, most: int) -> np.ndarray:
    """A Ritz vector of least eigenvalue, of norm 1 and with a positive overlap with `start`.

    It stops where the residual is below `tol`, or after `most` products.
    """
    space = Krylov(start, most)
    while True:
        for _ in range(LOOK):
            space.extend(apply)
            if space.full:
                break
        _, vectors = scipy.linalg.eigh_tridiagonal(
            space.diagonal, space.beside[:-1], select="i", select_range=(0, 0), check_finite=False
        )
        weights = vectors[:, 0]
        if space.full or space.next_norm * abs(weights[-1]) <= tol:
            found = space.combine(weights if weights[0] > 0 else -weights)
            return found / np.linalg.norm(found)


def solution(apply: Apply, b: np.ndarray, start: np.ndarray, tol: float, most: int) -> np.ndarray:
    """The solution of a linear equation by restarted GMRES, to a residual of norm `tol` or what rounding allows.

    Y. Saad and M. H. Schultz, SIAM J. Sci. Stat. Comput. 7, 856 (1986).

    Raises
    ------
    ConvergenceError
        If it is not reached within `most` products.
    """
    tol = max(tol, 1e-15 * np.linalg.norm(b))
    x, products = start, 1
    r = b - apply(x)
    while (left := np.linalg.norm(r)) > tol:
        step, used = cycle(apply, r, tol)
        new = b - apply(x + step)
        products += used + 1
        if np.linalg.norm(new) > 0.9 * left or products > most:
            if np.linalg.norm(new) < 1e3 * tol:
                return x + step
            raise ConvergenceError(
                f"the environment of the infinite chain was not found: a residual of {left:.1e} is left after "
                f"{products} products; the state is a sum of several ones or close to that"
            )
        x, r = x + step, new
    return x


def cycle(apply: Apply, r: np.ndarray, tol: float) -> tuple[np.ndarray, int]:
    """What GMRES adds for a residual `r`, from an orthonormal basis of the Krylov space; and how many products."""
    size, most = np.linalg.norm(r), min(RESTART, r.size)
    basis, projected = np.empty((most + 1, r.size), r.dtype), np.zeros((most + 1, most), r.dtype)
    basis[0] = r / size
    for k in range(most):
        w, known = apply(basis[k]), basis[: k + 1]
        for _ in range(2):  # once more, against rounding
            overlaps = (known @ w.conj()).conj()
            w = w - overlaps @ known
            projected[: k + 1, k] += overlaps
        projected[k + 1, k] = norm = np.linalg.norm(w)
        full = k + 1 == most or norm <= 1e-14 * size
        if full or (k + 1) % LOOK == 0:
            q, triangle = np.linalg.qr(projected[: k + 2, : k + 1], mode="complete")
            target = size * q[0].conj()
            if full or abs(target[-1]) <= 0.5 * tol:
                break
        basis[k + 1] = w / norm
    return scipy.linalg.solve_triangular(triangle[:-1], target[:-1]) @ known, k + 1
