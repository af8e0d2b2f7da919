"""Points of Gauss and Lobatto, and how many of them resolve a step of an evolution.

P. J. Davis and P. Rabinowitz, Methods of Numerical Integration, section 2.7.
"""

from __future__ import annotations

from math import factorial

import numpy as np
from numpy.polynomial import legendre

QUADRATURE = 1e-7  # error of an integral over unit time, of unit vectors
POINTS = 12  # at most, of a step


def lobatto(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Points from 0 to 1, these among them, and weights that integrate polynomials of degree ``2 points - 3``."""
    last = np.append(np.zeros(points - 1), 1.0)
    inner = np.sort(legendre.legroots(legendre.legder(last)).real)
    x = np.concatenate([[-1.0], inner, [1.0]])
    return (1 + x) / 2, 1 / (points * (points - 1) * legendre.legval(x, last) ** 2)


def points_for(angle: float) -> int:
    """How many points resolve the phase that the fastest change turns by in a step."""
    for m in range(3, POINTS):
        constant = m * (m - 1) ** 3 * factorial(m - 2) ** 4 / ((2 * m - 1) * factorial(2 * m - 2) ** 3)
        if constant * angle ** (2 * m - 2) < QUADRATURE:
            return m
    return POINTS
