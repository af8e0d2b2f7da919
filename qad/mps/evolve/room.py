"""When bonds get room in the course of an evolution, and account of what is missed all the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.mps.energy.hamiltonian import strength
from qad.mps.evolve.enrich import Reach, largest, sizes
from qad.mps.evolve.neighbours import of_neighbours
from qad.mps.kernels.operators import operator_for
from qad.mps.operators.mpo import plain_of
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qad.mps.evolve.recorded import Take
    from qad.mps.operators.mpo import MPO

BUDGET = 1e-7  # error of all cuts in unit time where the method has hardly an error of its own
SOON, LATE = 4, 10  # steps between two looks at what is missed, where bonds may grow and where they may not


@dataclass
class Room:
    """Gives a chain room for what a Hamiltonian leads to, step by step, and keeps account of what is missed.

    At the start directions are added; later where more than `least` is missed per time.  It looks one step after that
    again, else some steps further on.

    Parameters
    ----------
    reach : Reach
    gap : int
        2 for the variational principle of pairs; 1 for that of single sites, which adds nothing.
    bond, cutoff
        As of `qad.mps.evolve.truncation.Truncation`.
    dt : float
        Length of a step.
    least : float
        Norm of what ``H psi`` may lack.
    """

    reach: Reach
    gap: int
    bond: int
    cutoff: float
    dt: float
    least: float
    error: float = 0.0  # of the steps up to the last look
    step: int = 0
    looked: int = 0
    wait: int = 1  # steps until the next look
    rate: float = 0.0
    made: bool = False

    def before(self, tensors: Sequence[Any]) -> list[Any] | None:
        """To be called before every step; the chain with more room, None where it stays as it is."""
        done, self.step = self.step, self.step + 1
        if done and done - self.looked < self.wait:
            return None
        self.look(tensors, done)
        grows = self.gap == 2 and np.less(sizes(tensors), largest(tensors, self.bond)).any()
        self.wait = SOON if grows else LATE
        if not grows or (done and self.rate <= self.least):
            return None
        out = self.reach.enriched(tensors, self.bond, self.dt, self.cutoff)
        if sizes(out) == sizes(tensors):
            return None
        self.made, self.wait, self.rate = True, 1, self.reach.missed(out, self.gap)
        return out

    def look(self, tensors: Sequence[Any], done: int) -> None:
        """Put down what the steps since the last look missed: with directions added, what was missed after that."""
        rate, steps = self.reach.missed(tensors, self.gap), done - self.looked
        self.error += steps * self.dt * (self.rate if self.made else (self.rate + rate) / 2)
        self.rate, self.looked, self.made = rate, done, False

    def total(self, tensors: Sequence[Any]) -> float:
        """What all steps have missed, at the end."""
        self.look(tensors, self.step)
        return self.error


def room_for(method: str, H: MPO, psi: Any, bond: int, cutoff: float, dt: float) -> Room | None:
    """What gives bonds room for terms beyond neighbours; None where nothing can be missed.

    For states and operators that are recorded, it takes their plain values.
    """
    gap, plain = 1 if method == "tdvp" else 2, plain_of(H)
    if method not in ("tdvp", "tdvp2") or len(H) <= gap or (gap == 2 and of_neighbours(plain)):
        return None
    cuts, dt = 2 * (len(H) - 1), abs(dt)
    least = max(BUDGET * dt * strength(plain.tensors), cuts * np.sqrt(cutoff)) / (dt or 1.0)
    reach = Reach(plain if psi is None or psi.conserved is None else operator_for(psi, plain).sites)
    return Room(reach, gap, bond, cutoff, dt, least)


@dataclass
class Run:
    """A chain that steps take further; before them its bonds may get room.

    Parameters
    ----------
    tensors : list of arrays or SymTensors
        With the centre at site 0; they are left as they are, others take their place.
    take : callable
        ``take(tensors, k)`` returns the tensors after step k, of norm 1, and the logarithm of what the norm gained.
    room : Room, optional
    keep : int, optional
        At which distance the states before steps are stored; by default none is.
    """

    tensors: list[Any]
    take: Take
    room: Room | None = None
    keep: int = 0
    stored: dict[int, list[Any]] = field(default_factory=dict)
    widened: set[int] = field(default_factory=set)  # the steps before which bonds got room
    gains: list[float] = field(default_factory=list)  # of the logarithm of the norm, step by step

    def advance(self, steps: int) -> float:
        """So many steps; the logarithm of what the norm gained."""
        gained = 0.0
        with bar_for(label="evolution", total=steps) as bar:
            for k in range(steps):
                gained += self.step(k)
                bar.update()
        return gained

    def step(self, k: int) -> float:
        """One step, and the logarithm of what the norm gained."""
        if self.keep and k % self.keep == 0:
            self.stored[k] = self.tensors
        if self.room and (wider := self.room.before(self.tensors)):
            self.widened.add(k)
            self.tensors = wider
        self.tensors, gained = self.take(self.tensors, k)
        self.gains.append(float(gained))
        return self.gains[-1]

    def wider(self, H: Sequence[Any], tensors: Sequence[Any], k: int) -> Sequence[Any]:
        """The tensors before step k with the room that they got there, from an operator that is plain or recorded."""
        if k not in self.widened:
            return tensors
        return Reach(H).enriched(tensors, self.room.bond, self.room.dt, self.room.cutoff)

    def again(self, tensors: Sequence[Any], k: int) -> list[Any]:
        """The state after a step, from that before it."""
        return self.take(self.wider(self.room and self.room.reach.sites, tensors, k), k)[0]

    def backwards(self) -> Iterator[tuple[int, Sequence[Any]]]:
        """From the last to the first every step, and the state before it; those that are not stored are made again."""
        for begin in reversed(self.stored):
            states = [self.stored[begin]]
            for k in range(begin, min(begin + self.keep, len(self.gains)) - 1):
                states.append(self.again(states[-1], k))
            yield from zip(reversed(range(begin, begin + len(states))), reversed(states), strict=True)

    @property
    def missed(self) -> float:
        """What the variational principle could not see, up to now."""
        return self.room.total(self.tensors) if self.room else 0.0
