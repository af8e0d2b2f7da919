"""How one site of an operator is carried past a state: two routes, of matrix products of the best shape.

Notation: bonds a of the bra, b of the ket, w of the operator; primes on the right of the site; s the physical leg of
the ket, t that of the bra, ``W[w, w'][t, s]``.  ``ket`` is A (b, s, b'), ``bra`` is conj(A) (a, t, a').  `forward`
carries the environment L of the left from bond to bond and keeps what `backward` needs; that one carries R of the
right, and closes both to the derivative by the bra, G (a, t, a').  On both sides the legs of environments are (bra,
operator, ket), as in `qad.mps.kernels.dense`.

`Dense` carries all channels at once, in ``5 w d bond**3`` multiply-adds for both directions.  `Sparse` uses that an
operator made of a sum is nearly empty: of its pairs (w, w') each has w in a small set E, or w' in a small set F (a
vertex cover).  A pair of E is applied after the products with the state, on ``T = bra^T L ket``; a pair of F before
them, in ``M = sum_w W L``; so products are made only for E and F, ``(3 d + 2 d**2) bond**3`` for each of their
members: 28 instead of 50 for a chain of spins 1/2 with neighbours coupled, whatever the couplings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from qad.mps.kernels.dense import acted, mirror, operator_matrix
from qad.mps.kernels.dense_terms import added
from qad.mps.operators.automaton import rows_of_cover

Channels: TypeAlias = dict[int, np.ndarray]  # an environment, by the operator's channels
Halves: TypeAlias = tuple[list[np.ndarray], list[np.ndarray]]  # environments of E, and products of F
Plan: TypeAlias = dict[tuple[int, int], list[tuple[complex, int]]]  # a sum of channels for each block (t, s)
Sums: TypeAlias = list[tuple[complex, int, int, int]]  # coefficient, number in E or F, and block (t, s) or (s, t)


class Dense:
    """All channels of the operator in every product; environments are matrices, their legs (operator, ket) as one."""

    left: int
    right: int
    out: int
    in_: int

    def __init__(self, tensor: np.ndarray):
        self.left, self.right, self.out, self.in_ = tensor.shape
        self.matrix: tuple[np.ndarray, int, int] = operator_matrix(tensor), self.left, self.right
        self.mirror: tuple[np.ndarray, int, int] = operator_matrix(tensor.swapaxes(0, 1)), self.right, self.left

    @staticmethod
    def opened(channels: np.ndarray) -> np.ndarray:
        """The environment beyond an end, from one value for every channel."""
        return channels.reshape(1, -1)

    @staticmethod
    def closed(environment: np.ndarray) -> np.ndarray:
        """The values in the channels of the finished environment."""
        return environment.ravel()

    @staticmethod
    def scaled(environment: np.ndarray, factor: float) -> np.ndarray:
        """A multiple of the environment."""
        return environment * factor

    @staticmethod
    def size(environment: np.ndarray) -> float:
        """How large the environment is."""
        return np.abs(environment).max()

    def forward(self, environment: np.ndarray, ket: np.ndarray, bra: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        half = acted(environment, ket, self.matrix)
        return bra.reshape(-1, bra.shape[2]).T.dot(half), half

    def backward(
        self, environment: np.ndarray, ket: np.ndarray, bra: np.ndarray, half: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        slope = half.dot(environment.T)
        other = acted(environment, mirror(ket), self.mirror)
        return slope.reshape(bra.shape), bra.transpose(0, 2, 1).reshape(len(bra), -1).dot(other)


class Sparse:
    """Products only for a vertex cover of the operator's channels; environments are matrices by channel."""

    left: int
    right: int
    out: int
    in_: int
    from_t: list[Sums]
    into_k: list[Plan]
    into_m: list[Plan]
    from_u: list[Sums]

    def __init__(self, tensor: np.ndarray):
        self.left, self.right, self.out, self.in_ = tensor.shape
        pairs = [(int(w), int(v)) for w, v in np.argwhere(tensor.any(axis=(2, 3)))]
        chosen = rows_of_cover(pairs, self.left, self.right)
        self.late: list[int] = sorted({v for w, v in pairs if w not in chosen})
        early = [(w, v) for w, v in pairs if v not in self.late]
        self.early: list[int] = sorted({w for w, _ in early})
        entries = {pair: [(t, s, tensor[*pair, t, s].item()) for t, s in np.argwhere(tensor[pair])] for pair in pairs}
        self._plan(early, [pair for pair in pairs if pair[1] in self.late], entries)

    def _plan(self, early, late, entries):
        """The sums of blocks from which environments, and what is applied before the products, are put together."""
        self.from_t = [[] for _ in range(self.right)]  # L'[v] += c T[e][t, :, s]
        self.into_k = [{} for _ in self.early]  # K[e][t, :, s] += c R[v]
        for w, v in early:
            e = self.early.index(w)
            for t, s, c in entries[w, v]:
                self.from_t[v].append((c, e, t, s))
                self.into_k[e].setdefault((t, s), []).append((c, v))
        self.into_m = [{} for _ in self.late]  # M[f][:, t, s] += c L[w]
        self.from_u = [[] for _ in range(self.left)]  # R[w] += c U[f][:, t, s]
        for w, v in late:
            f = self.late.index(v)
            for t, s, c in entries[w, v]:
                self.into_m[f].setdefault((t, s), []).append((c, w))
                self.from_u[w].append((c, f, t, s))

    @property
    def products(self) -> int:
        """The products of both directions, in units of ``bond**3``, for the sites' own d."""
        return (len(self.early) + len(self.late)) * (3 * self.out + 2 * self.out * self.in_)

    def coefficients(self) -> set[complex]:
        """The coefficients by which blocks are multiplied."""
        sums = [
            *self.from_t,
            *self.from_u,
            *(terms for plan in (*self.into_k, *self.into_m) for terms in plan.values()),
        ]
        return {c for terms in sums for c, *_ in terms}

    @staticmethod
    def opened(channels: np.ndarray) -> Channels:
        return {w: channel.reshape(1, 1) for w, channel in enumerate(channels)}

    @staticmethod
    def closed(environment: Channels) -> np.ndarray:
        return np.array([environment[w][0, 0] for w in range(len(environment))])

    @staticmethod
    def scaled(environment: Channels, factor: float) -> Channels:
        return {w: channel * factor for w, channel in environment.items()}

    @staticmethod
    def size(environment: Channels) -> float:
        return max(np.abs(channel).max() for channel in environment.values())

    def forward(self, environment: Channels, ket: np.ndarray, bra: np.ndarray) -> tuple[Channels, Halves]:
        (b, s, right), (a, t, end) = ket.shape, bra.shape
        by_state = ket.transpose(1, 0, 2).reshape(s * b, right)
        both = bra.reshape(a, t * end).T
        blocks = []
        for e in self.early:
            half = environment[e].dot(ket.reshape(b, s * right))
            blocks.append(both.dot(half.reshape(a, s * right)).reshape(t, end, s, right))
        halves = []
        for plan in self.into_m:
            m = np.empty((a, t, s, b), ket.dtype)
            assemble(plan, environment, [[m[:, i, j] for j in range(s)] for i in range(t)])
            halves.append(m.reshape(a * t, s * b).dot(by_state))
        closing = bra.reshape(a * t, end).T
        moved = dict(zip(self.late, [closing.dot(half) for half in halves], strict=True))
        for v, terms in enumerate(self.from_t):
            if v not in moved:
                moved[v] = combined([(c, blocks[e][i, :, j]) for c, e, i, j in terms], (end, right), ket)
        return moved, ([environment[e] for e in self.early], halves)

    def backward(
        self, environment: Channels, ket: np.ndarray, bra: np.ndarray, kept: Halves
    ) -> tuple[np.ndarray, Channels]:
        (b, s, right), (a, t, end) = ket.shape, bra.shape
        lefts, halves = kept
        slope, moved = None, {}
        for_k, both = ket.reshape(b, s * right), bra.reshape(a, t * end)
        for e, left, plan in zip(self.early, lefts, self.into_k, strict=True):
            k = np.empty((t, end, s, right), ket.dtype)
            assemble(plan, environment, [[k[i, :, j] for j in range(s)] for i in range(t)])
            half = for_k.dot(k.reshape(t * end, s * right).T)
            slope = added(slope, left.dot(half))
            moved[e] = both.dot(half.T)
        by_state = ket.transpose(1, 0, 2).reshape(s * b, right).T
        blocks = []
        for f, half in zip(self.late, halves, strict=True):
            slope = added(slope, half.dot(environment[f].T).reshape(a, t * end))
            other = bra.reshape(a * t, end).dot(environment[f])
            blocks.append(other.dot(by_state).reshape(a, t, s, b))
        for w, terms in enumerate(self.from_u):
            if terms or w not in moved:
                rest = combined([(c, blocks[f][:, i, j]) for c, f, i, j in terms], (a, b), ket)
                moved[w] = added(moved.get(w), rest)
        return slope.reshape(a, t, end), moved


def assemble(plan: Plan, environment: Channels, places: Sequence[Sequence[np.ndarray]]) -> None:
    """Write sums of channels into the blocks of a matrix."""
    for i, row in enumerate(places):
        for j, place in enumerate(row):
            if (i, j) in plan:
                combine([(c, environment[channel]) for c, channel in plan[i, j]], place)
            else:
                place[...] = 0


def combine(terms: Sequence[tuple[complex, np.ndarray]], out: np.ndarray) -> None:
    """``out[...] = sum c x``, in few passes."""
    (c, x), *rest = terms
    if not rest:
        np.multiply(x, c, out=out) if c != 1 else np.copyto(out, x)
        return
    (d, y), *rest = rest
    if d == c or d == -c:
        (np.add if d == c else np.subtract)(x, y, out=out)
        if c != 1:
            out *= c
    else:
        np.multiply(y, d, out=out)
        out += x if c == 1 else x * c
    for c, x in rest:
        out += x if c == 1 else x * c


def combined(terms: Sequence[tuple[complex, np.ndarray]], shape: tuple[int, int], like: np.ndarray) -> np.ndarray:
    """``sum c x`` as a new matrix, or a view where it is a single block."""
    if not terms:
        return np.zeros(shape, like.dtype)
    if len(terms) == 1 and terms[0][0] == 1:
        return terms[0][1]
    out = np.empty(shape, like.dtype)
    combine(terms, out)
    return out
