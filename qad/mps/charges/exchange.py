"""Exchanges between sectors: other choices where a bond parts states of nearly equal weight, such as a multiplet.

A bond of fixed dimension keeps some partners of a multiplet only, and which ones is left to how a search came by.  No
sweep changes that: each choice has a minimum of its own.  Here, bond by bond, the kept state of least weight gives way
to the first one that another sector lacks; both sites of the bond are improved in turn, and what ends lower stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.search.converged import sweep_down
from qad.mps.search.sweeps import OneSite, move_left, move_right
from qad.symmetric.contraction import tensordot
from qad.symmetric.maps import bond_leg, rows_of

if TYPE_CHECKING:
    from qad.symmetric.tensor import SymTensor

NEAR = 1.3  # weights kept, relative to what may come in for them
CHOICES = 3  # of what comes in, per bond


class Exchanging(OneSite):
    """A state whose bonds exchange states between sectors, while its centre passes from left to right."""

    site: int
    energy: float
    tolerance: float

    def exchange(self, least: float) -> None:
        """Pass all bonds; an exchange stays where it lowers the energy by more than `least`."""
        self.tolerance = 0.01 * least
        for site in range(len(self.tensors) - 1):
            self.site = site
            if self.is_cut(least):
                self.exchange_here(least)
            self.onward()

    def is_cut(self, least: float) -> bool:
        """Whether the bond right of the centre is full of states that matter (terms of the operator are of order 1)."""
        centre = self.tensors[self.site].resplit(2)
        if centre.shape[2] < self.most:
            return False
        return min(np.linalg.svd(matrix, compute_uv=False)[-1] for matrix in centre.sectors()) ** 2 > least

    def exchange_here(self, least: float) -> None:
        """Try exchanges of the bond right of the centre."""
        here, energy = self.tensors[self.site : self.site + 2], self.energy
        pair = self.improved(self.site, 2)
        density = tensordot(pair, pair.conj(), ([2, 3], [2, 3])).resplit(2)
        found = [np.linalg.eigh(matrix) for matrix in density.sectors()]
        legs = dict(zip(here[0].legs[2].charges, here[0].legs[2].dims, strict=True))
        sizes = [legs.get(sector.charge, 0) for sector in density.layout.sectors]
        for other in exchanges([weights[::-1] for weights, _ in found], sizes):
            bond = bond_leg(density.layout, other, "ground_state")
            parts = [vectors[:, len(vectors) - k :] for (_, vectors), k in zip(found, other, strict=True) if k]
            self.place(rows_of(density.layout, bond, parts), pair)
            self.energy = np.inf
            sweep_down(self, energy, least)
            if self.energy < energy - least:
                return
        self.tensors[self.site : self.site + 2], self.energy = here, energy

    def place(self, kept: SymTensor, pair: SymTensor) -> None:
        """Cut a pair to a basis of its bond, and leave the centre on its left."""
        self.tensors[self.site] = kept
        self.tensors[self.site + 1] = tensordot(kept.conj(), pair, ([0, 1], [0, 1])).resplit(2)
        self.back()

    def sweep(self) -> float:
        """Improve both sites of the bond; returns the energy."""
        self.tensors[self.site] = self.improved(self.site)
        self.onward()
        self.tensors[self.site + 1] = self.improved(self.site + 1)
        self.back()
        return self.energy

    def onward(self) -> None:
        """Move the centre to the right end of the bond."""
        move_right(self.tensors, self.site)
        self.pass_right(self.site)

    def back(self) -> None:
        """Move the centre to the left end of the bond."""
        move_left(self.tensors, self.site + 1)
        self.pass_left(self.site + 1)


def exchanges(weights: list[np.ndarray], sizes: list[int]) -> list[list[int]]:
    """Sizes of sectors with the state of least weight exchanged for what others lack, the nearest weights first.

    Of each sector the weights, which descend, and how many of them are kept.
    """
    least = int(np.argmin([w[k - 1] if k else np.inf for w, k in zip(weights, sizes, strict=True)]))
    lacking = np.array([w[k] if k < len(w) else 0.0 for w, k in zip(weights, sizes, strict=True)])
    found = []
    for other in np.argsort(-lacking, kind="stable"):
        if other != least and NEAR * lacking[other] >= weights[least][sizes[least] - 1]:
            found.append([k + (i == other) - (i == least) for i, k in enumerate(sizes)])
    return found[:CHOICES]
