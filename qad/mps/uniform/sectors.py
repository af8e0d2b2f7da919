"""The search among states that conserve charges: their bonds have sectors, whose dimensions steps do not change."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.charges.make import product_tensors
from qad.mps.charges.quantities import conserved_by
from qad.mps.charges.uniform import counted_from_mean, domains, random_word
from qad.mps.operators.uniform_mpo import UniformMPO
from qad.mps.operators.uniform_opsum import UniformOpSum
from qad.mps.search.start import check_sector
from qad.mps.uniform.growth import at_random
from qad.mps.uniform.mixed import NOTHING, Mixed
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import identity
from qad.mps.uniform.variational import FIRST, SHARE, Run
from qad.mps.uniform.vumps import Vumps
from qad.optimize.result import BY_USER

if TYPE_CHECKING:
    from typing import Any

    from qad.mps.charges.quantities import Charge, Names, Quantities
    from qad.mps.uniform.result import UniformGroundState
    from qad.typing import Progress

    Settled = tuple[Vumps, bool, str]  # as Run.settled_from returns it

ROOM = 16  # directions beside small bonds, among which sectors are chosen
SURE = 1e-10  # differences of energies beside the size of the terms: beyond rounding
FINE = 1e-4  # gradient, beside the size of the terms, at which weights are compared between sectors


class SectorRun(Run):
    """What the stages of a search among states that conserve share.

    Attributes
    ----------
    conserved, total
        The quantities, and the charge of a cell.
    domains : tuple (float, str)
        The least energy per site of domains of other charges but the same mean, and their words.
    """

    def __init__(
        self, H: UniformMPO, conserved: Quantities, total: Charge, bar: Progress, maxiter: int, dtype: np.dtype
    ):
        super().__init__(H, bar, maxiter, dtype, counted_from_mean(conserved, total))
        self.conserved: Quantities = conserved
        self.total: Charge = total
        self.domains: tuple[float, str] = domains(H, conserved, total)

    def ended(self, *given: Any) -> UniformGroundState:
        """What was found, but never as converged where domains of other charges, side by side, are lower."""
        found, (energy, words) = super().ended(*given), self.domains
        if not self.is_above_domains(found.energy) or found.message == BY_USER:
            return found
        message = (
            f"not converged: domains of {words}, of the same mean charge, have {energy:.9g} per site, which is lower; "
            "a repeating state of a few bonds cannot hold them: give the sector= of one of them, or leave out conserve="
        )
        return replace(found, converged=False, message=message)

    def at_random(self, bond: int, starts: int, rng: np.random.Generator) -> list[Mixed]:
        """Random states of small bonds, around random products of basis states."""
        products = []
        for _ in range(starts):
            word = random_word(self.conserved, self.total, rng)
            tensors = product_tensors(word, counted_from_mean(self.conserved, self.total), self.dtype)
            rows = [[t.resplit(n) for t in tensors] for n in (2, 1)]
            products.append(Mixed(*rows, [identity(t, 2) for t in tensors], self.conserved))
        return [at_random(psi, min(bond, FIRST), rng) for psi in products]

    def widest(self, psi: Mixed, bond: int, room: int | None = None) -> Mixed:
        """From a state with small bonds one with the largest, whose sectors are those that it keeps of larger ones.

        Bonds do not grow first where it is best in the end.
        """
        bond = max(bond, psi.bond)
        wide = self.grown(psi, bond + (room or rooms(bond)[0])).psi
        return self.settled_from(wide, FINE)[0].psi.truncated(bond, NOTHING)

    def finest(self, psi: Mixed, bond: int, tol: float, rng: np.random.Generator) -> Settled:
        """As in a plain search, and again from its end, as long as that leads to other sectors that are lower."""
        found = super().finest(psi, bond, tol, rng)
        while found[1]:
            lower = (again for room in rooms(bond) if (again := self.regrown(found[0], bond, room, tol, rng)))
            further = next(lower, None)
            if further is None:
                break
            found = further
        return found

    def regrown(self, search: Vumps, bond: int, room: int, tol: float, rng: np.random.Generator) -> Settled | None:
        """What other sectors of the same bond lead to, where that is lower."""
        wide = self.widest(search.psi, bond, room)
        if [c.legs for c in wide.bonds] == [c.legs for c in search.psi.bonds]:
            return None
        again = self.settled_from(self.stirred(wide, rng), SHARE * np.sqrt(tol), tol)
        return again if again[0].energy < search.energy - max(tol, SURE) * self.scale else None

    def expanded(self, search: Vumps, bond: int) -> Mixed:
        """The state of a search with larger bonds, in place of its least quarter, too: that may lie in poor sectors."""
        kept = Vumps(self.H, search.psi.truncated(search.psi.bond - search.psi.bond // 4, NOTHING), self.scale)
        kept.look()
        return super().expanded(kept, bond)

    def is_above_domains(self, energy: float) -> bool:
        """Whether domains of other charges, side by side, are lower."""
        return energy > self.domains[0] + SURE * self.scale

    def otherwise(self, psi: Mixed, tol: float) -> Settled:
        """The state of the least gradient that there was: nothing else is known to lead on.

        Where charges part, that of the lowest energy: the gradient is small where the mean of the domains is.
        """
        search = Vumps(self.H, (self.parted and self.lowest) or self.calmest[1], self.scale)
        search.look()
        return search, False, ", steps to the lowest centres went round in circles"


def rooms(bond: int) -> list[int]:
    """How many directions beside a bond compete for it."""
    return sorted({-(-bond // 4), max(-(-bond // 4), min(bond, ROOM))}, reverse=True)


def hamiltonian(h: Any, conserve: Names | None, start: UniformMPS | None, method: str) -> UniformMPO:
    """The Hamiltonian as an operator, its terms split into parts that conserve where it is a sum."""
    if method != "vumps":
        raise ArgumentError(f'{method!r} keeps no charges: leave out conserve, or write method="vumps"')
    if isinstance(h, UniformOpSum):
        h = h.mpo(start.conserved.names if conserve is None else conserve)
    if not isinstance(h, UniformMPO):
        raise ArgumentError(
            "a search that conserves charges takes a UniformOpSum or a UniformMPO: write the terms as one"
        )
    return h


def known(H: UniformMPO, conserve: Names | None, sector: object, start: UniformMPS | None) -> tuple[Quantities, Charge]:
    """What is conserved, and the charge of a cell, as the caller or the start says."""
    if start is None:
        conserved = conserved_by(H, conserve)
        return conserved, conserved.symmetry.neutral if sector is None else conserved.sector(sector)
    check_sector(start, conserve, sector)
    return start.conserved, start.total
