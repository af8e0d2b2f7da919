"""Room in the bonds of a state for what changes make of it.

The cotangent of a chain's tensors knows of a loss what the chain can represent, and of directions without weight
nothing.  Where a state stays what it is, a product of sites say, a change leads to such directions.  Which ones is
found from random changes on the way, of any entry of the operator's tensors that a coefficient may stand in, or by
gates on neighbours: what they make of the state evolves on beside it, as a chain of its own, truncated at its own
weights.  Its first site is a label that tells mixtures of the changes apart, so that one evolution carries them all.
Changes of sites and of neighbours act on a start that is differentiated.  One mixture after the other gets room, until
the next lacks nothing; the directions are added to the bonds, with no weight (`qad.mps.evolve.enrich`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.linalg.truncation.rule import nonzero
from qad.mps.chain.canonical import truncated
from qad.mps.chain.gauge import carry, mirrored
from qad.mps.chain.state import MPS
from qad.mps.evolve.cut import check_reach
from qad.mps.evolve.enrich import MORE, Reach, sizes
from qad.symmetric.generic import qr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from qad.mps.evolve.tebd import Truncation

LABELS, CHANGES = 8, 12  # mixtures of changes that evolve at once, and changes that they are made of
SAMPLES = 32  # mixtures, at most
FINEST = 1e-14  # weight of a direction, relative to all that changes, that counts
FAINT = 1e-8  # Schmidt values of the final state, relative to the largest, by which nothing is divided


def refusal(tensors: Sequence[np.ndarray], truncation: Truncation) -> ArgumentError | None:
    """An error where a change of two neighbours leaves the bonds of a state, whose centre is at site 0."""
    centre = tensors[0]
    for there in tensors[1:]:
        bond = qr(centre)[1]
        values = np.linalg.svdvals(bond)
        rank = nonzero(values, len(values))
        try:
            if rank < truncation.bond:
                check_reach(np.tensordot(centre, there, 1), [rank], truncation, [there.reshape(len(there), -1)])
        except ArgumentError as error:
            return error
        centre = carry(bond, there)
    return None


def filled(
    tensors: list[np.ndarray], changed: Callable[[Label], list[np.ndarray]], truncation: Truncation
) -> tuple[list[np.ndarray], float]:
    """The same state with room for changes, up to twice `bond`; and what a change of norm 1 lacks then.

    A function gives what many changes on the way make of the state, with a label at the left end.
    """
    if truncation.reach >= 1 or refusal(tensors, truncation) is None:
        return tensors, 0.0
    lacked = 0.0
    reach, limits = Reach([np.eye(t.shape[1])[None, None] for t in tensors]), [2 * truncation.bond] * len(tensors)
    for seed in range(SAMPLES // LABELS):
        labels, first, *others = changed(Label(2 * truncation.bond, np.random.default_rng(seed)))
        for mixture in labels[0, :, None]:
            change, before = [np.tensordot(mixture, first, 1), *others], sizes(tensors)
            size, leaving = np.linalg.norm(change[0]), reach.leaving(tensors, 1, change)
            lacked = reach.extended(tensors, change, leaving, [0] * len(tensors), 0.0)[2] / size
            if lacked <= truncation.reach:
                return tensors, lacked
            tensors = reach.extended(tensors, change, leaving, limits, FINEST * size**2)[0]
            if sizes(tensors) == before:
                return tensors, lacked
    return tensors, lacked


@dataclass
class Label:
    """The sum of many changes of a state as a chain, whose first site tells some mixtures of them apart."""

    bond: int
    rng: np.random.Generator
    tensors: list[np.ndarray] = field(default_factory=list)

    def add(self, state: Sequence[np.ndarray], operators: Iterable[Sequence[np.ndarray]]) -> None:
        """What operators make of a state with its centre at site 0, each of norm 1."""
        total = MPS(self.tensors) if self.tensors else None
        for operator in operators:
            mixture = self.rng.standard_normal(LABELS).reshape(1, -1, 1)
            change = MPS([mixture, *applied(operator, state, self.bond)])
            total = change if total is None else total + change
        if total is not None:
            self.tensors = mirrored(truncated(mirrored(total.tensors), self.bond, np.sqrt(FINEST), checked=False)[0])


def portion(k: int, steps: int) -> range:
    """Of the changes that are spread over some steps, those before step k."""
    return range(-(-k * CHANGES // steps), -(-(k + 1) * CHANGES // steps))


def applied(operator: Sequence[np.ndarray], state: Sequence[np.ndarray], bond: int) -> list[np.ndarray]:
    """What an operator makes of a state with its centre at site 0, of norm 1."""
    reach, limits = Reach(operator), [bond] * len(state)
    parts = reach.left_parts(state, bond + MORE)
    size = np.linalg.norm(reach.passed(parts[-1], len(state) - 1, state[-1])) or 1.0
    first, *others = reach.extended(state, state, parts, limits, FINEST * size**2)[1]
    return [first / size, *others]


def of_neighbours(legs: Sequence[int], rng: np.random.Generator) -> list[np.ndarray]:
    """A random operator on sites and pairs of neighbours."""
    out = []
    for leg in legs:
        w = np.zeros((3, 3, leg, leg))
        w[0, 0] = w[2, 2] = np.eye(leg)
        w[0, 1], w[1, 2], w[0, 2] = rng.standard_normal((3, leg, leg))
        out.append(w)
    return [out[0][:1], *out[1:-1], out[-1][:, 2:]]


def of_operator(H: Sequence[np.ndarray], rng: np.random.Generator) -> list[np.ndarray]:
    """A random change of the tensors of an operator, as an operator: the sum of those with one tensor changed.

    Terms that it has may act differently, or begin or end where none does: those whose coefficient is zero.
    """
    out, done, fresh = [], idle(H), idle([w.swapaxes(0, 1) for w in H[::-1]])[::-1]
    for w, ended, begun, new in zip(H, done[1:], fresh, fresh[1:], strict=False):
        leg = w.shape[2]
        there = np.abs(w).max(axis=(2, 3)) > 0
        rows, columns = begun | ~there.any(axis=1), ended | ~there.any(axis=0)
        other = np.zeros((*w.shape[:2], leg, leg))
        some = rows[:, None] & columns | there & ~alone(w)
        other[some] = rng.standard_normal((np.count_nonzero(some), leg, leg))
        other[alone(w)] = rng.standard_normal((np.count_nonzero(alone(w)), 1, 1)) * np.eye(leg)
        other[done[len(out)]], other[:, new] = 0.0, 0.0
        out.append(np.concatenate([np.concatenate([w, other], 1), np.concatenate([np.zeros_like(w), w], 1)]))
    return [out[0][: len(H[0])], *out[1:-1], out[-1][:, H[-1].shape[1] :]]


def alone(w: np.ndarray) -> np.ndarray:
    """Which blocks of a tensor of an operator are the identity but for a factor, not zero."""
    first = w[:, :, :1, :1]
    return (w == first * np.eye(w.shape[2])).all(axis=(2, 3)) & (first[:, :, 0, 0] != 0)


def idle(H: Sequence[np.ndarray]) -> list[np.ndarray]:
    """For every bond, from the first to the last, which of its states are followed by the identity alone."""
    found = [np.ones(1, bool)]
    for w in reversed(H):
        is_one = (w == np.eye(w.shape[2])).all(axis=(2, 3))
        several = np.abs(w).max(axis=(2, 3)) > 0
        found.append((is_one & found[-1]).any(axis=1) & (np.count_nonzero(several, axis=1) == 1))
    return found[::-1]


def adjoint_of(
    tensors: Sequence[np.ndarray], slopes: Sequence[np.ndarray], by_norm: float, cutoff: float
) -> tuple[list[np.ndarray], float]:
    """The adjoint of a state, of norm 1 with its centre at site 0, and its norm.

    A change of tensor i adds ``L_i C_i dA_i R_i`` to the state, C_i the Schmidt values on its left between orthonormal
    states.  What dA_i has of the rows of A_i itself is a change further left, the rest N_i is orthogonal to all others:
    the adjoint state is the sum of ``L_i (C_i^-H N_i) R_i``.
    """
    first = slopes[0] + (by_norm - np.vdot(tensors[0], slopes[0]).real) * tensors[0]
    found, centre, others = [], tensors[0], [first]
    for tensor, slope in zip(tensors[1:], slopes[1:], strict=True):
        isometry, bond = qr(centre)
        found.append(isometry)
        centre, flat, slope = carry(bond, tensor), tensor.reshape(len(tensor), -1), slope.reshape(len(tensor), -1)
        others.append(carry(inverse(bond), (slope - (slope @ flat.conj().T) @ flat).reshape(tensor.shape)))
    found.append(centre)
    if not any(map(np.any, others)):
        return list(tensors), 0.0
    chain = [blocks(*sites) for sites in zip(found, others, tensors, strict=True)]
    chain = [chain[0][:1], *chain[1:-1], chain[-1][:, :, -1:]] if len(chain) > 1 else others
    chain = mirrored(truncated(mirrored(chain), None, np.sqrt(cutoff), checked=False)[0])
    size = float(np.linalg.norm(chain[0]))
    return [chain[0] / (size or 1.0), *chain[1:]], size


def blocks(left: np.ndarray, one: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The tensor of a sum of states that differ from others at one site: these left, `right` right of it."""
    (a, s, b), (c, _, d) = left.shape, right.shape
    out = np.zeros((a + c, s, b + d), np.result_type(left, one, right))
    out[:a, :, :b], out[:a, :, b:], out[a:, :, b:] = left, one, right
    return out


def inverse(bond: np.ndarray) -> np.ndarray:
    """``C^-H`` of a matrix of Schmidt values, but for the faint ones."""
    u, s, vh = np.linalg.svd(bond, full_matrices=False)
    return (u * (s / (s**2 + (FAINT * s[0]) ** 2))) @ vh
