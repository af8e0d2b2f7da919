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
from qad.extend import defvjp, primitive, value_of, vjp
from qad.extend.recording import directions
from qad.mps.chain.gauge import check_gauge, largest
from qad.mps.chain.row import edges
from qad.mps.evolve.cut import check_first_and_unfrozen
from qad.mps.evolve.room import Run
from qad.mps.evolve.truncation import Truncation
from qad.mps.kernels.environments import past_right
from qad.showing.progress import bar_for
from qad.symmetric.blocks.layout import layout
from qad.symmetric.generic import aligned_numbers, as_map, charges_of, join, laid_out, norm, numbers, with_numbers
from qad.symmetric.legs import Leg
from qad.symmetric.tensor import SymTensor, bare

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.mps.evolve.recorded import GateSteps, TdvpSteps
    from qad.mps.evolve.room import Room
    from qad.typing import Array

ROUNDING = 1e-4  # slope along a rotation of a bond, relative to the largest slope, that may be rounding
REDONE = (
    "a step of the evolution ended in another state when it was made again: a cut goes through Schmidt values that are "
    "equal but for rounding: give another cutoff or bond"
)
UNCUT = 1e-11  # weight that a state may lose on its way for the derivative of the exponential to be that of the value
AGAIN = 1e-8  # by which norm and overlap of a state may differ that is found again
MEMORY = 2**29  # bytes that stored states may take before some of them are made again


@dataclass(frozen=True)
class EvolutionMethod:
    """How a chain evolves, and how that is differentiated.

    Attributes
    ----------
    kind : GateSteps or TdvpSteps
        All steps, or rounds of them.
    sites : list of arrays or SymTensors
        The tensors of the operator, plain.
    bond, cutoff
        As of `qad.mps.evolve.truncation.Truncation`.
    finer : float
        The cutoff of steps that are made again.
    reach
        As of `qad.mps.evolve.truncation.Truncation`.
    room : callable
        Makes what widens bonds for terms beyond neighbours (`qad.mps.evolve.room`), or None.
    adjoint : callable, optional
        What makes the evolution and has its derivative by an adjoint state (`qad.mps.evolve.dual.AdjointState`), where
        nothing to speak of is cut off.  Else steps are made again.
    """

    kind: GateSteps | TdvpSteps
    sites: Sequence[Any]
    bond: int
    cutoff: float
    finer: float
    reach: float
    room: Callable[..., Room | None]
    adjoint: Callable[..., Any] | None

    def run(self, made: Sequence[Any], start: Sequence[Any]) -> Any:
        """All steps, as an `AdjointSweep` or what has its attributes and slopes."""
        done = None if self.adjoint is None else self.adjoint(self, made, start)
        return AdjointSweep(self, made, start) if done is None or done.lost > UNCUT else done

    def step(self, made: Sequence[Any], tensors: Sequence[Any], k: int) -> tuple[list[Any], Array]:
        """One step, plain or recorded: the tensors, and the logarithm of what the norm gained."""
        return self.kind.step(made, tensors, Truncation(self.bond, self.finer, self.reach), k)


@primitive(keeps=True)
def evolved(*arrays: np.ndarray, plan: Any, where: Any) -> tuple[tuple[np.ndarray, ...], Any]:
    """The numbers of all tensors after all steps, the logarithm of what the norm gained, what was cut off and missed.

    `where` tells of which tensors the arrays are: those that steps are made of, and those of the chain, its centre at
    site 0.  Of the final ones their bonds tell, which come last.
    """
    done = done_by(plan, where, arrays)
    found = map(np.asarray, (done.gained, done.lost, done.missed))
    return (*flatten(done.final)[0], *found, *bonds_of(done.final)), done


def done_by(plan: Any, where: Any, arrays: Sequence[np.ndarray]) -> Any:
    """The evolution of what these arrays are the numbers of."""
    done = plan.run(*unflatten(where, arrays))
    done.final = [laid_out(t, 2) for t in done.final]
    return done


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
    check_first_and_unfrozen(*arrays, *g)
    if kept is None:
        kept = done_by(plan, where, arrays)
    n = len(kept.final)
    *slopes, by_norm = [np.zeros_like(a) if c is None else c.conj() for c, a in zip(g[: n + 1], ans, strict=False)]
    slopes = [with_numbers(t, slope) for t, slope in zip(kept.final, slopes, strict=True)]
    check_bonds(kept.final, slopes)
    found = flatten(kept.slopes(slopes, by_norm))[0]
    return tuple(found[i].conj() for i in needed)


defvjp(evolved, shared=_evolved_vjp)


class AdjointSweep:
    """An evolution, of which every step is made again for the derivative; and the states that this needs.

    They are made first by the very steps that are made again: in other bases of bonds faint directions are others.

    Attributes
    ----------
    final : list of arrays or SymTensors
        The state, its centre at site 0.
    gained, lost, missed : float
        The logarithm of what the norm gained; what was cut off, and what the variational principle did not see.
    """

    def __init__(self, plan: EvolutionMethod, made: Sequence[Any], start: Sequence[Any]):
        self.plan: EvolutionMethod = plan
        self.made: Sequence[Any] = made
        truncation, keep = Truncation(plan.bond, plan.finer), spacing(start, plan.bond, len(plan.kind))
        self.run: Run = Run(start, lambda x, k: plan.kind.step(made, x, truncation, k), plan.room(), keep)
        self.gained: float = self.run.advance(len(plan.kind))
        self.final: list[Any] = self.run.tensors
        self.lost: float = float(truncation.discarded)
        self.missed: float = self.run.missed

    def slopes(self, slopes: list[Any], by_norm: Array) -> tuple[list[Any], list[Any]]:
        """Gradients by what a step is made of and by the initial state, from those by the final one and the norm."""
        total, after = [0 * x for x in self.made], self.final
        with bar_for(label="gradient", total=len(self.run.gains)) as bar:
            for k, before in self.run.backwards():
                (out, _), pull = vjp(lambda made, state, k=k: self.step(made, state, k), self.made, before)
                by_made, slopes = pull((in_basis_of(out, after, slopes), by_norm))
                total, after = [a + b for a, b in zip(total, by_made, strict=True)], before
                bar.update()
        return total, list(slopes)

    def step(self, made: Sequence[Any], state: Sequence[Any], k: int) -> tuple[list[Any], Array]:
        """A step once more, plain or recorded; before it bonds get the room that they got."""
        return self.plan.step(made, self.run.wider(made[1:], state, k), k)


def spacing(start: Sequence[Any], bond: int, steps: int) -> int:
    """At which distance states are stored."""
    largest = sum(t.dtype.itemsize * t.shape[1] for t in start) * bond**2
    return max(1, -(-steps * largest // MEMORY))


def in_basis_of(out: Sequence[Any], after: Sequence[Any], slopes: list[Any]) -> list[Any]:
    """Gradients by the tensors of a chain as those by the tensors of the same state in other bases of its bonds.

    Raises where it is another state.
    """
    overlaps = [edges(after)[1]]
    for ket, bra in zip(after[::-1], out[::-1], strict=True):
        overlaps.append(past_right(overlaps[-1], ket, bra))
    overlap = numbers(overlaps[-1]).sum()
    if not max(abs(overlap - 1), abs(norm(out[0]) - 1)) <= AGAIN:
        raise ArgumentError(REDONE)
    found = []
    overlaps.reverse()
    for left, slope, right, new in zip(overlaps[:-1], slopes, overlaps[1:], out, strict=True):
        turned = join(join(left.conj(), slope), right, ((2,), (1,)))
        found.append(with_numbers(new, aligned_numbers(new, turned)))
    return found


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


def evolution_of(made: Sequence[Any], tensors: Sequence[Any], plan: Any) -> tuple[list[Any], Array, float, float]:
    """The tensors after all steps, the logarithm of what the norm gained, and what was cut off and missed.

    In forward mode the steps are recorded one by one, of which a plain evolution tells where bonds get room.
    """
    arrays, where = flatten((list(made), list(tensors)))
    if any("forward" in directions(x) for x in arrays):
        sweep, gained = AdjointSweep(plan, *unflatten(where, [value_of(x) for x in arrays])), 0.0
        for k in range(len(plan.kind)):
            tensors, more = sweep.step(made, tensors, k)
            gained = gained + more
        return tensors, gained, sweep.lost, sweep.missed
    found, n = evolved(*arrays, plan=plan, where=where), len(tensors)
    gained, lost, missed = found[n : n + 3]
    return of_bonds(tensors, found[:n], found[n + 3 :]), gained, float(value_of(lost)), float(value_of(missed))
