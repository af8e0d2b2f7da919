"""Derivatives of ``exp(F H) psi`` by an adjoint state that has bonds of its own.

F is the factor of all steps, ``-i t`` in real time.  A loss of the final state phi of norm 1 changes by
``Re <x|d phi>``.  With ``|x(s)> = exp(conj(F) (1 - s) H) |x>``, the evolution going from s = 0 to 1::

    by H:  dL = Re F int_0^1 <x(s)| dH |psi(s)> ds     by F:  Re <x|H phi> dF     by psi:  Re <x(0)|d psi>

The adjoint state x is a chain that evolves back as the state evolves forth, truncated at its own weights.  What a
change does to the state is never asked to fit into its bonds on the way, no cut is differentiated, and nothing is
divided by Schmidt values but those of the final state, once.  The integral of every step is taken at the points of
Gauss and Lobatto, between which both chains take steps of their own: the derivative is that of the exponential itself,
with the errors of shorter steps than the value has.  P. J. Davis and P. Rabinowitz, Methods of Numerical Integration,
section 2.7.
"""

from __future__ import annotations

from copy import copy
from functools import partial
from math import factorial
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import legendre

from qad.core.errors import ArgumentError
from qad.extend import vjp
from qad.linalg.krylov.lanczos import on_host
from qad.mps.chain.row import edges
from qad.mps.energy.hamiltonian import touching
from qad.mps.evolve.adjoint import MEMORY, UNCUT
from qad.mps.evolve.changes import FINEST, LABELS, Label, adjoint_of, filled, of_neighbours, of_operator, portion
from qad.mps.evolve.enrich import Reach
from qad.mps.evolve.room import Sweep
from qad.mps.evolve.truncation import Truncation
from qad.mps.kernels.dense import past_left
from qad.symmetric.generic import aligned_numbers, dense, norm, numbers, with_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from qad.mps.evolve.adjoint import EvolutionMethod
    from qad.mps.evolve.room import Room
    from qad.typing import Array

    Chain = list[Any]  # arrays or SymTensors

LOOSE = 1e-12  # weight that a cut of the adjoint state discards
FAST = 4.0  # highest frequency of a local change, over the size of the terms that touch a site
QUADRATURE = 1e-7  # error of an integral over unit time, of unit vectors
POINTS = 12  # at most, of a step
NO_ROOM = (
    "a change of the Hamiltonian, the time or the state may lead to directions for which the bonds of the final state "
    "have no room (to {:.2g} of the change): the derivative would miss them. Give a larger bond, or, if nothing that "
    "you differentiate by makes that change (it breaks a symmetry, say), evolve(..., reach=1.0)"
)


class Paired:
    """An evolution by pairs of sites, whose derivative has an adjoint state.

    The operator may be recorded, and the time; `plan` is a `qad.mps.evolve.adjoint.EvolutionMethod`.
    """

    final: Sequence[Any]
    lacked: float

    def __init__(self, plan: EvolutionMethod, made: Sequence[Any], start: Sequence[Any]):
        self.plan: EvolutionMethod = plan
        self.factor: complex = on_host(made[0][()])
        self.made: Sequence[Any] = made
        self.start: Sequence[Any] = start
        sweep = self.forth()
        self.gained: float = sum(sweep.step() for _ in range(len(plan.kind)))
        self.lost: float = sweep.truncation.discarded
        self.missed: float = sweep.missed
        self.final, self.lacked = sweep.tensors, 0.0
        if self.lost <= UNCUT:
            self.final, self.lacked = filled(sweep.tensors, self.changed, plan.bond, plan.reach)

    def forth(self) -> Sweep:
        """What takes the first state through all steps."""
        return self.sweep(self.plan.kind.kernel, self.start, self.plan.bond, self.plan.cutoff, self.plan.room())

    def sweep(self, kernel: Any, start: Sequence[Any], bond: int, cutoff: float, room: Room | None) -> Sweep:
        """What takes a chain through steps."""
        return Sweep(kernel, start, self.factor, Truncation(bond, cutoff), room)

    def changed(self, label: Label) -> Chain:
        """What changes at every step make of the state at the end."""
        state, labelled, other = self.forth(), self.plan.kind.kernel.with_label(LABELS), None
        room = self.plan.room(bond=label.bond, cutoff=FINEST)
        if room:
            room.reach = Reach(labelled.sites)
        for k in range(len(self.plan.kind)):
            some = (x for _ in portion(k, len(self.plan.kind)) for x in self.changes(label.rng, k))
            label.add(state.tensors, some)
            other = other or self.sweep(labelled, label.tensors, label.bond, FINEST, room)
            other.set_tensors(label.tensors)
            size = norm(label.tensors[0])
            gained = other.step() - state.step()
            label.tensors = [other.tensors[0] * (size * np.exp(gained)), *other.tensors[1:]]
        return label.tensors

    def changes(self, rng: np.random.Generator, step: int) -> list[list[Any]]:
        """Random changes before a step, as operators: of the operator; at the start of what is differentiated."""
        found = [of_operator(self.made[1:], rng)] if self.plan.steered or not step else []
        return [*found, of_neighbours(self.start, rng)] if self.plan.started and not step else found

    def slopes(self, slopes: Chain, by_norm: np.ndarray) -> tuple[Chain, Chain]:
        """Gradients by the factor, the operator and the first state, from those by the tensors of the final one."""
        check_room(self.lacked, self.plan.reach)
        total = [0 * x.astype(np.result_type(x.dtype, 1j)) for x in self.made]
        adjoint, size = adjoint_of(self.final, slopes, float(by_norm.real), LOOSE)
        if not size > 0:
            return [0 * x for x in self.made], [0 * x for x in self.start]
        forth = Forth(self)
        nodes, weights = lobatto(forth.points)
        wide = {"bond": 2 * self.plan.bond, "cutoff": LOOSE}
        back, gained = self.sweep(self.plan.kind.kernel, adjoint, **wide, room=self.plan.room(**wide)), 0.0
        back.factor = np.conj(self.factor)
        for j, (state, before) in forth.backwards():
            if j < len(nodes) - 1:
                gained += back.step(share=nodes[j + 1] - nodes[j])
            weight = weights[j] * size * np.exp(gained + before - forth.gained)
            value, pull = vjp(partial(between, back.tensors, state), *self.made[1:])
            by_made = np.conj(weight * value), *pull(np.conj(weight * self.factor))
            total = [sum_ + slope for sum_, slope in zip(total, by_made, strict=True)]
        found = [real_as(t, x) for t, x in zip(total, self.made, strict=True)]
        return found, by_start(back.tensors, self.start, size * np.exp(gained - forth.gained))


def check_room(lacked: float, reach: float) -> None:
    """Raise where the bonds of the final state have no room for what a change does."""
    if lacked > reach:
        raise ArgumentError(NO_ROOM.format(lacked))


def real_as(slope: Any, x: Any) -> Any:
    """A gradient in the dtype of what it belongs to, a real one of what is real."""
    values = aligned_numbers(x, slope)
    return with_numbers(x, (values if x.dtype.kind == "c" else values.real).astype(x.dtype))


def by_start(adjoint: Chain, start: Sequence[np.ndarray], weight: float) -> Chain:
    """Gradients by the tensors of the first state, a weight times the adjoint state being there."""
    pull = vjp(lambda *tensors: element(adjoint, None, tensors), *start)[1]
    return [real_as(t, x) for t, x in zip(pull(np.asarray(weight + 0j)), start, strict=True)]


def element(bra: Sequence[Any], H: Sequence[Any] | None, ket: Sequence[Any]) -> Array:
    """``<bra|H|ket>``, or the overlap."""
    env = edges(ket, H or ())[0]
    for site, tensor in enumerate(ket):
        env = past_left(env, tensor, bra[site], None if H is None else H[site])
    return numbers(env).sum() + 0j


def between(bra: Sequence[Any], ket: Sequence[Any], *H: Any) -> Array:
    """``<bra|H|ket>`` as a function of the tensors of H."""
    return element(bra, H, ket)


class Forth:
    """The state at all points of all steps, found once more; where they are too many, in pieces."""

    def __init__(self, run: Paired):
        self.run: Paired = run
        self.steps: int = len(run.plan.kind)
        self.points: int = points_for(abs(run.factor) * FAST * touching([dense(w) for w in run.made[1:]]))
        largest = sum(t.dtype.itemsize * t.shape[1] for t in run.start) * run.plan.bond**2 * (self.points - 1)
        self.spacing: int = max(1, MEMORY // largest)
        self.room: Room | None = run.plan.room()
        self.begins: list[tuple[Chain, float, Room | None]] = [(list(run.start), 0.0, copy(self.room))]
        self.last: list[tuple[Chain, float]] = []
        for first in range(0, self.steps, self.spacing):
            self.last = self.piece(first)
            self.begins.append((*self.last[-1], self.room))
        self.gained: float = self.last[-1][1]

    def piece(self, first: int) -> list[tuple[Chain, float]]:
        """The states of some steps, and the logarithms of their norms."""
        tensors, gained, room = self.begins[first // self.spacing]
        plan = self.run.plan
        sweep = self.run.sweep(plan.kind.kernel, tensors, plan.bond, plan.cutoff, copy(room))
        found, steps = [(list(tensors), gained)], min(self.spacing, self.steps - first)
        for share in np.tile(np.diff(lobatto(self.points)[0]), steps):
            gained += sweep.step(share=share)
            found.append((list(sweep.tensors), gained))
        self.room = sweep.room
        return found

    def backwards(self) -> Iterable[tuple[int, tuple[Chain, float]]]:
        """From the last to the first the points of each step, by their number in it, and the states there.

        Where two steps meet there are two points.
        """
        for first in reversed(range(0, self.steps, self.spacing)):
            found = self.last if first + self.spacing >= self.steps else self.piece(first)
            for k in reversed(range(0, len(found) - 1, self.points - 1)):
                yield from ((j, found[k + j]) for j in reversed(range(self.points)))


def lobatto(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Points from 0 to 1, these among them, and weights that integrate polynomials of degree ``2 points - 3``."""
    last = np.append(np.zeros(points - 1), 1.0)
    inner = np.sort(legendre.legroots(legendre.legder(last)).real)
    x = np.concatenate([[-1.0], inner, [1.0]])
    return (1 + x) / 2, 1 / (points * (points - 1) * legendre.legval(x, last) ** 2)


def points_for(angle: float) -> int:
    """How many points resolve the phase that the fastest change turns by in a step."""
    for m in range(3, POINTS):
        constant = m * (m - 1) ** 3 * factorial(m - 2) ** 4 / ((2 * m - 1) * factorial(2 * m - 2) ** 3)
        if constant * angle ** (2 * m - 2) < QUADRATURE:
            return m
    return POINTS
