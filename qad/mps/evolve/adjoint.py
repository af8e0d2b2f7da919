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
from qad.core.trees import flatten, unflatten
from qad.extend import Tensor, any_traced, defvjp, primitive, value_of, vjp
from qad.mps.chain.densities import edges, passed_right
from qad.mps.chain.gauge import check_gauge, largest
from qad.mps.evolve.cut import FIRST, size_of
from qad.mps.evolve.tebd import Truncation
from qad.symmetric.blocks.layout import layout
from qad.symmetric.generic import aligned_numbers, as_map, charges_of, join, norm, numbers, with_numbers
from qad.symmetric.legs import Leg
from qad.symmetric.tensor import SymTensor, bare

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    from qad.mps.evolve.recorded import GateSteps, TdvpSteps
    from qad.mps.evolve.room import Room
    from qad.typing import Array

    State: TypeAlias = tuple[Any, ...]

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
class EvolutionMethod:
    """How a chain evolves.

    Attributes
    ----------
    kind : GateSteps or TdvpSteps
        All steps, or rounds of them.
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
    bond: int
    cutoff: float
    steered: bool
    reach: float
    room: Callable[[], Room | None]

    @property
    def steps(self) -> int:
        """How many there are."""
        return len(self.kind)

    def run(self, made: Sequence[Any], start: State, keep: int) -> tuple[float, float, float, Course]:
        """The logarithm of what the norm gained, what was cut off and missed, and the course.

        States are stored before every `keep`-th step.
        """
        state, truncation, room = start, Truncation(self.bond, self.cutoff), self.room()
        stored: dict[int, State] = {}
        widened: set[int] = set()
        gained = 0.0
        for k in range(self.steps):
            if k % keep == 0:
                stored[k] = tuple(state)
            wider = room and room.before(state)
            if wider is not None:
                widened.add(k)
                state = wider
            state, more = self.step(made, state, k, truncation)
            gained += float(more)
        missed = 0.0 if room is None else room.total(state)
        return gained, float(truncation.discarded), missed, Course(stored, room, widened, tuple(state))

    def misses(self, made: Sequence[Any], start: Sequence[Any], steps: int) -> bool:
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
        largest = sum(t.dtype.itemsize * t.shape[1] for t in start) * self.bond**2
        return max(1, -(-self.steps * largest // MEMORY))

    def step(
        self, made: Sequence[Any], tensors: Sequence[Any], k: int, truncation: Truncation | None = None
    ) -> tuple[list[Any], Array]:
        """One step, plain or recorded: the tensors, and the logarithm of what the norm gained."""
        truncation = truncation or Truncation(self.bond, self.cutoff, self.reach, checked=True)
        out = self.kind.recorded(made, tensors, truncation, k)
        size = size_of(numbers(out[0]))
        out[0] = with_numbers(out[0], numbers(out[0]) / size)
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
    final : tuple
        The tensors after all steps.
    """

    stored: dict[int, State]
    room: Room | None
    widened: set[int]
    final: State


@primitive(keeps=True)
def evolved(*arrays: np.ndarray, plan: EvolutionMethod, where: Any) -> tuple[tuple[np.ndarray, ...], Course]:
    """The numbers of all tensors after all steps, the logarithm of what the norm gained, what was cut off and missed.

    `where` tells of which tensors the arrays are: those that steps are made of, and those of the chain, its centre at
    site 0.  Of the final ones their bonds tell, which come last.
    """
    made, start = unflatten(where, arrays)
    *found, course = plan.run(made, start, plan.spacing(start))
    return (*flatten(course.final)[0], *map(np.asarray, found), *bonds_of(course.final)), course


def bonds_of(tensors: Sequence[Any]) -> list[np.ndarray]:
    """The charges and dimensions of the inner bonds of symmetric tensors, one row for each sector."""
    legs = [t.legs[0] for t in tensors[1:] if type(t) is SymTensor]
    return [np.array([(*charge, dim) for charge, dim in zip(leg.charges, leg.dims, strict=True)]) for leg in legs]


def of_bonds(like: Sequence[Any], values: Sequence[Array], bonds: Sequence[np.ndarray]) -> list[Any]:
    """Site tensors of these numbers and bonds, their other legs those of a chain."""
    if type(like[0]) is not SymTensor:
        return list(values)
    group = like[0].symmetry
    tables = [{tuple(row[:-1]): row[-1] for row in value_of(bond).tolist()} for bond in bonds]
    legs = [like[0].legs[0], *[Leg(table, 1, group) for table in tables], like[-1].legs[2].conj()]
    found = []
    for t, x, left, right in zip(like, values, legs, legs[1:], strict=False):
        found.append(bare(layout((left, t.legs[1], right.conj()), 2, t.layout.total, group), x))
    return found


def _evolved_vjp(needed, g, ans, *arrays, plan, where, kept=None):
    if any(type(x) is Tensor for x in arrays):
        raise ArgumentError(FIRST)
    if any_traced(*arrays, *(c for c in g if c is not None)):
        raise ArgumentError(FROZEN)
    made, start = unflatten(where, arrays)
    if kept is None:
        kept = plan.run(made, start, plan.spacing(start))[-1]
    n, final = len(start), kept.final
    *slopes, by_norm = [np.zeros_like(a) if c is None else c.conj() for c, a in zip(g[: n + 1], ans, strict=False)]
    slopes = [with_numbers(t, slope) for t, slope in zip(final, slopes, strict=True)]
    check_bonds(final, slopes)
    found = flatten(AdjointSweep(plan, made, kept).sweep(final, slopes, by_norm))[0]
    return tuple(found[i].conj() for i in needed)


defvjp(evolved, shared=_evolved_vjp)


class AdjointSweep:
    """The reverse sweep of one evolution, and the states that it needs."""

    def __init__(self, plan: EvolutionMethod, made: State, course: Course):
        self.plan: EvolutionMethod = plan
        self.made: State = made
        self.course: Course = course
        self.again: dict[int, State] = {}

    def sweep(self, after: State, slopes: list[Any], by_norm: np.ndarray) -> tuple[list[Any], list[Any]]:
        """Gradients by what a step is made of and by the initial state, from those by the final one and the norm."""
        total = [0 * x for x in self.made]
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

    def step(self, made: Sequence[Any], state: Sequence[Any], k: int) -> tuple[list[Any], Array]:
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


def in_basis_of(out: Sequence[Any], after: Sequence[Any], slopes: list[Any]) -> list[Any]:
    """Gradients by the tensors of a chain as those by the tensors of the same state in other bases of its bonds.

    Raises where it is another state.
    """
    if all(alike(a, b) for a, b in zip(out, after, strict=True)):
        return list(slopes)
    overlaps = [edges(after)[1]]
    for ket, bra in zip(after[::-1], out[::-1], strict=True):
        overlaps.append(passed_right(overlaps[-1], ket, bra))
    overlap = numbers(overlaps[-1]).sum()
    if not max(abs(overlap - 1), abs(norm(out[0]) - 1)) <= AGAIN:
        raise ArgumentError(REDONE)
    found = []
    overlaps.reverse()
    for left, slope, right, new in zip(overlaps[:-1], slopes, overlaps[1:], out, strict=True):
        turned = join(join(left.conj(), slope), right, ((2,), (1,)))
        found.append(with_numbers(new, aligned_numbers(new, turned)))
    return found


def alike(a: Any, b: Any) -> bool:
    """Whether two tensors are the same but for rounding; mostly they are to the last bit."""
    if a.shape != b.shape or (type(a) is SymTensor and a.layout is not b.layout):
        return False
    one, two = numbers(a), numbers(b)
    return np.array_equal(one, two) or bool(np.abs(one - two).max() <= SAME)


def check_bonds(tensors: Sequence[Any], slopes: Sequence[Any]) -> None:
    """Raise unless the loss is the same in every basis of the bonds, up to the rounding of faint directions."""
    pairs = zip(tensors, slopes, strict=True)
    floor = ROUNDING * max(largest(numbers(t)) * largest(numbers(slope)) for t, slope in pairs)
    for here, there, by_here, by_there in zip(tensors, tensors[1:], slopes, slopes[1:], strict=False):
        (where, rows), (other, columns) = as_map(here, 2), as_map(there, 1)
        places = {charge: k for k, charge in enumerate(charges_of(other))}
        by_rows, by_columns = as_map(by_here.conj(), 2)[1], as_map(by_there.conj(), 1)[1]
        for q, by_q, charge in zip(rows, by_rows, charges_of(where), strict=True):
            k = places[charge]
            check_gauge(q, by_q, by_columns[k], columns[k], floor)


def evolution_of(
    made: Sequence[Any], tensors: Sequence[Any], plan: EvolutionMethod
) -> tuple[list[Any], Array, float, float]:
    """The tensors after all steps, the logarithm of what the norm gained, and what was cut off and missed."""
    arrays, where = flatten((list(made), list(tensors)))
    found, n = evolved(*arrays, plan=plan, where=where), len(tensors)
    gained, lost, missed = found[n : n + 3]
    state = of_bonds(tensors, found[:n], found[n + 3 :])
    return state, gained, float(value_of(lost)), float(value_of(missed))
