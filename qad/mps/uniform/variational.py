"""The search by `qad.mps.uniform.vumps`: several starts at small bonds, growth, and what is said of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.search.monitor import is_settled
from qad.mps.sites import random_gaussian
from qad.mps.uniform.growth import expanded
from qad.mps.uniform.measures import SINGLE, energy_density, fidelity, largest_two
from qad.mps.uniform.operator import UniformMPO, of_neighbours, size_of
from qad.mps.uniform.result import UniformGroundState
from qad.mps.uniform.schur import Schur
from qad.mps.uniform.state import UniformMPS
from qad.mps.uniform.vumps import Mixed, Vumps
from qad.optimize.progress import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Progress

FIRST, JUDGED = 4, 8  # bonds of random states, and of the states among which the lowest is chosen
COARSE = 1e-3  # gradient, beside the size of the terms, at which a smaller bond is good enough to grow from
SHARE = 5e-3  # of the root of the tolerance of energies, below which the gradient is to be in the end
WINDOW = 4  # steps over which the gain is judged
NOISE = 1e-2  # of the last stage, at the beginning
OTHER = 1e-3  # how far the overlap per site of different states is from 1, at least


def variational(
    h: np.ndarray | UniformMPO, starts: Sequence[UniformMPS], bond: int, bar: Progress, tol: float, maxiter: int,
    rng: np.random.Generator,
) -> UniformGroundState:
    """The ground state from the best of several starts."""
    run = Run(h, len(starts[0]), bar, maxiter, np.result_type(starts[0].dtype, h.dtype, np.float64))
    found = [run.grown(Mixed.of(start), min(bond, max(JUDGED, start.bond))) for start in starts]
    best = min(found, key=lambda search: search.energy)
    others = run.others(best, found)
    last = run.grown(best.psi, bond)
    last.psi = stirred(last.psi, rng)
    converged = run.until(last, SHARE * np.sqrt(tol), tol)
    state = last.psi.state()
    cast = UniformMPS([t.astype(np.result_type(starts[0].dtype, h.dtype), copy=False) for t in state])
    ended = "converged" if converged else f"stopped after {maxiter} steps"
    message = f"{ended}: the gradient's norm is {last.slope:.1e}{others}{said_of(cast)}"
    energy = float(energy_density(cast, h))
    return UniformGroundState(cast, energy, np.array([*run.history, energy]), converged, message, last.slope)


def said_of(state: UniformMPS) -> str:
    """A warning where a state is a sum of several ones."""
    if state.bond == 1:
        return ""
    second, first = largest_two(state)
    return "; the state is a sum of several ones, of which a larger cell may hold one" if second > SINGLE * first else ""


def stirred(psi: Mixed, rng: np.random.Generator) -> Mixed:
    """The state with a little noise: without it a search stays where a symmetry holds that the ground state breaks."""
    noisy = [x + NOISE * random_gaussian(rng, *x.shape, x.dtype) for x in (*psi.centres, *(c[None] for c in psi.bonds))]
    return Mixed.nearest(noisy[: len(psi)], [c[0] for c in noisy[len(psi) :]])


class Run:
    """What the stages of a search share.

    Attributes
    ----------
    history : list of float
        The energy before every step, of all starts one after the other.
    """

    H: Schur
    scale: float
    history: list[float]

    def __init__(self, h: np.ndarray | UniformMPO, cell: int, bar: Progress, maxiter: int, dtype: np.dtype):
        H = (h if isinstance(h, UniformMPO) else of_neighbours(h)).repeated(cell)
        self.H, self.scale = Schur(H, dtype), size_of(H)
        self.bar, self.maxiter, self.history = bar, maxiter, []

    def grown(self, psi: Mixed, bond: int) -> Vumps:
        """The search at a bond dimension, coarsely, by way of smaller ones."""
        search = Vumps(self.H, psi, self.scale)
        self.until(search, COARSE)
        while search.psi.bond < bond:
            size = search.psi.bond
            search.look()
            search = Vumps(self.H, expanded(search, min(bond, 2 * size)), self.scale)
            if search.psi.bond == size:
                break
            self.until(search, COARSE)
        return search

    def until(self, search: Vumps, gradient: float, gain: float | None = None) -> bool:
        """Steps until the gradient is small, and so are all gains to come; whether that was reached."""
        energies: list[float] = []
        for _ in range(self.maxiter):
            search.step()
            energies.append(search.energy)
            note(self.bar, energies, search.slope)
            if search.slope <= gradient * self.scale and (gain is None or self.settled(search.energies, gain)):
                self.history.extend(energies)
                return True
        self.history.extend(energies)
        return False

    def settled(self, energies: list[float], gain: float) -> bool:
        """Whether the last steps leave less than this to gain, beside the size of the terms."""
        if len(energies) <= 2 * WINDOW:
            return False
        last, before = (energies[-k - WINDOW] - energies[-k] for k in (1, 1 + WINDOW))
        return is_settled(abs(last) / self.scale, abs(before) / self.scale, gain)

    def others(self, best: Vumps, found: Sequence[Vumps]) -> str:
        """What is said of starts that led to other states of the same energy."""
        near = [x for x in found if x is not best and x.energy - best.energy < COARSE**2 * self.scale]
        other = sum(fidelity(x.psi.state(), best.psi.state()) < 1 - OTHER for x in near)
        return f"; {other} of {len(found)} starts led to other states of nearly this energy" if other else ""
