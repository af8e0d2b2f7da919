"""Local problems of sweeps whose centre may be a mixture of two close levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.linalg.krylov.lanczos import lowest, on_host

if TYPE_CHECKING:
    from qad.mps.kernels.terms import Apply

BESIDE = 24  # products, for what lies beside a centre
REFINED = 4  # times as many at most, for a level above by less than CLOSE times what mixes it in
CLOSE = 100.0
SMALL, MANY = 4096, 300  # centres that are so small are solved from scratch, by so many products


def lowest_of_two(apply: Apply, centre: np.ndarray, random: np.ndarray, tolerance: float) -> np.ndarray:
    """The lower one of two levels that a centre may be a mixture of; the lowest of all where that takes no time."""
    start = beside(centre, random)
    if np.linalg.norm(start) < 1e-8:
        return centre
    here = on_host(np.vdot(centre, apply(centre))).real
    if centre.size <= SMALL:
        value, vector, _ = lowest(apply, centre + start, tolerance, MANY)
        centre, here = (vector, value) if value < here - tolerance else (centre, here)
    start = beside(centre, random)
    gain, vector = lower_beside(lambda x: apply(x) - here * x, centre, start, tolerance)
    return vector if gain < -tolerance else centre


def unit(x: np.ndarray) -> np.ndarray:
    """A vector divided by its norm."""
    return x / np.linalg.norm(x)


def beside(centre: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The part of a vector that is orthogonal to the centre."""
    return x - np.vdot(centre, x) * centre


def lower_beside(apply: Apply, centre: np.ndarray, start: np.ndarray, tol: float) -> tuple[float, np.ndarray]:
    """The lowest level, and its vector, of a centre with what is found orthogonal to it from a start.

    A state between two close levels has the energy of neither, but so has the one orthogonal to it: only what mixes
    the two tells, as soon as the vector is as good as that.  The operator has the centre's energy taken away.
    """
    product, far = apply(centre), np.linalg.norm(apply(start)) / np.linalg.norm(start)

    def elsewhere(x):
        """The operator beside the centre, which is far up: rounding leads to it where a space is exhausted."""
        along = np.vdot(centre, x) * centre
        return beside(centre, apply(x - along)) + far * along

    for _ in range(REFINED):
        above, vector, _ = lowest(elsewhere, start, 0.0, BESIDE)
        across = on_host(np.vdot(product, vector))
        levels, weights = np.linalg.eigh(np.array([[0.0, across], [np.conj(across), above]]))
        if levels[0] < -tol or abs(across) <= tol or above > CLOSE * abs(across):
            break
        start = beside(centre, vector)
    return float(levels[0]), weights[0, 0] * centre + weights[1, 0] * vector
