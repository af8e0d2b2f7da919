"""Room in the bonds of a state for what changes make of it.

The cotangent of a chain's tensors knows of a loss what the chain can represent, and of directions without weight
nothing.  Where a state stays what it is, a product of sites say, a change leads to such directions.  Which ones is
found from random changes on the way, of any entry of the operator's tensors that a coefficient may stand in: what they
make of the state evolves on beside it, as a chain of its own, truncated at its own weights.  One sum of changes after
the other gets room, until the next lacks nothing; the directions are added to the bonds, with no weight
(`qad.mps.evolve.enrich`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.linalg.truncation.rule import kept
from qad.mps.chain.chain import added
from qad.mps.evolve.cut import amplitude_beyond
from qad.mps.evolve.enrich import MORE, Reach, sizes
from qad.mps.evolve.tebd import compressed
from qad.mps.evolve.truncation import Truncation
from qad.symmetric.create import from_dense
from qad.symmetric.generic import as_map, charges_of, direct_sum, join, norm, numbers, of_map, padded, qr
from qad.symmetric.legs import Leg
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from qad.symmetric.groups import Charge

CHANGES = 8  # that are evolved as one sum
SAMPLES = 32  # sums of changes, at most
FINEST = 1e-14  # weight of a direction, relative to all that changes, that counts
FAINT = 1e-8  # Schmidt values of the final state, relative to the largest, by which nothing is divided


def lacks_room(tensors: Sequence[Any], most: int, reach: float) -> bool:
    """Whether a change of two neighbours leaves the bonds of a state, whose centre is at site 0."""
    centre = tensors[0]
    for there in tensors[1:]:
        bond, pair = qr(centre)[1], join(centre, there)
        (where, matrices), (other, rows), (sectors, both) = as_map(bond, 1), as_map(there, 1), as_map(pair, 2)
        weighing = dict(zip(charges_of(where), kept(list(map(np.linalg.svdvals, matrices))), strict=True))
        known = dict(zip(charges_of(other), rows, strict=True))
        charges = charges_of(sectors)
        ranks = [weighing.get(q, 0) for q in charges]
        rows = [known.get(q, m[:0]) for q, m in zip(charges, both, strict=True)]
        if sum(ranks) < most and amplitude_beyond(pair, ranks, rows) > reach:
            return True
        centre = join(bond, there)
    return False


def filled(
    tensors: list[Any], changed: Callable[[np.random.Generator, int], list[Any]], bond: int, reach: float
) -> tuple[list[Any], float]:
    """The same state with room for changes, up to twice `bond`; and what a change of norm 1 lacks then.

    A function gives what random changes on the way make of the state, as a chain of bonds up to the one it is told.
    """
    if reach >= 1 or not lacks_room(tensors, bond, reach):
        return tensors, 0.0
    lacked = 0.0
    beyond = Reach(list(map(identity_on, tensors)))
    for seed in range(SAMPLES):
        change, before = changed(np.random.default_rng(seed), 2 * bond), sizes(tensors)
        size, leaving = norm(change[0]), beyond.leaving(tensors, 1, change)
        lacked = beyond.extended(tensors, change, leaving, 0, 0.0)[2] / size
        if lacked <= reach:
            break
        tensors = beyond.extended(tensors, change, leaving, 2 * bond, FINEST * size**2)[0]
        if sizes(tensors) == before:
            break
    return tensors, lacked


def with_changes(change: list[Any], state: Sequence[Any], operators: Iterable[Sequence[Any]], bond: int) -> list[Any]:
    """A change of a state, and what operators make of that; with its centre at site 0, each of norm 1."""
    for operator in operators:
        more = applied(operator, state, bond)
        change = added(change, more, 2) if change else more
    return compressed(change, Truncation(bond, FINEST))


def identity_on(tensor: Any) -> Any:
    """The identity on a site, with bonds of one channel."""
    one = np.eye(tensor.shape[1])[None, None]
    return (
        one if type(tensor) is not SymTensor else operator_site(one, *[[tensor.symmetry.neutral]] * 2, tensor.legs[1])
    )


def operator_site(w: np.ndarray, left: Sequence[Charge], right: Sequence[Charge], leg: Leg) -> SymTensor:
    """The site tensor of an operator between channels of these charges; what would not conserve is left out."""
    (one, rows), (two, columns) = (Leg.from_charges(q, 1, leg.symmetry) for q in (left, right))
    return from_dense(w[np.ix_(rows, columns)], (one, two.conj(), leg, leg.conj()), tol=np.inf)


def portion(k: int, steps: int) -> range:
    """Of the changes that are spread over some steps, those before step k."""
    return range(-(-k * CHANGES // steps), -(-(k + 1) * CHANGES // steps))


def applied(operator: Sequence[Any], state: Sequence[Any], bond: int) -> list[Any]:
    """What an operator makes of a state with its centre at site 0, of norm 1."""
    reach = Reach(operator)
    parts = reach.left_parts(state, bond + MORE)
    size = 1.0 if parts[-1] is None else norm(reach.passed(parts[-1], len(state) - 1, state[-1])) or 1.0
    first, *others = reach.extended(state, state, parts, bond, FINEST * size**2)[1]
    return [first * (1 / size), *others]


def of_operator(H: Sequence[Any], rng: np.random.Generator) -> list[Any]:
    """A random change of the tensors of an operator, as an operator: the sum of those with one tensor changed.

    Terms that it has may act differently, or begin or end where none does: those whose coefficient is zero.
    """
    if type(H[0]) is SymTensor:
        changed = of_operator([w.to_dense() for w in H], rng)
        bonds = [spread(H[0].legs[0]), *[spread(w.legs[0]) * 2 for w in H[1:]], spread(H[-1].legs[1])]
        rows = zip(changed, bonds, bonds[1:], H, strict=False)
        return [operator_site(w, left, right, h.legs[2]) for w, left, right, h in rows]
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


def spread(leg: Leg) -> list[Charge]:
    """The charge of every value of the index of a leg."""
    return [q for q, dim in zip(leg.charges, leg.dims, strict=True) for _ in range(dim)]


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


def adjoint_of(tensors: Sequence[Any], slopes: Sequence[Any], by_norm: float, cutoff: float) -> tuple[list[Any], float]:
    """The adjoint of a state, of norm 1 with its centre at site 0, and its norm.

    A change of tensor i adds ``L_i C_i dA_i R_i`` to the state, C_i the Schmidt values on its left between orthonormal
    states.  What dA_i has of the rows of A_i itself is a change further left, the rest N_i is orthogonal to all others:
    the adjoint state is the sum of ``L_i (C_i^-H N_i) R_i``.
    """
    weight = by_norm - numbers(join(slopes[0], tensors[0].conj(), ((1, 2), (1, 2)))).sum().real
    found, centre, others = [], tensors[0], [slopes[0] + tensors[0] * weight]
    for tensor, slope in zip(tensors[1:], slopes[1:], strict=True):
        isometry, bond = qr(centre)
        found.append(isometry)
        centre, own = join(bond, tensor), join(slope, tensor.conj(), ((1, 2), (1, 2)))
        others.append(join(inverse(bond), slope - join(own, tensor)))
    found.append(centre)
    if not any(numbers(x).any() for x in others):
        return list(tensors), 0.0
    chain = others
    if len(found) > 1:
        sites = zip(tensors[1:-1], others[1:], found[1:], found[2:], strict=False)
        middle = [direct_sum(padded(t, after), direct_sum(n, left, (2,)), (0,)) for t, n, left, after in sites]
        chain = [direct_sum(others[0], found[0], (2,)), *middle, direct_sum(tensors[-1], others[-1], (0,))]
    chain = compressed(chain, Truncation(None, cutoff))
    size = norm(chain[0])
    return [chain[0] * (1 / (size or 1.0)), *chain[1:]], size


def inverse(bond: Any) -> Any:
    """``C^-H`` of a matrix of Schmidt values, but for the faint ones."""
    where, matrices = as_map(bond, 1)
    triples = [np.linalg.svd(matrix, full_matrices=False) for matrix in matrices]
    least = FAINT * max(s[0] for _, s, _ in triples)
    return of_map(where, [(u * (s / (s**2 + least**2))) @ vh for u, s, vh in triples])
