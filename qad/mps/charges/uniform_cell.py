"""What the sites of a cell carry, counted from the mean: so the bonds on both sides of a cell carry the same charges.

A cell of charge q adds q to the bond on its right.  The charges of its last site are counted less q here, which changes
no operator, for these only know differences; then a state of any filling repeats.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.charges.quantities import Quantities, filled, quantities, sites_of_dimension

if TYPE_CHECKING:
    from qad.mps.charges.quantities import Charge, Names
    from qad.mps.operators.uniform_mpo import UniformMPO


@lru_cache(maxsize=256)
def counted_from_mean(conserved: Quantities, sector: Charge) -> Quantities:
    """The quantities of a cell, the charges of its last site counted less the `sector`."""
    minus = conserved.symmetry.minus
    last = tuple(minus(charge, sector) for charge in conserved.charges[-1])
    return Quantities(conserved.names, (*conserved.charges[:-1], last))


def cell_quantities(H: UniformMPO, conserve: Names, cell: int) -> Quantities:
    """What a cell of an operator conserves, spins 1/2 where it does not say what stands on its sites."""
    if H.sites is None and set(H.phys) != {2}:
        raise ArgumentError(
            "the operator does not say what stands on its sites: make it by UniformOpSum.mpo(), or give a symmetric "
            "start state"
        )
    return quantities(conserve, (H.sites or sites_of_dimension(H.phys)) * (cell // len(H)))


def random_word(conserved: Quantities, sector: Charge, rng: np.random.Generator) -> list[int]:
    """Basis states of the sites of a cell whose charges add up to the sector, all such words equally likely.

    Raises
    ------
    ArgumentError
        If there are none.
    """
    group = conserved.symmetry
    counts = filled(conserved.charges[::-1], sector, group.minus)[::-1]
    if group.neutral not in counts[0]:
        raise ArgumentError(
            f"no state of a cell of {len(conserved.charges)} sites has {', '.join(conserved.names)} = "
            f"{group.shown(sector)}: give the charge of a cell as sector=, or a larger cell="
        )
    word, carried = [], group.neutral
    for charges, ahead in zip(conserved.charges, counts[1:], strict=True):
        after = [group.plus(carried, charge) for charge in charges]
        weights = np.array([ahead.get(charge, 0) for charge in after], float)
        word.append(int(rng.choice(len(after), p=weights / weights.sum())))
        carried = after[word[-1]]
    return word
