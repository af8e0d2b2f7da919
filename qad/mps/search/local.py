"""Local problems of sweeps whose centre may be a mixture of two close levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.linalg.krylov.lanczos import lowest, on_host

if TYPE_CHECKING:
    from qad.mps.kernels.terms import Apply

SMALL, MANY = 4096, 300  # centres that are so small are solved from scratch, by so many products
BESIDE = 96  # products, for what lies beside others


def lowest_of_two(apply: Apply, centre: np.ndarray, random: np.ndarray, tolerance: float) -> np.ndarray:
    """The lower one of two levels that a centre may be a mixture of; the lowest of all where that takes no time.

    A state between two close levels has the energy of neither, but so has the one orthogonal to it: only what mixes
    the two tells.
    """
    start = beside(centre, random)
    if np.linalg.norm(start) < 1e-8:
        return centre
    product = apply(centre)
    here = on_host(np.vdot(centre, product)).real
    if centre.size <= SMALL:
        value, vector, _ = lowest(apply, centre + start, tolerance, MANY)
        if value < here - tolerance:
            return vector
    far = np.linalg.norm(apply(start) - here * start) / np.linalg.norm(start)

    def elsewhere(x):
        """The operator beside the centre, which is far up: rounding leads to it where a space is exhausted."""
        along = np.vdot(centre, x) * centre
        return beside(centre, apply(x - along) - here * x) + far * along

    above, vector, _ = lowest(elsewhere, start, tolerance, BESIDE)
    across = on_host(np.vdot(product, vector))
    levels, weights = np.linalg.eigh(np.array([[0.0, across], [np.conj(across), above]]))
    return weights[0, 0] * centre + weights[1, 0] * vector if levels[0] < -tolerance else centre


def beside(centre: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The part of a vector that is orthogonal to the centre."""
    return x - np.vdot(centre, x) * centre
