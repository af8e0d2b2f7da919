"""Exchanges between sectors: other choices where a bond parts states of nearly equal weight, such as a multiplet.

A bond of fixed dimension keeps some partners of a multiplet only, and which ones is left to how a search came by.  No
sweep changes that: each choice has a minimum of its own.  Here, bond by bond, the kept state of least weight gives way
to the first one that another sector lacks; both sites of the bond are improved in turn, and what ends lower stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.mps.chain.canonical import move_left, move_right
from qad.mps.search.converged import SOLVED, sweep_down
from qad.mps.search.sweeps import OneSite
from qad.symmetric.generic import as_map, join, laid_out, rows_and_bond

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NEAR = 1.3  # weights kept, relative to what may come in for them
CHOICES = 3  # of what comes in, per bond


class Exchanging(OneSite):
    """A state whose bonds exchange states between sectors, while its centre passes from left to right."""

    site: int = 0
    size: int
    energy: float
    tolerance: float

    def exchange(self, least: float) -> None:
        """Pass all bonds; an exchange stays where it lowers the energy by more than `least`."""
        self.tolerance = SOLVED * least
        for site in range(len(self.tensors) - 1):
            self.site = site
            matrices = as_map(self.tensors[site], 2)[1]
            if self.tensors[site].shape[2] == self.most and least_value(matrices) ** 2 > least:
                self.exchange_here(least)
            self.onward()

    def exchange_here(self, least: float) -> None:
        """Try exchanges of the bond right of the centre."""
        here, energy = self.tensors[self.site : self.site + 2], self.energy
        self.size = 2
        pair = self.improved(self.site)
        self.size = 1
        where, matrices = as_map(join(pair, pair.conj(), ((2, 3), (2, 3))), 2)
        found = [np.linalg.eigh(matrix) for matrix in matrices]
        legs = dict(zip(here[0].legs[2].charges, here[0].legs[2].dims, strict=True))
        sizes = [legs.get(sector.charge, 0) for sector in where.sectors]
        for other in exchanges([weights[::-1] for weights, _ in found], sizes):
            halves = [vectors[:, len(vectors) - k :] for (_, vectors), k in zip(found, other, strict=True)]
            kept = laid_out(rows_and_bond(where, halves), 2)
            self.tensors[self.site : self.site + 2] = kept, laid_out(join(kept.conj(), pair, ((0, 1), (0, 1))), 2)
            self.back()
            self.energy = np.inf
            sweep_down(self, energy, least)
            if self.energy < energy - least:
                return
        self.tensors[self.site : self.site + 2], self.energy = here, energy

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


def least_value(matrices: Sequence[Any]) -> float:
    """The least singular value of all."""
    return min(np.linalg.svdvals(matrix)[-1] for matrix in matrices)


def exchanges(weights: Sequence[np.ndarray], sizes: Sequence[int]) -> Iterator[list[int]]:
    """Sizes of sectors with the state of least weight exchanged for what others lack, the nearest weights first.

    Of each sector the weights, which descend, and how many of them are kept.
    """
    least = int(np.argmin([w[k - 1] if k else np.inf for w, k in zip(weights, sizes, strict=True)]))
    lacking = np.array([w[k] if k < len(w) else 0.0 for w, k in zip(weights, sizes, strict=True)])
    lacking[least] = 0.0
    for other in np.argsort(-lacking, kind="stable")[:CHOICES]:
        if NEAR * lacking[other] >= weights[least][sizes[least] - 1]:
            yield [k + (i == other) - (i == least) for i, k in enumerate(sizes)]
