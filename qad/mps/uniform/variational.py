"""The search by `qad.mps.uniform.vumps`: several starts at small bonds, growth, and what is said of the result."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ConvergenceError
from qad.mps.chain.site_tensors import random_isometry
from qad.mps.kernels.cells import cell_of
from qad.mps.operators.uniform_mpo import size_of
from qad.mps.search.monitor import is_settled
from qad.mps.uniform.growth import expanded, gaussian
from qad.mps.uniform.mixed import Mixed
from qad.mps.uniform.nearby import Neighbourhood
from qad.mps.uniform.result import UniformGroundState
from qad.mps.uniform.schur import environments_with
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.transfer import SINGLE, largest_by_charge, largest_two
from qad.mps.uniform.vumps import FEW, LEAST, MANY, Vumps
from qad.optimize import minimize
from qad.optimize.progress import note
from qad.optimize.result import BY_USER

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.charges.quantities import Quantities
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


class Run:
    """What the stages of a search share.

    Attributes
    ----------
    history : list of float
        The energy before every step, of all starts one after the other.
    lowest : Mixed or None
        The state of the lowest energy on the way.
    calmest : tuple
        The least gradient of the present stage, and the state that has it.
    """

    h: UniformMPO
    H: Any
    scale: float
    bar: Progress
    maxiter: int
    history: list[float]
    lowest: Mixed | None
    least: float  # its energy
    calmest: tuple[float, Mixed]
    descends: bool  # whether gradients take over from coarse steps
    dtype: np.dtype[Any]  # of the numbers of the search
    parted: bool  # whether no repeating state of a few bonds is as low as others that do not repeat

    def __init__(
        self, H: UniformMPO, bar: Progress, maxiter: int, dtype: np.dtype, counted: Quantities | None = None,
        descends: bool = False,
    ):  # fmt: skip
        self.h, self.bar, self.maxiter, self.dtype, self.descends = H, bar, maxiter, dtype, descends
        self.H, self.scale = cell_of(list(H), dtype, counted), size_of(H) or 1.0
        self.history, self.lowest, self.least, self.parted = [], None, np.inf, False

    def ended(
        self, start: UniformMPS | None, bond: int, starts: int, tol: float, rng: np.random.Generator, dtype: np.dtype
    ) -> UniformGroundState:
        """The ground state from a start, or the best of several; after Ctrl-C the lowest state that there was."""
        try:
            if start is None:
                begin = self.at_random(bond, starts, rng)
            else:
                begin = [Mixed.of(UniformMPS([t.astype(self.dtype) for t in start], start.conserved))]
            last, converged, message = self.searched(begin, bond, tol, rng)
        except KeyboardInterrupt:
            if self.lowest is None:
                raise
            energy, state, _ = self.finished(self.lowest, dtype)
            return UniformGroundState(state, energy, np.array([*self.history, energy]), False, BY_USER)
        energy, state, several = self.finished(last.psi, dtype)
        history = np.array([*self.history, energy])
        return UniformGroundState(state, energy, history, converged, message + several, last.slope)

    def at_random(self, bond: int, starts: int, rng: np.random.Generator) -> list[Mixed]:
        """Random states of small bonds."""
        size = min(bond, FIRST)
        cells = [[random_isometry(rng, size, d, size, self.dtype) for d in self.h.phys] for _ in range(starts)]
        return [Mixed.of(UniformMPS(tensors)) for tensors in cells]

    def finished(self, psi: Mixed, dtype: np.dtype) -> tuple[float, UniformMPS, str]:
        """The energy to rounding and the state that a search ended with, and a warning where that is a sum."""
        rights = environments_with(self.H, psi.rights, psi.densities()[1], None, LEAST * self.scale, ahead=False)
        state, message = psi.state(), ""
        if largest_two(psi.rights)[0] > SINGLE:
            message = SEVERAL
        elif psi.conserved is not None and largest_by_charge(state, None)[0] > SINGLE:
            message = "; the state is a sum of several ones that break the symmetry"
        return rights[1] / len(psi), UniformMPS([t.astype(dtype) for t in state], psi.conserved), message

    def searched(
        self, starts: Sequence[Mixed], bond: int, tol: float, rng: np.random.Generator
    ) -> tuple[Vumps, bool, str]:
        """The search from the best of several starts, whether it converged, and what is said of it."""
        found = [self.grown(start, min(bond, max(JUDGED, start.bond))) for start in starts]
        best = min(found, key=lambda search: search.energy)
        others = self.others(best, found)
        last, converged, how = (best, False, "") if self.parted else self.finest(best.psi, bond, tol, rng)
        slim = last.psi.trimmed(DEAD)
        if slim is not last.psi:
            last, converged, how = self.settled_from(slim, SHARE * np.sqrt(tol), tol)
        ended = "converged" if converged else "not converged"
        return last, converged, f"{ended}{how}: the gradient's norm is {last.slope:.1e}{others}"

    def finest(self, psi: Mixed, bond: int, tol: float, rng: np.random.Generator) -> tuple[Vumps, bool, str]:
        """From a state with small bonds on to the end at the largest, as `settled_from`."""
        coarse = self.stirred(self.widest(psi, bond), rng)
        return self.settled_from(coarse, SHARE * np.sqrt(tol), tol)

    def widest(self, psi: Mixed, bond: int) -> Mixed:
        """From a state with small bonds one with the largest, coarsely."""
        return self.grown(psi, bond).psi

    def expanded(self, search: Vumps, bond: int) -> Mixed:
        """The state of a search with larger bonds, the new directions without weight."""
        return expanded(search, bond)

    def stirred(self, psi: Mixed, rng: np.random.Generator) -> Mixed:
        """With a little noise: without it a search stays where a symmetry holds that the ground state breaks."""
        size = np.sqrt(psi.bond) if psi.conserved is None else 1.0  # of a centre as large as an isometry
        return psi.nearest_to([x + NOISE * size * gaussian(rng, x) for x in psi.vectors()])

    def grown(self, psi: Mixed, bond: int) -> Vumps:
        """The search at a bond dimension, coarsely, by way of smaller ones."""
        search = self.settled_from(psi, COARSE)[0]
        while min(search.psi.dims) < bond and not self.parted:
            size = sum(search.psi.dims)
            search.look()
            psi = self.expanded(search, min(bond, 2 * search.psi.bond))
            if sum(psi.dims) > size:
                search = self.settled_from(psi, COARSE)[0]
            if sum(search.psi.dims) <= size:  # larger bonds have no weight
                break
        return search

    def settled_from(self, psi: Mixed, gradient: float, gain: float | None = None) -> tuple[Vumps, bool, str]:
        """A search from a state, whether it reached its end, and what is said of how.

        Steps to the lowest centres are the quickest, but change all of them at once, and may overshoot: then steps of
        few products, and then gradients.
        """
        self.calmest = np.inf, psi
        for most in () if self.descends and gain is not None else (MANY, FEW):
            search = Vumps(self.H, psi, self.scale, most)
            if self.until(search, gradient, gain):
                return search, True, ""
            if self.parted:
                break
        return self.otherwise(psi, GAIN if gain is None else gain)

    def until(self, search: Vumps, gradient: float, gain: float | None = None) -> bool:
        """Steps until the gradient is small, and so are all gains to come; whether that was reached.

        Given up where neither the gradient nor the energy has had a new least value for long; a saddle is left slowly.
        """
        energies, least, since, reached = [], np.inf, 0, False
        for _ in range(self.maxiter):
            psi = search.psi
            try:
                search.step()
            except ConvergenceError:  # of environments
                if search.trim():
                    continue
                break  # close to a sum of several states
            lower = search.energy < min(energies, default=np.inf) - LEAST * self.scale
            energies.append(search.energy)
            if search.energy < self.least:
                self.lowest, self.least = psi, search.energy
            if search.slope < self.calmest[0]:
                self.calmest = search.slope, psi
            note(self.bar, energies, search.slope)
            parted = self.is_above_domains(search.energy)
            since = 0 if search.slope < least or (lower and not parted) else since + 1
            least = min(least, search.slope)
            reached = search.slope <= gradient * self.scale and (
                gain is None or is_steady(search.energies, WINDOW, self.scale, gain)
            )
            if reached or since > PATIENCE:
                break
        self.history.extend(energies)
        self.parted = not reached and self.is_above_domains(search.energy)
        return reached

    def is_above_domains(self, energy: float) -> bool:
        """Whether states of other charges, side by side, are lower; without charges they are states of this search."""
        return False

    def otherwise(self, psi: Mixed, tol: float) -> tuple[Vumps, bool, str]:
        """From `psi` on by L-BFGS in the metric of the state, which only ever lowers the energy; as `settled_from`.

        In rounds, each around the state of the last one: its weights are divided by as finely as that one gained.
        """
        state, energies, floor = psi.state(), [], FIRST_FLOOR
        for done in range(0, self.maxiter, ROUND):
            around = Neighbourhood(state, floor)
            limits = {"gtol": 0.0, "ftol": 0.0, "maxiter": min(ROUND, self.maxiter - done)}
            found = minimize(partial(around.energy, H=self.h), around.nowhere(), progress=self.bar, **limits)
            state, scale = around.state(found.params), abs(found.fun) or 1.0
            energies.extend(found.history)
            self.history.extend(found.history)
            if found.message == BY_USER:
                self.lowest = Mixed.of(state)
                raise KeyboardInterrupt
            search = Vumps(self.H, Mixed.of(state), self.scale)
            try:
                search.look()
                search.look()  # to residuals that suit this gradient
            except ConvergenceError:
                search.slope = np.inf
            flat = search.slope <= np.sqrt(tol) * self.scale
            reached = bool(flat and is_steady(energies, ROUND, scale, tol))
            if reached or is_steady(energies, ROUND, scale, FINER * tol) or not found.nit:
                break
            floor = float(np.clip(0.3 * np.sqrt((found.history[0] - found.fun) / scale), *FLOORS))
        why = "" if self.descends else ", for steps to the lowest centres went round in circles"
        return search, reached, f" by gradients{why}"

    def others(self, best: Vumps, found: Sequence[Vumps]) -> str:
        """What is said of starts that led to other states of the same energy."""
        near = [x for x in found if x is not best and x.energy - best.energy < COARSE**2 * self.scale]
        other = sum(largest_two(best.psi.rights, x.psi.rights)[1] < (1 - OTHER) ** len(self.H) for x in near)
        return f"; {other} of {len(found)} starts led to other states of nearly this energy" if other else ""


def is_steady(energies: Sequence[float], window: int, scale: float, tol: float) -> bool:
    """Whether the last steps leave less than this to gain, beside a scale, as a window and the one before tell."""
    if len(energies) <= 2 * window:
        return False
    last, before = (abs(energies[-k - window] - energies[-k]) / scale for k in (1, 1 + window))
    return is_settled(last, before, tol)
