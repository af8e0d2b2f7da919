"""When bonds get room in the course of an evolution, and account of what is missed all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.mps.energy.hamiltonian import strength
from qad.mps.evolve.enrich import Reach, sizes
from qad.mps.evolve.neighbours import of_neighbours
from qad.mps.evolve.tdvp import Tdvp
from qad.mps.kernels.operators import operator_for
from qad.mps.operators.mpo import plain_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.evolve.truncation import Truncation
    from qad.mps.operators.mpo import MPO
    from qad.typing import Array

BUDGET = 1e-7  # error of all cuts in unit time where the method has hardly an error of its own
LONGEST = 10  # steps between two looks at what is missed


class Room:
    """Gives a chain room for what a Hamiltonian leads to, step by step, and keeps account of what is missed.

    At the start directions are added; later where more than `least` is missed per time.  As long as that does not
    happen it looks 4 steps further on, then 10, as it does where bonds are full.

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
    error: float  # of the steps up to the last look
    step: int
    looked: int
    wait: int  # steps until the next look
    rate: float
    made: bool

    def __init__(self, reach: Reach, gap: int, bond: int, cutoff: float, dt: float, least: float):
        self.reach, self.gap, self.bond, self.cutoff = reach, gap, bond, cutoff
        self.dt, self.least, self.error = dt, least, 0.0
        self.step, self.looked, self.wait, self.rate, self.made = 0, 0, 1, 0.0, False

    def before(self, tensors: Sequence[Any]) -> list[Any] | None:
        """To be called before every step; the chain with more room, None where it stays as it is."""
        done, self.step = self.step, self.step + 1
        if done and done - self.looked < self.wait:
            return None
        self.look(tensors, done)
        out, start = None, not done
        if self.gap == 2 and (start or self.rate > self.least) and self.has_room(tensors):
            out = self.reach.enriched(tensors, self.bond, self.dt, self.cutoff)
            self.made = sizes(out) != sizes(tensors)
            self.rate = self.reach.missed(out, self.gap) if self.made else self.rate
            self.wait = 1 if self.made else LONGEST
        elif self.gap == 1 or not self.has_room(tensors):
            self.wait = LONGEST
        else:
            self.wait = min(4 * self.wait, LONGEST)
        return out if self.made else None

    def wider(self, H: Sequence[Array], tensors: Sequence[Array]) -> list[Array]:
        """The chain with the room that H gives it, plain or recorded."""
        return Reach(H).enriched(tensors, self.bond, self.dt, self.cutoff)

    def has_room(self, tensors: Sequence[Any]) -> bool:
        """Whether any bond is smaller than it could be."""
        legs = np.minimum([t.shape[1] for t in tensors], self.bond).astype(float)
        left, right = np.cumprod(legs)[:-1], np.cumprod(legs[::-1])[-2::-1]
        most = np.minimum(np.minimum(left, right), self.bond)
        return bool((np.array(sizes(tensors)) < most).any())

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


class Sweep:
    """A chain that evolves by the variational principle; before a step its bonds get room.

    Parameters
    ----------
    kernel, factor, size
        As of `Tdvp`.
    start : sequence of arrays or SymTensors
        With the centre at site 0; left as they are.
    truncation : Truncation
    room : Room or None
    tol : float, optional
        Error that an exponential may have; by default the root of what a cut may discard.
    steps : int
        How many there are in all.
    """

    def __init__(
        self, kernel: Any, start: Sequence[Any], factor: complex, truncation: Truncation, room: Room | None,
        size: int = 2, tol: float | None = None, steps: int = 1,
    ):  # fmt: skip
        self.factor: complex = factor
        self.truncation: Truncation = truncation
        self.room: Room | None = room
        self.widened: bool = False  # whether bonds got room before the last step
        self.tensors: list[Any] = list(start)
        self.tol: float = np.sqrt(truncation.cutoff) if tol is None else tol
        self.steps: int = steps
        self.tdvp: Tdvp = Tdvp(kernel, self.tensors, factor, self.tol, size)

    def advance(self) -> float:
        """All steps."""
        return sum(self.step() for _ in range(self.steps))

    def set_tensors(self, tensors: Sequence[Any]) -> None:
        """Go on with another chain."""
        self.tensors[:] = tensors
        self.tdvp.surround(self.tensors)

    def step(self, k: int = 0, share: float = 1.0) -> float:
        """A share of a step, after which the norm is 1; the logarithm of what it would have gained."""
        wider = self.room and self.room.before(self.tensors)
        self.widened = wider is not None
        if wider is not None:
            self.set_tensors(wider)
        self.tdvp.set_step(self.factor * share, self.tol)
        return self.tdvp.advance(self.truncation)

    @property
    def missed(self) -> float:
        """What the variational principle could not see, up to now."""
        return self.room.total(self.tensors) if self.room else 0.0
