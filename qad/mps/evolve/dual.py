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
from math import factorial
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import legendre

from qad.core.errors import ArgumentError
from qad.extend import Tensor, any_traced, defvjp, primitive, value_of, vjp
from qad.mps.environments import edge, past_left
from qad.mps.evolve.adjoint import FROZEN, MEMORY, check_bonds, evolution_of
from qad.mps.evolve.changes import changeable, refusal
from qad.mps.evolve.cut import FIRST
from qad.mps.evolve.tdvp import TwoSiteTdvp
from qad.mps.evolve.tebd import Truncation
from qad.mps.gauge import carry, left_isometry, mirrored, truncated
from qad.mps.hamiltonian import touching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from qad.mps.evolve.adjoint import Plan
    from qad.mps.evolve.room import Room
    from qad.typing import Array

    Chain = list[np.ndarray]

FAINT = 1e-8  # Schmidt values of the final state, relative to the largest, by which nothing is divided
LOOSE = 1e-12  # weight that a cut of the adjoint state discards
UNCUT = 1e-11  # weight that a state may lose on its way for the derivative of the exponential to be that of the value
QUADRATURE = 1e-7  # error of an integral over unit time, of unit vectors
FAST = 4.0  # highest frequency of a local change, over the size of the terms that touch a site
POINTS = 12  # at most, of a step


@dataclass(frozen=True)
class Course:
    """How a chain evolves by pairs of sites.

    Attributes
    ----------
    steps, bond, cutoff
        As of `qad.mps.evolve.evolve`.
    reach, ancillas
        As of `qad.mps.evolve.tebd.Truncation`.
    room : callable
        Makes what widens bonds for terms beyond neighbours (`qad.mps.evolve.room`), or None.
    """

    steps: int
    bond: int
    cutoff: float
    reach: float
    ancillas: bool
    room: Callable[..., Room | None]

    def truncation(self) -> Truncation:
        """Of the state."""
        return Truncation(self.bond, self.cutoff, self.reach, self.ancillas)


def ran(
    course: Course, H: Sequence[np.ndarray], factor: complex, start: Sequence[np.ndarray]
) -> tuple[Chain, float, float, float]:
    """The state after all steps, the logarithm of what its norm gained, and what was cut off and missed.

    Where changes would leave its bonds, the state has room for them.
    """
    tensors, truncation, room = list(start), course.truncation(), course.room()
    sweep, gained, several = TwoSiteTdvp(H, tensors, factor, np.sqrt(course.cutoff)), 0.0, 1 if room else course.steps
    for _ in range(0, course.steps, several):
        if room and (wider := room.before(tensors, several)):
            tensors[:] = wider
            sweep.surround(tensors)
        gained += sweep.advance(truncation, several)
    missed = room.total(tensors) if room else 0.0
    if refusal(tensors, course.truncation()):
        tensors = changeable(tensors, course.bond) or changeable(tensors, course.bond, far=False) or tensors
    return tensors, gained, truncation.discarded, missed


@primitive
def coursed(*arrays: np.ndarray, course: Course) -> tuple[np.ndarray, ...]:
    """The tensors after all steps, the logarithm of what the norm gained, and what was cut off and missed."""
    factor, H, start = taken(arrays)
    state, *numbers = ran(course, H, factor, start)
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
    *slopes, by_norm, _, _ = [np.zeros_like(a) if c is None else c.conj() for c, a in zip(g, ans, strict=True)]
    check_bonds(ans[:-3], slopes)
    if error := refusal(ans[:-3], course.truncation()):
        raise error
    found = slopes_of(course, arrays, ans[:-3], slopes, float(by_norm.real))
    return tuple(found[i].conj() for i in needed)


defvjp(coursed, shared=_coursed_vjp)


def slopes_of(
    course: Course, arrays: Sequence[np.ndarray], final: Sequence[np.ndarray], slopes: Chain, by_norm: float
) -> Chain:
    """Gradients by the factor, the operator and the first state, from those by the tensors of the final one."""
    factor, H, start = taken(arrays)
    total = [np.zeros(x.shape, np.result_type(x, 1j)) for x in arrays]
    forth = Forth(course, H, factor, start)
    adjoint, size = adjoint_of(final, slopes, by_norm, LOOSE)
    if not size > 0:
        return [np.zeros_like(x) for x in arrays]
    nodes, weights = lobatto(forth.points)
    sweep = TwoSiteTdvp(H, adjoint, np.conj(factor), np.sqrt(LOOSE))
    wide = {"bond": 2 * course.bond, "cutoff": LOOSE}
    truncation, room, gained = Truncation(**wide), course.room(**wide), 0.0
    for j, (state, before) in forth.backwards():
        if j < len(nodes) - 1:
            if room and (wider := room.before(adjoint)):
                adjoint[:] = wider
                sweep.surround(adjoint)
            sweep.set_step(np.conj(factor) * (nodes[j + 1] - nodes[j]), np.sqrt(LOOSE))
            gained += sweep.advance(truncation, 1)
        weight = weights[j] * size * np.exp(gained + before - forth.gained)
        value, pull = vjp(lambda *sites: element(adjoint, sites, state), *H)  # noqa: B023 (called at once)
        total[0] += np.conj(weight * value)
        for sum_, slope in zip(total[1:], pull(np.conj(weight * factor)), strict=False):
            sum_ += slope
    pull = vjp(lambda *tensors: element(adjoint, None, tensors), *start)[1]
    total[len(H) + 1 :] = pull(np.asarray(size * np.exp(gained - forth.gained) + 0j))
    return [(t if x.dtype.kind == "c" else t.real).astype(x.dtype) for t, x in zip(total, arrays, strict=True)]


def element(bra: Sequence[Array], H: Sequence[Array] | None, ket: Sequence[Array]) -> Array:
    """``<bra|H|ket>``, or the overlap."""
    env = edge(complex) if H is not None else edge(complex)[0]
    for site, tensor in enumerate(ket):
        env = past_left(env, tensor, bra[site], None if H is None else H[site])
    return env.reshape(())


class Forth:
    """The state at all points of all steps, found once more; where they are too many, in pieces."""

    def __init__(self, course: Course, H: Sequence[np.ndarray], factor: complex, start: Sequence[np.ndarray]):
        self.course: Course = course
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
        tensors, self.room, cutoff = list(tensors), copy(room), self.course.cutoff
        sweep = TwoSiteTdvp(self.H, tensors, self.factor, np.sqrt(cutoff))
        truncation = self.course.truncation()
        found, steps = [(list(tensors), gained)], min(self.spacing, self.course.steps - first)
        for share in np.tile(np.diff(lobatto(self.points)[0]), steps):
            if self.room and (wider := self.room.before(tensors)):
                tensors[:] = wider
                sweep.surround(tensors)
            sweep.set_step(self.factor * share, np.sqrt(cutoff))
            gained += sweep.advance(truncation, 1)
            found.append((list(tensors), gained))
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


def adjoint_of(
    tensors: Sequence[np.ndarray], slopes: Sequence[np.ndarray], by_norm: float, cutoff: float
) -> tuple[Chain, float]:
    """The adjoint of a state, of norm 1 with its centre at site 0, and its norm.

    A change of tensor i adds ``L_i C_i dA_i R_i`` to the state, C_i the Schmidt values on its left between orthonormal
    states.  What dA_i has of the rows of A_i itself is a change further left, the rest N_i is orthogonal to all others:
    the adjoint state is the sum of ``L_i (C_i^-H N_i) R_i``.
    """
    first = slopes[0] + (by_norm - np.vdot(tensors[0], slopes[0]).real) * tensors[0]
    found, centre, others = [], tensors[0], [first]
    for tensor, slope in zip(tensors[1:], slopes[1:], strict=True):
        isometry, bond = left_isometry(centre)
        found.append(isometry)
        centre, flat, slope = carry(bond, tensor), tensor.reshape(len(tensor), -1), slope.reshape(len(tensor), -1)
        others.append(carry(inverse(bond), (slope - (slope @ flat.conj().T) @ flat).reshape(tensor.shape)))
    found.append(centre)
    chain = [blocks(*sites) for sites in zip(found, others, tensors, strict=True)]
    chain = [chain[0][:1], *chain[1:-1], chain[-1][:, :, -1:]] if len(chain) > 1 else others
    chain = mirrored(truncated(mirrored(chain), None, np.sqrt(cutoff), checked=False)[0])
    size = float(np.linalg.norm(chain[0]))
    return [chain[0] / (size or 1.0), *chain[1:]], size


def blocks(left: np.ndarray, one: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The tensor of a sum of states that differ from others at one site: these left, `right` right of it."""
    (a, s, b), (c, _, d) = left.shape, right.shape
    out = np.zeros((a + c, s, b + d), one.dtype)
    out[:a, :, :b], out[:a, :, b:], out[a:, :, b:] = left, one, right
    return out


def inverse(bond: np.ndarray) -> np.ndarray:
    """``C^-H`` of a matrix of Schmidt values, but for the faint ones."""
    u, s, vh = np.linalg.svd(bond, full_matrices=False)
    return (u * (s / (s**2 + (FAINT * s[0]) ** 2))) @ vh


def coursed_of(
    made: Sequence[Array], tensors: Sequence[Array], course: Course, plan: Plan
) -> tuple[list[Array], Array, float, float]:
    """The tensors after all steps, the logarithm of what the norm gained, and what was cut off and missed.

    Where so much is cut off that the derivative of the exponential is another, by the reverse sweep of `plan`.
    """
    *state, gained, lost, missed = coursed(*made, *tensors, course=course)
    if float(value_of(lost)) > UNCUT:
        return evolution_of(made, tensors, plan)
    return state, gained, float(value_of(lost)), float(value_of(missed))
