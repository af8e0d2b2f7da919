"""Roots of densities at many temperatures, each from those before.

``exp(-beta H / 2)`` at the next inverse temperature is that at the one before times ``exp(-delta H / 2)``, whose bonds
are small where the step delta is: a product costs less than the square of a cold state.  Equal steps share it.  Where
a step is longer than beta itself the root is a square, as of `qad.mps.thermal_state`, and at high temperature a series.
Chains on the way are kept, so that none is made twice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qad.mps.thermal.cooling import Squares, cutoff_at, squares_for
from qad.mps.thermal.products import summed

if TYPE_CHECKING:
    from qad.mps.operators.mpo import MPO
    from qad.mps.thermal.cooling import Cooling
    from qad.mps.thermal.products import Chain

DIGITS = 13  # of inverse temperatures over the largest, by which equal steps are told


class Roots:
    """``exp(-beta H / 2)`` of norm 1 and the logarithms of their norms, each made once."""

    def __init__(self, H: MPO, cooling: Cooling, last: float):
        self.H: MPO = H
        self.cooling: Cooling = cooling
        self.last: float = last
        self.short: float = last * 0.5 ** squares_for((last * H).tensors)
        self.known: dict[float, tuple[Chain, float]] = {}
        self.discarded: float = 0.0

    def at(self, beta: float, before: float = 0.0) -> tuple[Chain, float]:
        """A series, a square, or the one `before` times that of a step which is shorter."""
        key = round(beta / self.last, DIGITS)
        if key not in self.known:
            part = before if beta < 2 * before else beta / 2
            self.known[key] = self.series(beta) if beta <= self.short else self.product(part, beta - part)
        return self.known[key]

    def series(self, beta: float) -> tuple[Chain, float]:
        """By powers of H."""
        made = Squares(replace(self.cooling, cutoff=self.cutoff(beta)), (beta * self.H).tensors)
        self.discarded += made.discarded
        return made.roots[-1], made.log_norm

    def product(self, part: float, step: float) -> tuple[Chain, float]:
        """Of two roots."""
        (one, log_one), (two, log_two) = self.at(part), self.at(step)
        root, size, lost = summed([(one, two)], self.cooling.bond, self.cutoff(step))
        self.discarded += lost
        return root, log_one + log_two + size

    def cutoff(self, step: float) -> float:
        """The weight that the cuts of a step may discard: amplitudes of all steps add up."""
        return cutoff_at(step / self.last, self.cooling.cutoff)
