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
from math import factorial
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.polynomial import legendre

from qad.core.errors import ArgumentError
from qad.extend import Tensor, any_traced, defvjp, primitive, value_of, vjp
from qad.extend.recording import directions
from qad.mps.energy.hamiltonian import touching
from qad.mps.evolve.adjoint import FROZEN, MEMORY, check_bonds, evolution_of
from qad.mps.evolve.changes import FINEST, LABELS, Label, adjoint_of, filled, of_neighbours, of_operator, portion
from qad.mps.evolve.cut import FIRST
from qad.mps.evolve.room import Sweep, room_for
from qad.mps.evolve.tebd import Truncation
from qad.mps.kernels.dense import edge, past_left
from qad.mps.operators.mpo import MPO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from qad.mps.evolve.adjoint import Plan
    from qad.mps.evolve.room import Room
    from qad.typing import Array

    Chain = list[np.ndarray]

LOOSE = 1e-12  # weight that a cut of the adjoint state discards
UNCUT = 1e-11  # weight that a state may lose on its way for the derivative of the exponential to be that of the value
QUADRATURE = 1e-7  # error of an integral over unit time, of unit vectors
FAST = 4.0  # highest frequency of a local change, over the size of the terms that touch a site
POINTS = 12  # at most, of a step
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

    def run(self, arrays: Sequence[np.ndarray]) -> tuple[Chain, float, float, float, float]:
        """The final state, the logarithm of what its norm gained, what was cut off and missed, and what it lacks.

        Where changes would leave its bonds, the state has room for them, as far as it goes.
        """

    def slopes(self, arrays: Sequence[np.ndarray], final: Sequence[np.ndarray], slopes: Chain, by_norm: float) -> Chain:
        """Gradients by the arrays, from those by the tensors of the final state and the logarithm of its norm."""


@dataclass(frozen=True)
class PairCourse:
    """How a chain evolves by pairs of sites.

    Attributes
    ----------
    steps, bond, cutoff
        As of `qad.mps.evolve.evolve`.
    reach
        As of `qad.mps.evolve.tebd.Truncation`.
    room : callable
        Makes what widens bonds for terms beyond neighbours (`qad.mps.evolve.room`), or None.
    steered, started : bool
        What is differentiated: the operator or the time; the state at the start.
    """

    steps: int
    bond: int
    cutoff: float
    reach: float
    room: Callable[..., Room | None]
    steered: bool
    started: bool

    def truncation(self) -> Truncation:
        """Of the state."""
        return Truncation(self.bond, self.cutoff, self.reach)

    def run(self, arrays: Sequence[np.ndarray]) -> tuple[Chain, float, float, float, float]:
        """Of a factor, an operator and a chain."""
        factor, H, start = taken(arrays)
        sweep = Sweep(H, start, factor, self.truncation(), self.room())
        gained = sum(sweep.advance() for _ in range(self.steps))
        tensors, lost, lacked = sweep.tensors, sweep.truncation.discarded, 0.0
        if lost <= UNCUT:
            tensors, lacked = filled(tensors, lambda label: self.changed(arrays, label), self.truncation())
        return tensors, gained, lost, sweep.missed(), lacked

    def changed(self, arrays: Sequence[np.ndarray], label: Label) -> Chain:
        """What changes at every step make of the state at the end."""
        factor, H, start = taken(arrays)
        state, labelled = Sweep(H, start, factor, self.truncation(), self.room()), [np.eye(LABELS)[None, None], *H]
        truncation = Truncation(label.bond, FINEST)
        room = room_for("tdvp2", MPO(labelled), None, label.bond, FINEST, abs(factor))
        other = None
        for k in range(self.steps):
            label.add(state.tensors, (x for _ in portion(k, self.steps) for x in self.changes(arrays, label.rng, k)))
            other = other or Sweep(labelled, label.tensors, factor, truncation, room)
            other.set_tensors(label.tensors)
            size = np.linalg.norm(label.tensors[0])
            gained = other.advance() - state.advance()
            label.tensors = [size * np.exp(gained) * other.tensors[0], *other.tensors[1:]]
        return label.tensors

    def changes(self, arrays: Sequence[np.ndarray], rng: np.random.Generator, step: int) -> list[list[np.ndarray]]:
        """Random changes before a step, as operators: of the operator; at the start of what is differentiated."""
        H = taken(arrays)[1]
        found = [of_operator(H, rng)] if self.steered or not step else []
        legs = [w.shape[2] for w in H]
        return [*found, of_neighbours(legs, rng)] if self.started and not step else found

    def slopes(self, arrays: Sequence[np.ndarray], final: Sequence[np.ndarray], slopes: Chain, by_norm: float) -> Chain:
        """Gradients by the factor, the operator and the first state."""
        return slopes_of(self, arrays, final, slopes, by_norm)


@primitive
def coursed(*arrays: np.ndarray, course: Course) -> tuple[np.ndarray, ...]:
    """The tensors after all steps, the logarithm of what the norm gained, what was cut off, missed, and is lacking."""
    state, *numbers = course.run(arrays)
    return (*state, *map(np.asarray, numbers))


def taken(arrays: Sequence[np.ndarray]) -> tuple[complex, Sequence[np.ndarray], Sequence[np.ndarray]]:
    """The factor of a step, the operator and the state at the start."""
    n = len(arrays) // 2
    return arrays[0][()], arrays[1 : n + 1], arrays[n + 1 :]


def _coursed_vjp(needed, g, ans, *arrays, course):
    if any(type(x) is Tensor for x in arrays):
        raise ArgumentError(FIRST)
    if any_traced(*arrays, *(c for c in g if c is not None)):
        raise ArgumentError(FROZEN)
    *slopes, by_norm, _, _, _ = [np.zeros_like(a) if c is None else c.conj() for c, a in zip(g, ans, strict=True)]
    check_bonds(ans[:-4], slopes)
    if ans[-1] > course.reach:
        raise ArgumentError(NO_ROOM.format(float(ans[-1])))
    found = course.slopes(arrays, ans[:-4], slopes, float(by_norm.real))
    return tuple(found[i].conj() for i in needed)


defvjp(coursed, shared=_coursed_vjp)


def slopes_of(
    course: PairCourse, arrays: Sequence[np.ndarray], final: Sequence[np.ndarray], slopes: Chain, by_norm: float
) -> Chain:
    """Gradients by the factor, the operator and the first state, from those by the tensors of the final one."""
    factor, H, start = taken(arrays)
    total = [np.zeros(x.shape, np.result_type(x, 1j)) for x in (arrays[0], *H)]
    forth = Forth(course, H, factor, start)
    adjoint, size = adjoint_of(final, slopes, by_norm, LOOSE)
    if not size > 0:
        return [np.zeros_like(x) for x in arrays]
    nodes, weights = lobatto(forth.points)
    wide = {"bond": 2 * course.bond, "cutoff": LOOSE}
    sweep, gained = Sweep(H, adjoint, np.conj(factor), Truncation(**wide), course.room(**wide)), 0.0
    for j, (state, before) in forth.backwards():
        if j < len(nodes) - 1:
            gained += sweep.advance(nodes[j + 1] - nodes[j])
        weight = weights[j] * size * np.exp(gained + before - forth.gained)
        value, pull = vjp(partial(between, sweep.tensors, state), *H)
        total[0] += np.conj(weight * value)
        for sum_, slope in zip(total[1:], pull(np.conj(weight * factor)), strict=False):
            sum_ += slope
    found = [(t if x.dtype.kind == "c" else t.real).astype(x.dtype) for t, x in zip(total, arrays, strict=False)]
    return [*found, *by_start(sweep.tensors, start, size * np.exp(gained - forth.gained))]


def by_start(adjoint: Chain, start: Sequence[np.ndarray], weight: float) -> Chain:
    """Gradients by the tensors of the first state, a weight times the adjoint state being there."""
    pull = vjp(lambda *tensors: element(adjoint, None, tensors), *start)[1]
    found = zip(pull(np.asarray(weight + 0j)), start, strict=True)
    return [(t if x.dtype.kind == "c" else t.real).astype(x.dtype) for t, x in found]


def element(bra: Sequence[Array], H: Sequence[Array] | None, ket: Sequence[Array]) -> Array:
    """``<bra|H|ket>``, or the overlap."""
    env = edge(complex) if H is not None else edge(complex)[0]
    for site, tensor in enumerate(ket):
        env = past_left(env, tensor, bra[site], None if H is None else H[site])
    return env.reshape(())


def between(bra: Sequence[Array], ket: Sequence[Array], *H: Array) -> Array:
    """``<bra|H|ket>`` as a function of the tensors of H."""
    return element(bra, H, ket)


class Forth:
    """The state at all points of all steps, found once more; where they are too many, in pieces."""

    def __init__(self, course: PairCourse, H: Sequence[np.ndarray], factor: complex, start: Sequence[np.ndarray]):
        self.course: PairCourse = course
        self.H: Sequence[np.ndarray] = H
        self.factor: complex = factor
        self.points: int = points_for(abs(factor) * FAST * touching(H))
        largest = sum(t.itemsize * t.shape[1] for t in start) * course.bond**2 * (self.points - 1)
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
        sweep = Sweep(self.H, tensors, self.factor, self.course.truncation(), copy(room))
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


def coursed_of(
    made: Sequence[Array], tensors: Sequence[Array], course: Course, plan: Plan
) -> tuple[list[Array], Array, float, float]:
    """The tensors after all steps, the logarithm of what the norm gained, and what was cut off and missed.

    Where so much is cut off that the derivative of the exponential is another, by the reverse sweep of `plan`; so
    also in forward mode, which takes a rule that is linear in its cotangents, as a chain that is compressed is not.
    """
    if any("forward" in directions(x) for x in (*made, *tensors)):
        return evolution_of(made, tensors, plan)
    *state, gained, lost, missed, _ = coursed(*made, *tensors, course=course)
    if float(value_of(lost)) > UNCUT:
        return evolution_of(made, tensors, plan)
    return state, gained, float(value_of(lost)), float(value_of(missed))
