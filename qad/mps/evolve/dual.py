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
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.trees import flatten, unflatten
from qad.extend import Tensor, any_traced, defvjp, primitive, value_of, vjp
from qad.extend.recording import directions
from qad.mps.chain.densities import edges, passed_left
from qad.mps.energy.hamiltonian import touching
from qad.mps.evolve.adjoint import FROZEN, MEMORY, bonds_of, check_bonds, evolution_of, of_bonds
from qad.mps.evolve.changes import FINEST, LABELS, Label, adjoint_of, filled, of_neighbours, of_operator, portion
from qad.mps.evolve.cut import FIRST
from qad.mps.evolve.enrich import Reach
from qad.mps.evolve.quadrature import lobatto, points_for
from qad.mps.evolve.room import Sweep
from qad.mps.evolve.tebd import Truncation
from qad.mps.kernels.dense import past_left
from qad.symmetric.generic import aligned_numbers, dense, laid_out, norm, numbers, with_numbers
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from qad.mps.evolve.adjoint import EvolutionMethod
    from qad.mps.evolve.recorded import TdvpSteps
    from qad.mps.evolve.room import Room
    from qad.typing import Array

    Chain = list[Any]  # arrays or SymTensors

LOOSE = 1e-12  # weight that a cut of the adjoint state discards
UNCUT = 1e-11  # weight that a state may lose on its way for the derivative of the exponential to be that of the value
FAST = 4.0  # highest frequency of a local change, over the size of the terms that touch a site
NO_ROOM = (
    "a change of the Hamiltonian, the time or the state may lead to directions for which the bonds of the final state "
    "have no room (to {:.2g} of the change): the derivative would miss them. Give a larger bond, or, if nothing that "
    "you differentiate by makes that change (it breaks a symmetry, say), evolve(..., reach=1.0)"
)


class Course(Protocol):
    """How a chain evolves, forth and back: by pairs of sites (`PairCourse`), or gates (`qad.mps.evolve.response`).

    Attributes
    ----------
    reach : float
        As of `qad.mps.evolve.tebd.Truncation`.
    """

    reach: float

    def run(self, made: Sequence[Any], start: Sequence[Any]) -> tuple[Chain, float, float, float, float]:
        """The final state, the logarithm of what its norm gained, what was cut off and missed, and what it lacks.

        Where changes would leave its bonds, the state has room for them, as far as it goes.
        """

    def slopes(
        self, made: Sequence[Any], start: Sequence[Any], final: Sequence[Any], slopes: Chain, by_norm: float
    ) -> tuple[Chain, Chain]:
        """Gradients by all of these, from those by the tensors of the final state and the logarithm of its norm."""


@dataclass(frozen=True)
class PairCourse:
    """How a chain evolves by pairs of sites.

    Attributes
    ----------
    kind : TdvpSteps
        All steps; it has the operator as sweeps take it.
    bond, cutoff
        As of `qad.mps.evolve.evolve`.
    reach
        As of `qad.mps.evolve.tebd.Truncation`.
    room : callable
        Makes what widens bonds for terms beyond neighbours (`qad.mps.evolve.room`), or None.
    steered, started : bool
        What is differentiated: the operator or the time; the state at the start.
    """

    kind: TdvpSteps
    bond: int
    cutoff: float
    reach: float
    room: Callable[..., Room | None]
    steered: bool
    started: bool

    @property
    def steps(self) -> int:
        """How many there are."""
        return len(self.kind)

    def truncation(self) -> Truncation:
        """Of the state."""
        return Truncation(self.bond, self.cutoff, self.reach)

    def sweep(self, start: Sequence[Any], factor: complex, truncation: Truncation, room: Room | None) -> Sweep:
        """Of a chain, by the operator."""
        return Sweep(self.kind.kernel, start, factor, truncation, room)

    def run(self, made: Sequence[Any], start: Sequence[Any]) -> tuple[Chain, float, float, float, float]:
        """Of a factor and an operator, and a chain."""
        sweep = self.sweep(start, made[0][()], self.truncation(), self.room())
        gained = sum(sweep.advance() for _ in range(self.steps))
        tensors, lost, lacked = sweep.tensors, sweep.truncation.discarded, 0.0
        if lost <= UNCUT:
            tensors, lacked = filled(tensors, lambda label: self.changed(made, start, label), self.truncation())
        return tensors, gained, lost, sweep.missed(), lacked

    def changed(self, made: Sequence[Any], start: Sequence[Any], label: Label) -> Chain:
        """What changes at every step make of the state at the end."""
        factor, truncation = made[0][()], Truncation(label.bond, FINEST)
        state, labelled = self.sweep(start, factor, self.truncation(), self.room()), self.kind.kernel.with_label(LABELS)
        room, other = self.room(bond=label.bond, cutoff=FINEST), None
        if room:
            room.reach = Reach(labelled.sites)
        for k in range(self.steps):
            some = (x for _ in portion(k, self.steps) for x in self.changes(made[1:], start, label.rng, k))
            label.add(state.tensors, some)
            other = other or Sweep(labelled, label.tensors, factor, truncation, room)
            other.set_tensors(label.tensors)
            size = norm(label.tensors[0])
            gained = other.advance() - state.advance()
            label.tensors = [other.tensors[0] * (size * np.exp(gained)), *other.tensors[1:]]
        return label.tensors

    def changes(self, H: Sequence[Any], start: Sequence[Any], rng: np.random.Generator, step: int) -> list[list[Any]]:
        """Random changes before a step, as operators: of the operator; at the start of what is differentiated."""
        found = [of_operator(H, rng)] if self.steered or not step else []
        return [*found, of_neighbours(start, rng)] if self.started and not step else found

    def slopes(
        self, made: Sequence[Any], start: Sequence[Any], final: Sequence[Any], slopes: Chain, by_norm: float
    ) -> tuple[Chain, Chain]:
        """Gradients by the factor, the operator and the first state."""
        return slopes_of(self, made, start, final, slopes, by_norm)


@primitive(keeps=True)
def coursed(*arrays: np.ndarray, course: Course, where: Any) -> tuple[tuple[np.ndarray, ...], Chain]:
    """The numbers of all tensors after all steps, the logarithm of what the norm gained, what was cut off, missed, and
    is lacking; and the bonds, as of `qad.mps.evolve.adjoint.evolved`.
    """
    state, *found = course.run(*unflatten(where, arrays))
    state = [laid_out(t, 2) for t in state]
    return (*flatten(state)[0], *map(np.asarray, found), *bonds_of(state)), state


def _coursed_vjp(needed, g, ans, *arrays, course, where, kept=None):
    if any(type(x) is Tensor for x in arrays):
        raise ArgumentError(FIRST)
    if any_traced(*arrays, *(c for c in g if c is not None)):
        raise ArgumentError(FROZEN)
    made, start = unflatten(where, arrays)
    final = [laid_out(t, 2) for t in course.run(made, start)[0]] if kept is None else kept
    n = len(final)
    *slopes, by_norm = [np.zeros_like(a) if c is None else c.conj() for c, a in zip(g[: n + 1], ans, strict=False)]
    slopes = [with_numbers(t, slope) for t, slope in zip(final, slopes, strict=True)]
    check_bonds(final, slopes)
    if ans[n + 3] > course.reach:
        raise ArgumentError(NO_ROOM.format(float(ans[n + 3])))
    found = flatten(course.slopes(made, start, final, slopes, float(by_norm.real)))[0]
    return tuple(found[i].conj() for i in needed)


defvjp(coursed, shared=_coursed_vjp)


def slopes_of(
    course: PairCourse, made: Sequence[Any], start: Sequence[Any], final: Sequence[Any], slopes: Chain, by_norm: float
) -> tuple[Chain, Chain]:
    """Gradients by the factor, the operator and the first state, from those by the tensors of the final one."""
    (factor, *H), total = made, [0 * x.astype(np.result_type(x.dtype, 1j)) for x in made]
    factor = factor[()]
    forth = Forth(course, H, factor, start)
    adjoint, size = adjoint_of(final, slopes, by_norm, LOOSE)
    if not size > 0:
        return [0 * x for x in made], [0 * x for x in start]
    nodes, weights = lobatto(forth.points)
    wide = {"bond": 2 * course.bond, "cutoff": LOOSE}
    sweep, gained = course.sweep(adjoint, np.conj(factor), Truncation(**wide), course.room(**wide)), 0.0
    for j, (state, before) in forth.backwards():
        if j < len(nodes) - 1:
            gained += sweep.advance(nodes[j + 1] - nodes[j])
        weight = weights[j] * size * np.exp(gained + before - forth.gained)
        value, pull = vjp(partial(between, sweep.tensors, state), *H)
        by_made = np.conj(weight * value), *pull(np.conj(weight * factor))
        total = [sum_ + slope for sum_, slope in zip(total, by_made, strict=True)]
    found = [real_as(t, x) for t, x in zip(total, made, strict=True)]
    return found, by_start(sweep.tensors, start, size * np.exp(gained - forth.gained))


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
        env = past(env, tensor, bra[site], None if H is None else H[site])
    return numbers(env).sum() + 0j


def past(env: Any, ket: Any, bra: Any, w: Any) -> Any:
    """A left environment past one more site."""
    return passed_left(env, ket, bra, w) if type(ket) is SymTensor else past_left(env, ket, bra, w)


def between(bra: Sequence[Any], ket: Sequence[Any], *H: Any) -> Array:
    """``<bra|H|ket>`` as a function of the tensors of H."""
    return element(bra, H, ket)


class Forth:
    """The state at all points of all steps, found once more; where they are too many, in pieces."""

    def __init__(self, course: PairCourse, H: Sequence[Any], factor: complex, start: Sequence[Any]):
        self.course: PairCourse = course
        self.factor: complex = factor
        self.points: int = points_for(abs(factor) * FAST * touching([dense(w) for w in H]))
        largest = sum(t.dtype.itemsize * t.shape[1] for t in start) * course.bond**2 * (self.points - 1)
        self.spacing: int = max(1, MEMORY // largest)
        self.room: Room | None = course.room()
        self.begins: list[tuple[Chain, float, Room | None]] = [(list(start), 0.0, copy(self.room))]
        self.last: list[tuple[Chain, float]] = []
        for first in range(0, course.steps, self.spacing):
            self.last = self.piece(first)
            self.begins.append((*self.last[-1], self.room))
        self.gained: float = self.last[-1][1]

    def piece(self, first: int) -> list[tuple[Chain, float]]:
        """The states of some steps, and the logarithms of their norms."""
        tensors, gained, room = self.begins[first // self.spacing]
        sweep = self.course.sweep(tensors, self.factor, self.course.truncation(), copy(room))
        found, steps = [(list(tensors), gained)], min(self.spacing, self.course.steps - first)
        for part in np.tile(np.diff(lobatto(self.points)[0]), steps):
            gained += sweep.advance(part)
            found.append((list(sweep.tensors), gained))
        self.room = sweep.room
        return found

    def backwards(self) -> Iterable[tuple[int, tuple[Chain, float]]]:
        """From the last to the first the points of each step, by their number in it, and the states there.

        Where two steps meet there are two points.
        """
        for first in reversed(range(0, self.course.steps, self.spacing)):
            found = self.last if first + self.spacing >= self.course.steps else self.piece(first)
            for k in reversed(range(0, len(found) - 1, self.points - 1)):
                yield from ((j, found[k + j]) for j in reversed(range(self.points)))


def coursed_of(
    made: Sequence[Array], tensors: Sequence[Array], course: Course, plan: EvolutionMethod
) -> tuple[list[Array], Array, float, float]:
    """The tensors after all steps, the logarithm of what the norm gained, and what was cut off and missed.

    Where so much is cut off that the derivative of the exponential is another, by the reverse sweep of `plan`; so
    also in forward mode, which takes a rule that is linear in its cotangents, as a chain that is compressed is not.
    """
    if any("forward" in directions(x) for x in (*made, *tensors)):
        return evolution_of(made, tensors, plan)
    arrays, where = flatten((list(made), list(tensors)))
    found, n = coursed(*arrays, course=course, where=where), len(tensors)
    gained, lost, missed, _ = found[n : n + 4]
    if float(value_of(lost)) > UNCUT:
        return evolution_of(made, tensors, plan)
    return of_bonds(tensors, found[:n], found[n + 4 :]), gained, float(value_of(lost)), float(value_of(missed))
