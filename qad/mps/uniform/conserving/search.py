"""The search for ground states of infinite chains of definite charge: `qad.mps.uniform.variational` on their states."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.core.threads import blas_for
from qad.mps.charges.uniform_cell import cell_quantities, counted_from_mean
from qad.mps.charges.uniform_domains import domains
from qad.mps.operators.uniform_mpo import UniformMPO, check_hermitian, size_of
from qad.mps.operators.uniform_opsum import UniformOpSum
from qad.mps.uniform.conserving.growth import at_random, expanded, gaussian
from qad.mps.uniform.conserving.mixed import SymmetricMixed
from qad.mps.uniform.conserving.schur import SymmetricSchur
from qad.mps.uniform.conserving.state import SymmetricUniformMPS
from qad.mps.uniform.conserving.transfer import largest_by_charge, largest_two
from qad.mps.uniform.result import UniformGroundState
from qad.mps.uniform.transfer import SINGLE
from qad.mps.uniform.variational import FIRST, NOISE, SHARE, Run
from qad.mps.uniform.vumps import LEAST, NOTHING, Vumps
from qad.optimize.progress import bar_for
from qad.optimize.result import BY_USER

if TYPE_CHECKING:
    from typing import Any

    from qad.mps.charges.quantities import Charge, Names, Quantities
    from qad.typing import Progress

    Settled = tuple[Vumps, bool, str]  # as Run.settled_from returns it


ROOM = 16  # directions beside small bonds, among which sectors are chosen
SURE = 1e-10  # differences of energies beside the size of the terms: beyond rounding
FINE = 1e-4  # gradient, beside the size of the terms, at which weights are compared between sectors


class SymmetricRun(Run):
    """What the stages of a search among states of definite charge share."""

    def __init__(
        self, H: UniformMPO, conserved: Quantities, sector: Charge, bar: Progress, maxiter: int, dtype: np.dtype
    ):
        H = H.repeated(len(conserved.charges))
        counted = counted_from_mean(conserved, sector)
        self.begin(SymmetricSchur(H, counted, dtype), size_of(H), bar, maxiter)

    def widest(self, psi: SymmetricMixed, bond: int, room: int | None = None) -> SymmetricMixed:
        """From a state with small bonds one with the largest, whose sectors are those that it keeps of larger ones.

        A search does not change the dimensions of sectors, and bonds do not grow first where it is best in the end.
        """
        bond = max(bond, psi.bond)
        wide = self.grown(psi, bond + (room or rooms(bond)[0])).psi
        return self.settled_from(wide, FINE)[0].psi.truncated(bond, NOTHING)

    def finest(self, psi: SymmetricMixed, bond: int, tol: float, rng: np.random.Generator) -> Settled:
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

    def expanded(self, search: Vumps, bond: int) -> SymmetricMixed:
        """The state of a search with larger bonds, in place of its least quarter, too: that may lie in poor sectors."""
        kept = Vumps(self.H, search.psi.truncated(search.psi.bond - search.psi.bond // 4, NOTHING), self.scale)
        kept.look()
        return expanded(kept, bond)

    def stirred(self, psi: SymmetricMixed, rng: np.random.Generator) -> SymmetricMixed:
        """The state with a little noise."""
        return psi.nearest_to([x + NOISE * gaussian(rng, x) for x in psi.vectors()])

    def otherwise(self, search: Vumps, psi: SymmetricMixed, tol: float) -> tuple[Vumps, bool, str]:
        """The state of the least gradient that there was: nothing else is known to lead on."""
        search = Vumps(self.H, self.calmest[1], self.scale)
        search.look()
        return search, False, ", steps to the lowest centres went round in circles"

    def overlap(self, one: SymmetricMixed, two: SymmetricMixed) -> float:
        """The magnitude of the overlap of two states, per cell."""
        return largest_two(one.rights, two.rights)[1]


def rooms(bond: int) -> list[int]:
    """How many directions beside a bond compete for it."""
    return sorted({-(-bond // 4), max(-(-bond // 4), min(bond, ROOM))}, reverse=True)


def ground_state(
    H: UniformMPO, bond: int, conserved: Quantities, total: Charge, start: SymmetricUniformMPS | None,
    rng: np.random.Generator, dtype: np.dtype, progress: bool, tol: float, maxiter: int, starts: int,
) -> UniformGroundState:  # fmt: skip
    """The uniform state of lowest energy per site of a charge per cell; see `qad.mps.uniform.ground_state`."""
    if start is not None:
        dtype = np.result_type(start.dtype, np.complex64 if H.dtype.kind == "c" else np.float32)
    wide = np.result_type(dtype, H.dtype, np.float64)
    with blas_for(max(bond, start.bond if start else 1)), bar_for(progress, "energy") as bar:
        run = SymmetricRun(H, conserved, total, bar, maxiter, wide)
        try:
            begin = random_starts(conserved, total, bond, starts, rng, wide) if start is None else [given(start, wide)]
            last, converged, message = run.searched(begin, bond, tol, rng)
        except KeyboardInterrupt:
            if run.lowest is None:
                raise
            return finished(run, run.lowest, dtype, False, BY_USER, np.nan)
        return one_phase(finished(run, last.psi, dtype, converged, message, last.slope), H, run.scale)


def one_phase(found: UniformGroundState, H: UniformMPO, scale: float) -> UniformGroundState:
    """What was found, but never as converged where domains of other charges, side by side, are lower."""
    state = found.state
    energy, words = domains(H.repeated(len(state)), state.conserved, state.total)
    if energy > found.energy - SURE * scale:
        return found
    message = (
        f"not converged: domains of {words}, of the same mean charge, have {energy:.9g} per site, which is lower; a "
        "repeating state of a few bonds cannot hold them: give the sector= of one of them, or leave out conserve="
    )
    return replace(found, converged=False, message=message)


def finished(
    run: SymmetricRun, psi: SymmetricMixed, dtype: np.dtype, converged: bool, message: str, slope: float
) -> UniformGroundState:
    """The state that a search ended with, its energy to rounding, and what is said of it."""
    energy = run.H.rights(psi.rights, psi.densities()[1], None, LEAST * run.scale)[1] / len(psi)
    state = psi.state()
    if largest_two(psi.rights, psi.rights)[0] > SINGLE:
        message += "; the state is a sum of several ones, of which a larger cell may hold one"
    elif largest_by_charge(state, None)[0] > SINGLE:
        message += "; the state is a sum of several ones that have no definite charge: their symmetry is broken"
    state = SymmetricUniformMPS([t.astype(dtype) for t in state], psi.conserved, state.sector)
    return UniformGroundState(state, energy, np.array([*run.history, energy]), converged, message, slope)


def given(start: SymmetricUniformMPS, dtype: np.dtype) -> SymmetricMixed:
    """The mixed form of a state to start from."""
    return SymmetricMixed.of(SymmetricUniformMPS([t.astype(dtype) for t in start], start.conserved, start.sector))


def random_starts(
    conserved: Quantities, total: Charge, bond: int, starts: int, rng: np.random.Generator, dtype: np.dtype
) -> list[SymmetricMixed]:
    """Random states of small bonds, around random products of basis states."""
    products = [SymmetricMixed.product(conserved, total, rng, dtype) for _ in range(starts)]
    return [at_random(psi, min(bond, FIRST), rng) for psi in products]


def hamiltonian(h: Any, conserve: Names | None, start: SymmetricUniformMPS | None, method: str) -> UniformMPO:
    """The Hamiltonian as an operator, its terms split into parts that conserve where it is a sum."""
    if method != "vumps":
        raise ArgumentError(f'{method!r} keeps no charges: leave out conserve, or write method="vumps"')
    if isinstance(h, UniformOpSum):
        h = h.mpo(start.conserved.names if conserve is None else conserve)
    if not isinstance(h, UniformMPO):
        raise ArgumentError(
            "a search that conserves charges takes a UniformOpSum or a UniformMPO: write the terms as one"
        )
    check_hermitian(h)
    return h


def known(
    H: UniformMPO, cell: int, conserve: Names | None, sector: object, start: SymmetricUniformMPS | None
) -> tuple[Quantities, Charge]:
    """What is conserved, and the charge of a cell, as the caller or the start says."""
    if start is None:
        conserved = cell_quantities(H, conserve, cell)
        return conserved, conserved.symmetry.neutral if sector is None else conserved.sector(sector)
    if not isinstance(start, SymmetricUniformMPS):
        raise ArgumentError(
            "a search that conserves charges starts from a state that does: that of an earlier one, at a smaller bond"
        )
    names = (conserve,) if isinstance(conserve, str) else tuple(conserve or start.conserved.names)
    if names != start.conserved.names:
        raise ArgumentError(f"conserve={conserve!r}, but the start conserves {start.conserved.names}: say the same")
    if sector is not None and start.conserved.sector(sector) != start.total:
        raise ArgumentError(f"sector={sector!r}, but a cell of the start has {start.sector}: leave one out")
    if start.phys != H.phys * (cell // len(H)):
        raise ShapeError(f"a cell of sites {[*start.phys]} does not fit an operator of sites {[*H.phys]}")
    return start.conserved, start.total
