"""The search by `qad.mps.uniform.vumps`: several starts at small bonds, growth, and what is said of the result.

Bonds of states that conserve charges have sectors, whose dimensions steps do not change.  They are those that a state
of larger bonds keeps when it is cut, again as long as that leads to others that are lower.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from qad.core.errors import ConvergenceError
from qad.linalg.support.random import normal
from qad.mps.chain.site_tensors import random_isometry
from qad.mps.charges.make import product_tensors
from qad.mps.charges.uniform import counted_from_mean, domains, random_word
from qad.mps.kernels.cells import cell_of
from qad.mps.operators.uniform_mpo import size_of
from qad.mps.search.monitor import is_settled
from qad.mps.uniform.mixed import Mixed
from qad.mps.uniform.nearby import Neighbourhood
from qad.mps.uniform.schur import environments_with
from qad.mps.uniform.state import UniformGroundState, UniformMPS
from qad.mps.uniform.transfer import SINGLE, decays, identity, largest_two
from qad.mps.uniform.vumps import FEW, LEAST, MANY, Vumps
from qad.optimize import minimize
from qad.optimize.result import BY_USER
from qad.showing.progress import note

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.charges.quantities import Charge, Quantities
    from qad.mps.operators.uniform_mpo import UniformMPO
    from qad.typing import Progress

FIRST, JUDGED = 4, 8  # bonds of random states, and of the states among which the lowest is chosen
COARSE = 1e-3  # gradient, beside the size of the terms, at which a smaller bond is good enough to grow from
SHARE = 5e-3  # of the root of the tolerance of energies, below which the gradient is to be in the end
PATIENCE = 100  # steps without a new least gradient
GAIN = 1e-6  # of energies, at which a smaller bond is good enough
FINER = 1e-3  # of a gain at which gradients go on where these are not small yet
ROUND = 40  # iterations of gradients between two choices of gauge
FIRST_FLOOR, FLOORS = 1e-2, (1e-5, 1e-1)  # Schmidt coefficients below the floor are not divided out any further
WINDOW = 4  # steps over which the gain is judged
NOISE = 1e-2  # of the last stage, at the beginning
DEAD = 1e-7  # Schmidt coefficients beside the largest: rounding, and correlations along them are none of the state
SEVERAL = "; the state is a sum of several ones, of which a larger cell may hold one"
OTHER = 1e-3  # how far the overlap per site of different states is from 1, at least
ROOM = 16  # directions beside small bonds, among which sectors are chosen
SURE = 1e-10  # differences of energies beside the size of the terms: beyond rounding
FINE = 1e-4  # gradient, beside the size of the terms, at which weights are compared between sectors

Settled: TypeAlias = tuple[Vumps, bool, str]  # a search, whether it reached its end, and what is said of how


@dataclass
class Run:
    """What the stages of a search share.

    Attributes
    ----------
    h : UniformMPO
    bar : progress bar
    maxiter : int
    dtype : dtype
        Of the numbers of the search.
    conserved, total : optional
        The quantities, and the charge of a cell.
    descends : bool
        Whether gradients take over from coarse steps.
    history : list of float
        The energy before every step, of all starts one after the other.
    lowest : Mixed or None
        The state of the lowest energy on the way.
    domains : tuple (float, str)
        The least energy per site of domains of other charges but the same mean, and their words.
    """

    h: UniformMPO
    bar: Progress
    maxiter: int
    dtype: np.dtype[Any]
    conserved: Quantities | None = None
    total: Charge | None = None
    descends: bool = False
    history: list[float] = field(default_factory=list)
    lowest: Mixed | None = None
    least: float = np.inf  # its energy

    def __post_init__(self) -> None:
        h, conserved, total = self.h, self.conserved, self.total
        self.counted: Quantities | None = None if conserved is None else counted_from_mean(conserved, total)
        self.domains: tuple[float, str] = (np.inf, "") if conserved is None else domains(h, conserved, total)
        self.H: Any = cell_of(list(h), self.dtype, self.counted)
        self.scale: float = size_of(h) or 1.0
        self.sites: Any = h.sites

    def ended(
        self, start: UniformMPS | None, bond: int, starts: int, tol: float, rng: np.random.Generator, dtype: np.dtype
    ) -> UniformGroundState:
        """The ground state from a start, or the best of several; after Ctrl-C the lowest state that there was."""
        try:
            if start is None:
                begin = [self.at_random(min(bond, FIRST), rng) for _ in range(starts)]
            else:
                begin = [Mixed.of(UniformMPS([t.astype(self.dtype) for t in start], start.conserved))]
            last, converged, message = self.searched(begin, bond, tol, rng)
            psi, slope = last.psi, last.slope
        except KeyboardInterrupt:
            if self.lowest is None:
                raise
            psi, converged, message, slope = self.lowest, False, BY_USER, np.nan
        energy = environments_with(self.H, psi.rights, psi.densities()[1], None, LEAST * self.scale, ahead=False)[1]
        state, energy = psi.state(), energy / len(psi)
        if message != BY_USER:
            converged, message = self.judged(state, energy, converged, message)
        state = UniformMPS([t.astype(dtype) for t in state], psi.conserved, self.sites)
        return UniformGroundState(state, energy, np.array([*self.history, energy]), converged, message, slope)

    def judged(self, state: UniformMPS, energy: float, converged: bool, message: str) -> tuple[bool, str]:
        """Whether the state is what was asked for, and what is said of it.

        States of other charges, side by side, may be lower; the state may be a sum of several.
        """
        if energy > self.domains[0] + SURE * self.scale:
            return False, (
                f"not converged: domains of {self.domains[1]}, of the same mean charge, have {self.domains[0]:.9g} per "
                "site, which is lower; a repeating state of a few bonds cannot hold them: give the sector= of one of "
                "them, or leave out conserve="
            )
        if largest_two(state.tensors)[0] > SINGLE:
            message += SEVERAL
        elif state.conserved is not None and (abs(decays(state, 1)) > SINGLE).any():
            message += "; the state is a sum of several ones that break the symmetry"
        return converged, message

    def at_random(self, bond: int, rng: np.random.Generator) -> Mixed:
        """A random state of a small bond; where charges are conserved, a random product of basis states."""
        if self.conserved is None:
            return Mixed.of(UniformMPS([random_isometry(rng, bond, d, bond, self.dtype) for d in self.h.phys]))
        word = random_word(self.conserved, self.total, rng)
        tensors = product_tensors(word, self.counted, self.dtype)
        rows = [[t.resplit(n) for t in tensors] for n in (2, 1)]
        return Mixed(*rows, [identity(t, 2) for t in tensors], self.conserved)

    def searched(self, starts: Sequence[Mixed], bond: int, tol: float, rng: np.random.Generator) -> Settled:
        """The search from the best of several starts, whether it converged, and what is said of it."""
        found = [self.grown(start, min(bond, max(JUDGED, start.bond))) for start in starts]
        best = min(found, key=lambda search: search.energy)
        last, converged, how = self.finest(best.psi, bond, tol, rng)
        slim = last.psi.truncated(None, DEAD)
        if slim is not last.psi:
            gradient, last = SHARE * np.sqrt(tol), Vumps(self.H, slim, self.scale)
            if not (converged and self.until(last, gradient)):  # else its energy was settled before
                last, converged, how = self.settled_from(slim, gradient, tol)
        ended = "converged" if converged else "not converged"
        return last, converged, f"{ended}{how}: the gradient's norm is {last.slope:.1e}{self.others(best, found)}"

    def finest(self, psi: Mixed, bond: int, tol: float, rng: np.random.Generator) -> Settled:
        """From a state on to the end at the largest bond; and again from there, while other sectors are lower."""
        found, bond = None, max(bond, psi.bond)
        least = -(-bond // 4)
        left = rooms = [0] if self.conserved is None else sorted({least, max(least, min(bond, ROOM))}, reverse=True)
        while left:
            room, *left = left
            wide = self.widest(psi, bond, room)
            if found is not None and [c.legs for c in wide.bonds] == [c.legs for c in psi.bonds]:
                continue
            again = self.settled_from(self.stirred(wide, rng), SHARE * np.sqrt(tol), tol)
            if found is None or again[0].energy < found[0].energy - max(tol, SURE) * self.scale:
                found, psi, left = again, again[0].psi, rooms if room and again[1] else []
        return found

    def widest(self, psi: Mixed, bond: int, room: int) -> Mixed:
        """A state of the largest bond, coarsely: what is kept of one with as much room beside it, of all sectors."""
        search = self.grown(psi, bond + room)
        return self.settled_from(search.psi, FINE)[0].psi.truncated(bond) if room else search.psi

    def stirred(self, psi: Mixed, rng: np.random.Generator) -> Mixed:
        """With a little noise: without it a search stays where a symmetry holds that the ground state breaks."""
        size = np.sqrt(psi.bond) if psi.conserved is None else 1.0  # of a centre as large as an isometry
        pairs = [(x, normal(rng, x.size, x.dtype)) for x in psi.vectors()]
        return psi.nearest_to([x + NOISE * size / np.linalg.norm(noise) * noise for x, noise in pairs])

    def grown(self, psi: Mixed, bond: int) -> Vumps:
        """The search at a bond dimension, coarsely, by way of smaller ones."""
        search = self.settled_from(psi, COARSE)[0]
        while min(search.psi.dims) < bond:
            size, kept = sum(search.psi.dims), search.psi.bond
            if self.conserved is not None:  # the least quarter may lie in poor sectors
                search = Vumps(self.H, search.psi.truncated(kept - kept // 4), self.scale)
            search.look()
            psi = search.expanded(min(bond, 2 * kept))
            if sum(psi.dims) > size:
                search = self.settled_from(psi, COARSE)[0]
            if sum(search.psi.dims) <= size:  # larger bonds have no weight
                break
        return search

    def settled_from(self, psi: Mixed, gradient: float, gain: float | None = None) -> Settled:
        """A search from a state, whether it reached its end, and what is said of how.

        Steps to the lowest centres are the quickest, but change all of them at once, and may overshoot: then steps of
        few products, and then gradients, which know no charges.
        """
        for most in () if self.descends and gain is not None else (MANY, FEW):
            search = Vumps(self.H, psi, self.scale, most)
            if self.until(search, gradient, gain):
                return search, True, ""
        if self.conserved is not None:
            return search, False, ", steps to the lowest centres went round in circles"
        return self.descended(psi, GAIN if gain is None else gain)

    def until(self, search: Vumps, gradient: float, gain: float | None = None) -> bool:
        """Steps until the gradient is small, and so are all gains to come; whether that was reached.

        Given up where neither the gradient nor the energy has had a new least value for long; a saddle is left slowly.
        """
        energies, least, since, best = [], np.inf, 0, (search.psi, np.inf, np.inf)
        for _ in range(self.maxiter):
            psi = search.psi
            try:
                search.step()
            except ConvergenceError:  # of environments
                if search.trim():
                    continue
                break  # close to a sum of several states
            lower = search.energy < best[1] - LEAST * self.scale
            best = (psi, search.energy, search.slope) if lower else best
            energies.append(search.energy)
            self.history.append(search.energy)
            if search.energy < self.least:
                self.lowest, self.least = psi, search.energy
            note(self.bar, energies, search.slope)
            since = 0 if search.slope < least or lower else since + 1
            least = min(least, search.slope)
            gains = abs(np.diff(search.energies[-1 - 2 * WINDOW :: WINDOW])) / self.scale
            steady = gain is None or (len(gains) == 2 and is_settled(gains[1], gains[0], gain))
            if steady and search.slope <= gradient * self.scale:
                return True
            if since > PATIENCE:
                break
        search.psi, search.energy, search.slope = best
        search.lefts = search.rights = None
        return False

    def descended(self, psi: Mixed, tol: float) -> Settled:
        """From `psi` on by L-BFGS in the metric of the state, which only ever lowers the energy; as `settled_from`.

        In rounds, each around the state of the last one: its weights are divided by as finely as that one gained.
        """
        state, floor, gain = psi.state(), FIRST_FLOOR, np.inf
        for done in range(0, self.maxiter, ROUND):
            around = Neighbourhood(state, floor)
            limits = {"gtol": 0.0, "ftol": 0.0, "maxiter": min(ROUND, self.maxiter - done)}
            found = minimize(partial(around.energy, H=self.h), around.nowhere(), progress=self.bar, **limits)
            state, scale = around.state(found.params), abs(found.fun) or 1.0
            self.history.extend(found.history)
            search = Vumps(self.H, Mixed.of(state), self.scale)
            if found.message == BY_USER:
                self.lowest = search.psi
                raise KeyboardInterrupt
            search.slope = np.sqrt(tol) * self.scale  # as exact as this gradient asks for
            search.look()
            before, gain = gain, (found.history[0] - found.fun) / scale
            reached = search.slope <= np.sqrt(tol) * self.scale and is_settled(gain, before, tol)
            if reached or is_settled(gain, before, FINER * tol) or not found.nit:
                break
            floor = float(np.clip(0.3 * np.sqrt(gain), *FLOORS))
        why = "" if self.descends else ", for steps to the lowest centres went round in circles"
        return search, bool(reached), f" by gradients{why}"

    def others(self, best: Vumps, found: Sequence[Vumps]) -> str:
        """What is said of starts that led to other states of the same energy."""
        near = [x for x in found if x is not best and x.energy - best.energy < COARSE**2 * self.scale]
        other = sum(largest_two(best.psi.rights, x.psi.rights)[1] < (1 - OTHER) ** len(self.H) for x in near)
        return f"; {other} of {len(found)} starts led to other states of nearly this energy" if other else ""
