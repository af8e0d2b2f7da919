"""Time evolution as one node of the tape, by a reverse sweep over its steps.

The rule makes every step once more, in recorded operations, and pulls the cotangent back through it; so it needs the
state before each.  States are stored, all of them or at equal distances: a step back in time would divide by Schmidt
values of 1e-12, which a step forward has just made.

A step that is made again has to end in the state of the first time; its bonds may be in other bases.  A cotangent of
its tensors then follows by the overlaps of the two: with O of what stands right of bond i in both,
``b_i = O_i^* a_i O_(i+1)^T``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, any_traced, defvjp, primitive, value_of, vjp
from qad.mps.environments import past_right
from qad.mps.evolve.cut import FIRST, size_of
from qad.mps.evolve.tebd import Truncation
from qad.mps.gauge import carry, check_gauge, largest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from qad.mps.evolve.recorded import GateSteps, TdvpSteps
    from qad.mps.evolve.room import Room
    from qad.typing import Array

    State: TypeAlias = tuple[np.ndarray, ...]

ROUNDING = 1e-4  # slope along a rotation of a bond, relative to the largest slope, that may be rounding
FROZEN = (
    "the derivative of an evolution cannot be frozen, for the dimensions of its bonds follow from values: leave "
    "qad.freeze out, qad.grad(loss) alone is as quick: its time goes into products of matrices"
)
REDONE = (
    "a step of the evolution ended in another state when it was made again: a cut goes through Schmidt values that are "
    "equal but for rounding: give another cutoff or bond"
)
SAME = 1e-10  # difference of the entries of two bases that are one but for rounding
AGAIN = 1e-8  # by which norm and overlap of a state may differ that is found again
MEMORY = 2**29  # bytes that stored states may take before some of them are made again


@dataclass(frozen=True)
class Plan:
    """How a chain evolves.

    Attributes
    ----------
    kind : GateSteps or TdvpSteps
        All steps, or rounds of them.
    made : int
        How many of the arrays a step is made of; the tensors of the chain follow, its centre at site 0.
    bond, cutoff
        As of `Truncation`.
    steered : bool
        What a step is made of is differentiated, not only the state.
    reach
        As of `Truncation`.
    room : callable
        Makes what widens bonds for terms beyond neighbours (`qad.mps.evolve.room`), or None.
    """

    kind: GateSteps | TdvpSteps
    made: int
    bond: int
    cutoff: float
    steered: bool
    reach: float
    room: Callable[[], Room | None]

    @property
    def steps(self) -> int:
        """How many there are."""
        return len(self.kind)

    def run(self, made: Sequence[np.ndarray], start: State, keep: int) -> tuple[State, float, float, float, Course]:
        """The final state, the logarithm of what the norm gained, what was cut off and missed, and the course.

        States are stored before every `keep`-th step.
        """
        state, truncation, room = start, Truncation(self.bond, self.cutoff), self.room()
        course, gained = Course({}, room, set()), 0.0
        for k in range(self.steps):
            if k % keep == 0:
                course.stored[k] = tuple(state)
            wider = room and room.before(state)
            if wider is not None:
                course.widened.add(k)
                state = wider
            state, more = self.step(made, state, k, truncation)
            gained += float(more)
        missed = 0.0 if room is None else room.total(state)
        return tuple(state), gained, float(truncation.discarded), missed, course

    def misses(self, made: Sequence[np.ndarray], start: Sequence[np.ndarray], steps: int) -> bool:
        """Whether bonds lack directions that a change may fill in these steps: derivatives would be refused."""
        room = self.room()
        try:
            for k in range(steps):
                start = (room and room.before(start)) or start
                start, _ = self.step(made, start, k)
        except ArgumentError:
            return True
        return False

    def spacing(self, start: State) -> int:
        """At which distance states are stored."""
        largest = sum(t.itemsize * t.shape[1] for t in start) * self.bond**2
        return max(1, -(-self.steps * largest // MEMORY))

    def step(
        self, made: Sequence[Array], tensors: Sequence[Array], k: int, truncation: Truncation | None = None
    ) -> tuple[list[Array], Array]:
        """One step, plain or recorded: the tensors, and the logarithm of what the norm gained."""
        truncation = truncation or Truncation(self.bond, self.cutoff, self.reach, checked=True)
        out = self.kind.recorded(made, tensors, truncation, k)
        size = size_of(out[0])
        out[0] = out[0] / size
        return out, np.log(size)


@dataclass(frozen=True)
class Course:
    """What the reverse sweep has to know of an evolution.

    Attributes
    ----------
    stored : dict
        States by the step before which they were.
    room : Room or None
        What widened bonds.
    widened : set
        The steps before which it did.
    """

    stored: dict[int, State]
    room: Room | None
    widened: set[int]


@primitive(keeps=True)
def evolved(*arrays: np.ndarray, plan: Plan) -> tuple[tuple[np.ndarray, ...], Course]:
    """The tensors after all steps, the logarithm of what the norm gained, and what was cut off and missed."""
    made, start = arrays[: plan.made], arrays[plan.made :]
    state, *numbers, course = plan.run(made, start, plan.spacing(start))
    return (*state, *map(np.asarray, numbers)), course


def _evolved_vjp(needed, g, ans, *arrays, plan, kept=None):
    if any(type(x) is Tensor for x in arrays):
        raise ArgumentError(FIRST)
    if any_traced(*arrays, *(c for c in g if c is not None)):
        raise ArgumentError(FROZEN)
    made, start, final = arrays[: plan.made], arrays[plan.made :], ans[:-3]
    if kept is None:
        kept = plan.run(made, start, plan.spacing(start))[-1]
    *slopes, by_norm, _, _ = [np.zeros_like(a) if c is None else c.conj() for c, a in zip(g, ans, strict=True)]
    check_bonds(final, slopes)
    by_made, by_state = Reverse(plan, made, kept).sweep(final, slopes, by_norm)
    found = [*by_made, *by_state]
    return tuple(found[i].conj() for i in needed)


defvjp(evolved, shared=_evolved_vjp)


class Reverse:
    """The reverse sweep of one evolution, and the states that it needs."""

    def __init__(self, plan: Plan, made: State, course: Course):
        self.plan: Plan = plan
        self.made: State = made
        self.course: Course = course
        self.again: dict[int, State] = {}

    def sweep(
        self, after: State, slopes: list[np.ndarray], by_norm: np.ndarray
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Gradients by what a step is made of and by the initial state, from those by the final one and the norm."""
        total = [np.zeros_like(x) for x in self.made]
        for k in reversed(range(self.plan.steps)):
            before = self.before(k)
            if self.plan.steered:
                (out, _), pull = vjp(lambda made, state, k=k: self.step(made, state, k), self.made, before)
                by_made, slopes = pull((in_basis_of(out, after, slopes), by_norm))
                total = [a + b for a, b in zip(total, by_made, strict=True)]
            else:
                (out, _), pull = vjp(lambda state, k=k: self.step(self.made, state, k), before)
                (slopes,) = pull((in_basis_of(out, after, slopes), by_norm))
            after = before
        return total, list(slopes)

    def step(self, made: Sequence[Array], state: Sequence[Array], k: int) -> tuple[list[Array], Array]:
        """A step once more, plain or recorded; before it bonds get the room that they got."""
        if k in self.course.widened:
            state = self.course.room.widened(made[1:], state)
        return self.plan.step(made, state, k)

    def before(self, k: int) -> State:
        """The state before step k."""
        stored = self.course.stored
        if k not in stored and k not in self.again:
            known = max(j for j in stored if j < k)
            state, self.again = stored[known], {}
            for j in range(known, k + 1):
                self.again[j] = state
                state = tuple(self.step(self.made, state, j)[0])
        return stored[k] if k in stored else self.again[k]


def in_basis_of(out: Sequence[np.ndarray], after: Sequence[np.ndarray], slopes: list[np.ndarray]) -> list[np.ndarray]:
    """Gradients by the tensors of a chain as those by the tensors of the same state in other bases of its bonds.

    Raises where it is another state.
    """
    if all(alike(a, b) for a, b in zip(out, after, strict=True)):
        return list(slopes)
    overlaps = [np.ones((1, 1))]
    for ket, bra in zip(after[:0:-1], out[:0:-1], strict=True):
        overlaps.append(past_right(overlaps[-1], ket, bra))
    overlap = past_right(overlaps[-1], after[0], out[0])[0, 0]
    if not max(abs(overlap - 1), abs(np.linalg.norm(out[0]) - 1)) <= AGAIN:
        raise ArgumentError(REDONE)
    overlaps = [np.ones((1, 1)), *overlaps[::-1]]
    return [
        carry(left.conj(), slope) @ right.T for left, slope, right in zip(overlaps, slopes, overlaps[1:], strict=False)
    ]


def alike(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two tensors are the same but for rounding; mostly they are to the last bit."""
    return np.array_equal(a, b) or (a.shape == b.shape and bool(np.abs(a - b).max() <= SAME))


def check_bonds(tensors: Sequence[np.ndarray], slopes: Sequence[np.ndarray]) -> None:
    """Raise unless the loss is the same in every basis of the bonds, up to the rounding of faint directions."""
    floor = ROUNDING * max(largest(t) * largest(slope) for t, slope in zip(tensors, slopes, strict=True))
    for here, there, by_here, by_there in zip(tensors, tensors[1:], slopes, slopes[1:], strict=False):
        bond = here.shape[2]
        rows = [x.reshape(-1, bond) for x in (here, by_here.conj())]
        columns = [x.reshape(bond, -1) for x in (there, by_there.conj())]
        check_gauge(rows[0], rows[1], columns[1], columns[0], floor)


def evolution_of(
    made: Sequence[Array], tensors: Sequence[Array], plan: Plan
) -> tuple[list[Array], Array, float, float]:
    """The tensors after all steps, the logarithm of what the norm gained, and what was cut off and missed."""
    *state, gained, lost, missed = evolved(*made, *tensors, plan=plan)
    return state, gained, float(value_of(lost)), float(value_of(missed))
