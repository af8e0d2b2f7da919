"""Pieces of an evolution, between which an adjoint state ends its integrals: sweeps of gates, and shares of steps.

A loss that changes by ``Re <x|d psi>`` after all pieces changes, by what they are made of, by the sum of ``Re d E_k``
over all pieces, with the adjoint state x_k and the state psi_k behind piece k, which has the norm n_k before it is
divided out::

    gates                 E_k = <x_k| G_k |psi_(k-1)> / n_k       over a sweep G_k
    exp(F H) of a step    E_k = w_k F <x_k| H |psi_k>             at the points of Gauss, of weight w_k

P. J. Davis and P. Rabinowitz, Methods of Numerical Integration, section 2.7.
"""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from qad.mps.energy.hamiltonian import touching
from qad.mps.evolve.tebd import between
from qad.symmetric.generic import dense

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.evolve.recorded import Take, TdvpSteps
    from qad.mps.evolve.truncation import Truncation
    from qad.typing import Array

FAST = 4.0  # highest frequency of a local change, over the size of the terms that touch a site
QUADRATURE = 1e-7  # error of an integral over unit time, of unit vectors
POINTS = 12  # at most, of a step


class Points:
    """Shares of steps ``exp(F H)``, which end at so many points of Gauss in every one of them; without any, steps."""

    per_round: int = 1
    faint: float = 1e-12

    def __init__(self, kind: TdvpSteps, points: int = 0):
        self.kind: TdvpSteps = kind
        x, weights = np.polynomial.legendre.leggauss(points) if points else (np.ones(1), np.zeros(1))
        times = (np.arange(len(kind))[:, None] + (1 + x) / 2).reshape(-1)
        self.shares: np.ndarray = np.diff([0.0, *times, *[len(kind)] * (points > 0)])
        self.weights: list[float] = list(np.tile(weights / 2, len(kind)))
        self.pieces: int = len(self.shares)

    def finer(self, made: Sequence[Any]) -> Points:
        """Pieces for the derivative."""
        angle = abs(made[0][()]) * FAST * touching([dense(w) for w in made[1:]])
        return Points(self.kind, points_for(float(angle)))

    def forth(self, made: Sequence[Any], truncation: Truncation) -> Take:
        """What takes the state past a piece."""
        return self.kind.forth(made, truncation, self.shares)

    def back(self, made: Sequence[Any], truncation: Truncation) -> Take:
        """What takes the adjoint state back."""
        return self.kind.forth([made[0].conj()], truncation, self.shares)

    def element(
        self, made: Sequence[Any], bra: Sequence[Any], before: Sequence[Any], after: Sequence[Any], gained: float,
        k: int,
    ) -> Array:  # fmt: skip
        """What changes with the factor F and the tensors of H, whose states before and after the piece are given."""
        return self.weights[k] * made[0] * between(bra, after, made[1:])


def points_for(angle: float) -> int:
    """How many points resolve the phase that the fastest change turns by in a step."""
    for m in range(2, POINTS):
        constant = factorial(m) ** 4 / ((2 * m + 1) * factorial(2 * m) ** 3)
        if constant * angle ** (2 * m) < QUADRATURE:
            return m
    return POINTS
