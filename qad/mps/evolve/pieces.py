"""Pieces of an evolution, between which an adjoint state ends its integrals: layers of gates, and shares of steps.

A loss that changes by ``Re <x|d psi>`` after all pieces changes, by what they are made of, by the sum of ``Re d E_k``
over all pieces, with the adjoint state x_k and the state psi_k behind piece k, which has the norm n_k before it is
divided out::

    gates                 E_k = <x_k| G_k |psi_(k-1)> / n_k       over a layer G_k
    exp(F H) of a step    E_k = w_k F <x_k| H |psi_k>             at the points of Gauss, of weight w_k

P. J. Davis and P. Rabinowitz, Methods of Numerical Integration, section 2.7.
"""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from qad.mps.chain.row import edges
from qad.mps.energy.hamiltonian import touching
from qad.mps.evolve.start import normalised
from qad.mps.evolve.tebd import applied, swept
from qad.mps.kernels.environments import past_left
from qad.symmetric.generic import dense, join, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.evolve.recorded import GateSteps, Take, Taken, TdvpSteps
    from qad.mps.evolve.truncation import Truncation
    from qad.typing import Array

FAST = 4.0  # highest frequency of a local change, over the size of the terms that touch a site
QUADRATURE = 1e-7  # error of an integral over unit time, of unit vectors
POINTS = 12  # at most, of a step


class Layers:
    """Sweeps of gates, on even bonds to the right and on odd bonds back."""

    per_round: int = 2  # pieces
    faint: float = 1e-14  # the weight that a cut of the adjoint state discards

    def __init__(self, kind: GateSteps, gates: Sequence[Any]):
        self.kind: GateSteps = kind
        self.rows: list[list[Any]] = [row for k in range(len(kind)) for row in kind.layers(gates, k)]

    def __len__(self) -> int:
        return len(self.rows)

    def finer(self) -> Layers:
        """Pieces for the derivative."""
        return self

    def forth(self, truncation: Truncation) -> Take:
        """What takes the state past a piece."""
        return lambda tensors, k: layer(self.rows[k], tensors, truncation, k % 2 == 0)

    def back(self, truncation: Truncation) -> Take:
        """What takes the adjoint state back."""
        daggers = [[None if gate is None else gate.conj().transpose(2, 3, 0, 1) for gate in row] for row in self.rows]
        return lambda tensors, k: layer(daggers[k], tensors, truncation, k % 2 == 1)

    def element(
        self, made: Sequence[Any], bra: Sequence[Any], before: Sequence[Any], after: Sequence[Any], gained: float,
        k: int,
    ) -> Array:  # fmt: skip
        """What changes with the gates, whose states before and after the piece are given."""
        return between(bra, before, row=self.kind.layers(made, k // 2)[k % 2]) * np.exp(-gained)


def layer(row: Sequence[Any], tensors: Sequence[Any], truncation: Truncation, to_right: bool) -> Taken:
    """A chain after gates, one or None for every bond."""
    out = list(tensors)
    swept(row, out, truncation, to_right)
    return normalised(out, -1 if to_right else 0)


class Points:
    """Shares of steps ``exp(F H)``, which end at so many points of Gauss in every one of them; without any, steps."""

    per_round: int = 1
    faint: float = 1e-12

    def __init__(self, kind: TdvpSteps, made: Sequence[Any], points: int = 0):
        self.kind: TdvpSteps = kind
        self.made: Sequence[Any] = made
        x, weights = np.polynomial.legendre.leggauss(points) if points else (np.ones(1), np.zeros(1))
        times = (np.arange(len(kind))[:, None] + (1 + x) / 2).reshape(-1)
        self.shares: np.ndarray = np.diff([0.0, *times, *[len(kind)] * (points > 0)])
        self.weights: list[float] = list(np.tile(weights / 2, len(kind)))

    def __len__(self) -> int:
        return len(self.shares)

    def finer(self) -> Points:
        """Pieces for the derivative."""
        angle = abs(self.made[0][()]) * FAST * touching([dense(w) for w in self.made[1:]])
        return Points(self.kind, self.made, points_for(float(angle)))

    def forth(self, truncation: Truncation) -> Take:
        """What takes the state past a piece."""
        return self.kind.plain(self.made, truncation, self.shares)

    def back(self, truncation: Truncation) -> Take:
        """What takes the adjoint state back."""
        return self.kind.plain([self.made[0].conj()], truncation, self.shares)

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


def between(bra: Sequence[Any], ket: Sequence[Any], H: Sequence[Any] = (), row: Sequence[Any] = ()) -> Array:
    """``<bra|H|ket>`` or the overlap, or that with gates on some bonds, one or None for every bond."""
    env, site = edges(ket, H)[0], 0
    while site < len(ket):
        if site < len(row) and row[site] is not None:
            pair, other = applied(row[site], ket, site), join(bra[site], bra[site + 1])
            env, site = join(other.conj(), join(env, pair), ((0, 1, 2), (0, 1, 2))), site + 2
        else:
            env, site = past_left(env, ket[site], bra[site], H[site] if H else None), site + 1
    return numbers(env).sum() + 0j
