"""Room in the bonds of a state for what changes make of it.

The cotangent of a chain's tensors knows of a loss what the chain can represent, and of directions without weight
nothing.  Where a state stays what it is, a product of sites say, a change leads to such directions.  Which ones is
found from evolutions on which small random changes of sites and of pairs act at every step: what they end in beside
the state are all directions that such changes lead to, with the weight that counts.  One more of them measures what a
change of norm 1 is still lacking.  The directions are added to the bonds, with no weight (`qad.mps.evolve.enrich`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.environments import past_left
from qad.mps.evolve.cut import check_reach
from qad.mps.evolve.enrich import Reach, sizes
from qad.mps.evolve.tebd import ROUNDING
from qad.mps.gauge import carry, left_isometry, mirrored, truncated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.mps.evolve.tebd import Truncation

SIZE = 1e-6  # of a random change: its square and the rounding over it are both small
SAMPLES = 30  # evolutions with random changes, at most
FAR = 0.5  # by which the change of a pair is smaller for every site between
FINEST = 1e-14  # weight of a direction, relative to all that changes, that counts
FAINT = 1e-8  # Schmidt values of the final state, relative to the largest, by which nothing is divided
CUT = 1e-26  # weight that a cut of a changed state may discard


def refusal(tensors: Sequence[np.ndarray], truncation: Truncation) -> ArgumentError | None:
    """An error where a change of two neighbours leaves the bonds of a state, whose centre is at site 0."""
    centre = tensors[0]
    for there in tensors[1:]:
        bond = left_isometry(centre)[1]
        values = np.linalg.svdvals(bond)
        rank = np.count_nonzero(values > ROUNDING * len(values) * np.finfo(values.dtype).eps * values[0])
        try:
            if rank < truncation.bond:
                check_reach(np.tensordot(centre, there, 1), rank, truncation, there.reshape(len(there), -1))
        except ArgumentError as error:
            return error
        centre = carry(bond, there)
    return None


def filled(
    tensors: list[np.ndarray], changed: Callable[[np.random.Generator], Sequence[np.ndarray]], truncation: Truncation
) -> tuple[list[np.ndarray], float]:
    """The same state with room for changes, as far as `bond` allows it; and what a change of norm 1 lacks then.

    A function evolves the state once more, with random changes on the way.
    """
    if truncation.reach >= 1 or refusal(tensors, truncation) is None:
        return tensors, 0.0
    rng, lacked = np.random.default_rng(0), 0.0
    reach, limits = Reach([np.eye(t.shape[1])[None, None] for t in tensors]), [truncation.bond] * len(tensors)
    for _ in range(SAMPLES):
        other = changed(rng)
        overlap = np.ones((1, 1))
        for ket, bra in zip(other, tensors, strict=True):
            overlap = past_left(overlap, ket, bra)
        size2 = max(1 - abs(overlap.item()) ** 2, np.finfo(float).tiny)
        lacked = reach.missed(tensors, 1, other) / np.sqrt(size2)
        if lacked <= truncation.reach:
            break
        before = sizes(tensors)
        tensors = reach.extended(tensors, other, reach.leaving(tensors, 1, other), limits, FINEST * size2)[0]
        if sizes(tensors) == before:
            break
    return tensors, lacked


def kicked(tensors: Sequence[np.ndarray], rng: np.random.Generator, ancillas: bool, steps: int) -> list[np.ndarray]:
    """A state with its centre at site 0 after a small random change of its sites and pairs, in one of so many steps."""
    out, size = [], np.sqrt(len(tensors))
    for t in tensors:
        leg = round(np.sqrt(t.shape[1])) if ancillas else t.shape[1]
        first, last, alone = rng.standard_normal((3, leg, leg)) / np.sqrt(size * leg)
        w = np.zeros((3, 3, leg, leg))
        w[0, 0] = w[2, 2] = np.eye(leg)
        w[0, 1], w[1, 1], w[1, 2], w[0, 2] = first, FAR * np.eye(leg), last, alone / np.sqrt(size)
        w = np.kron(w, np.eye(t.shape[1] // leg))
        out.append(np.einsum("lrst,atb->lasrb", w, t).reshape(3 * t.shape[0], t.shape[1], -1))
    a, b = tensors[0].shape[0], tensors[-1].shape[2]
    out[0] = out[0][:a]
    end = out[-1].reshape(*out[-1].shape[:2], 3, b)
    out[-1] = SIZE / np.sqrt(steps) * end[:, :, 2] + end[:, :, 0]
    return mirrored(truncated(mirrored(out), None, np.sqrt(CUT), checked=False)[0])


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
