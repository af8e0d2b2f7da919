"""Derivatives of evolutions by an adjoint state that has bonds of its own.

A loss of the final state phi of norm 1 changes by ``Re <x|d phi>``.  The adjoint state x is a chain that evolves back
as the state evolves forth, piece by piece (`qad.mps.evolve.recorded`), truncated at its own weights: with U_k what a
piece does to the state, and n_k the norm that it leaves, ``x_(k-1) = U_k^H x_k / n_k``.  What a change does to it is
never asked to fit into its bonds on the way, no cut is differentiated, and nothing is divided by Schmidt values but
those of the final state, once (`qad.mps.evolve.changes.adjoint_of`).  By gates the derivative is that of the product
formula, by ``exp(F H)`` that of the exponential itself, with the errors of shorter steps than the value has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import vjp
from qad.mps.evolve.adjoint import UNCUT, spacing
from qad.mps.evolve.changes import FINEST, adjoint_of, filled, of_operator, portion, with_changes
from qad.mps.evolve.room import Run
from qad.mps.evolve.tebd import between
from qad.mps.evolve.truncation import Truncation
from qad.showing.progress import bar_for
from qad.symmetric.generic import aligned_numbers, with_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.mps.evolve.adjoint import EvolutionMethod
    from qad.mps.evolve.recorded import GateSteps, Take, TdvpSteps

NO_ROOM = (
    "a change of the Hamiltonian, the time or the state may lead to directions for which the bonds of the final state "
    "have no room (to {:.2g} of the change): the derivative would miss them. Give a larger bond, or, if nothing that "
    "you differentiate by makes that change (it breaks a symmetry, say), evolve(..., reach=1.0)"
)


class AdjointState:
    """An evolution whose derivative has an adjoint state; one that is cut ends early.

    What steps are made of, and the start, are those of `qad.mps.evolve.adjoint.evolved`.
    """

    def __init__(self, plan: EvolutionMethod, made: Sequence[Any], start: Sequence[Any]):
        self.plan: EvolutionMethod = plan
        self.made: Sequence[Any] = made
        self.start: Sequence[Any] = start
        self.kind: GateSteps | TdvpSteps = plan.kind
        truncation = Truncation(plan.bond, plan.cutoff)
        self.run: Run = self.forth(self.kind, truncation)
        for k in range(self.kind.pieces):
            self.run.step(k)
            if truncation.discarded > UNCUT:
                break
        self.lost: float = truncation.discarded
        self.gained: float = sum(self.run.gains)
        self.missed: float = self.run.missed
        self.final: Sequence[Any] = self.run.tensors
        self.lacked: float = 0.0
        if self.lost <= UNCUT:
            self.final, self.lacked = filled(self.final, self.changed, plan.bond, plan.reach)

    def forth(self, kind: GateSteps | TdvpSteps, truncation: Truncation) -> Run:
        """What takes the first state through pieces."""
        keep = spacing(self.start, self.plan.bond, kind.pieces)
        return Run(self.start, kind.forth(self.made, truncation), self.plan.room(), keep)

    def wide(self, take: Callable[..., Take], bond: int, cutoff: float, start: Sequence[Any] = ()) -> Run:
        """What takes another chain through pieces, with bonds of its own."""
        return Run(start, take(self.made, Truncation(bond, cutoff)), self.plan.room(bond=bond, cutoff=cutoff))

    def changed(self, rng: np.random.Generator, bond: int) -> list[Any]:
        """What random changes on the way make of the state at the end."""
        change, log, state = self.wide(self.kind.forth, bond, FINEST), 0.0, self.run.stored[0]
        for k in range(self.kind.pieces):
            state = self.run.stored[k] if k in self.run.stored else self.run.again(state, k - 1)
            rounds, inside = divmod(k, self.kind.per_round)
            if not inside and (some := portion(rounds, len(self.kind))):
                before = change.tensors and [change.tensors[0] * np.exp(log), *change.tensors[1:]]
                operators = (of_operator(self.plan.sites, rng) for _ in some)
                change.tensors, log = with_changes(before, state, operators, bond), 0.0
            log += change.step(k) - self.run.gains[k]
        return change.tensors

    def slopes(self, slopes: Sequence[Any], by_norm: np.ndarray) -> tuple[list[Any], list[Any]]:
        """Gradients by what steps are made of and the first state, from those by the tensors of the final one."""
        if self.lacked > self.plan.reach:
            raise ArgumentError(NO_ROOM.format(self.lacked))
        kind = self.kind.finer(self.made)
        adjoint, size = adjoint_of(self.final, slopes, float(by_norm.real), kind.faint)
        if not size > 0:
            return [0 * x for x in self.made], [0 * x for x in self.start]
        back, log, run = self.wide(kind.back, 2 * self.plan.bond, kind.faint, adjoint), np.log(size), self.run
        if kind is not self.kind:  # the adjoint state comes from the end, the state to the last point
            run, last = self.forth(kind, Truncation(self.plan.bond, self.plan.cutoff)), kind.pieces - 1
            log += run.advance(last) - self.gained + back.step(last)
        after = run.tensors
        total = [0 * x.astype(np.result_type(x.dtype, 1j)) for x in self.made]
        with bar_for(label="gradient", total=len(run.gains)) as bar:
            for k, before in run.backwards():
                states = before, after, run.gains[k]
                for place, slope in kind.slopes(self.made, back.tensors, states, k):
                    total[place] = total[place] + np.exp(log) * slope
                log, after = log + back.step(k) - run.gains[k], before
                bar.update()
        by_start = vjp(lambda *tensors: between(back.tensors, tensors), *self.start)[1](np.asarray(np.exp(log) + 0j))
        return tuple(list(map(real_as, *pair)) for pair in ((total, self.made), (by_start, self.start)))


def real_as(slope: Any, x: Any) -> Any:
    """A gradient in the dtype of what it belongs to, a real one of what is real."""
    values = aligned_numbers(x, slope)
    return with_numbers(x, (values if x.dtype.kind == "c" else values.real).astype(x.dtype))
