"""Sweeps of single sites whose bonds grow: what the effective operator couples to is mixed into density matrices.

As `qad.mps.search.dmrg` does for ordinary states (C. Hubig et al., PRB 91, 155115 (2015)): so sectors open, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.mps.conserving.excluded import NONE
from qad.mps.conserving.sweeps import Sweeps, TwoSites, mixed
from qad.mps.search.dmrg import FIRST_BOND
from qad.symmetric.contraction import tensordot
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from qad.mps.conserving.environments import Operator
    from qad.mps.conserving.excluded import Excluded
    from qad.mps.conserving.state import SymmetricMPS

# Of what is mixed into density matrices, which alone chooses the sectors: at first, from sweep to sweep, and at last.
FIRST, FADING, LEAST = 0.1, 0.3, 1e-8


class Growing(TwoSites):
    """Single sites; every step chooses the bond anew from a density matrix, in which other directions are mixed."""

    def __init__(self, operator: Operator, start: SymmetricMPS, bond: int, excluded: Excluded = NONE):
        super().__init__(operator, start, bond, excluded)
        self.mixing: float = FIRST
        self.bond: int = min(bond, max(FIRST_BOND, start.bond))

    def sweep(self) -> float:
        growing, energy = self.bond < self.most, Sweeps.sweep(self)  # not as two sites, which need less mixing
        self.mixing *= 0.5 if growing else FADING
        self.mixing = self.mixing if self.mixing > LEAST else 0.0
        self.bond = min(2 * self.bond, self.most)
        return energy

    def to_right_and_back(self, last: int) -> None:
        for site in range(last):
            self.step_right(site)
        for site in reversed(range(1, last + 1)):
            self.step_left(site)
        self.tensors[0] = self.improved(0, self.tensors[0])

    def step_right(self, site: int) -> None:
        """Improve a site, and make it an isometry from its right bond."""
        centre = self.improved(site, self.tensors[site])
        density = tensordot(centre, centre.conj(), ([2], [2]))
        if self.mixing:
            half = tensordot(self.left[site], self.operator.sites[site], ([1], [0]))  # a' a v s' s
            reached = tensordot(half, centre, ([1, 4], [0, 1]))  # a' v s' b
            density = mixed(density, tensordot(reached, reached.conj(), ([1, 3], [1, 3])), self.mixing)
        kept = self.principal(density, self.tensors[site].legs[2])
        rest = tensordot(kept.conj(), centre, ([0, 1], [0, 1]))
        self.tensors[site], self.tensors[site + 1] = kept, joined(rest, self.tensors[site + 1])
        self.pass_right(site)

    def step_left(self, site: int) -> None:
        """Improve a site, and make it an isometry from its left bond."""
        centre = self.improved(site, self.tensors[site])
        density = tensordot(centre.conj(), centre, ([0], [0]))
        if self.mixing:
            half = tensordot(self.operator.sites[site], self.right[site], ([1], [1]))  # u s' s b' b
            reached = tensordot(centre, half, ([1, 2], [2, 4]))  # a u s' b'
            more = tensordot(reached.conj(), reached, ([0, 1], [0, 1]))
            density = mixed(density, more, self.mixing)
        kept = self.principal(density, self.tensors[site - 1].legs[2])  # s b | bond, of the conjugate
        self.tensors[site] = kept.conj().transpose(2, 0, 1)
        self.tensors[site - 1] = joined(self.tensors[site - 1], tensordot(centre, kept, ([1, 2], [0, 1])))
        self.pass_left(site)


def joined(one: SymTensor, two: SymTensor) -> SymTensor:
    """A matrix on a bond and the site tensor beside it as one."""
    return tensordot(one, two, 1).resplit(2)
