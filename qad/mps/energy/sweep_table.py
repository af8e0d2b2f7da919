"""The sweeps of an energy with products for few channels, as one table (`qad.contract.run.entries`).

Both sweeps are written once as products and sums on one block of memory, which a compiled loop carries out (the extra
``fast``): at small bonds Python's calls take longer than the products that they ask for, and at large ones there are
fewer products; `qad.mps.energy.sweep` carries all channels at once.  The block holds, one after another:
the bras as they come, the kets, the derivatives, the coefficients of the operator, what the sweep from the right needs
of the one from the left, and room for what a site needs.

Notation: bonds a of the bra, b of the ket, w of the operator; primes on the right of the site; s the physical leg of
the ket, t that of the bra, ``W[w, w'][t, s]``.  ``ket`` is A (b, s, b'), ``bra`` is conj(A) (a, t, a').

An operator made of a sum is nearly empty: of its pairs (w, w') each has w in a small set E, or w' in a small set F (a
vertex cover).  A pair of E is applied after the products with the state, on ``T = bra^T L ket``; a pair of F before
them, in ``M = sum_w W L``; so products are made only for E and F, ``(3 d + 2 d**2) bond**3`` for each of their
members: 28 instead of 50 for a chain of spins 1/2 with neighbours coupled, whatever the couplings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from qad.contract.run.compiler import replay
from qad.contract.run.entries import Add, MatrixProduct, Rescale, entry
from qad.mps.operators.automaton import rows_of_cover

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

K = TypeVar("K")
T = TypeVar("T")
Block: TypeAlias = "tuple[int, int, int]"  # of a channel of E or F, and of a matrix (t, s)
CHECK_EVERY, ROOM = 4, 60  # sites between two looks at the scale; powers of two that it may drift


class Sparse:
    """How one site is passed: sums of channels and of blocks, with products only for a vertex cover of them.

    Attributes
    ----------
    early, late : list of int
        E and F; what they are numbered by below.
    from_t, from_u : dict
        ``L'[v] += c T[e][t, :, s]`` and ``R[w] += c U[f][:, t, s]``: by the channel, what is added, (c, block).
    into_k, into_m : dict
        ``K[e][t, :, s] += c R[v]`` and ``M[f][:, t, s] += c L[w]``: by the block, what is added, (c, channel).
    """

    def __init__(self, tensor: np.ndarray):
        self.left: int = tensor.shape[0]
        self.right: int = tensor.shape[1]
        self.out: int = tensor.shape[2]
        self.coefficients: set[complex] = set(tensor[tensor != 0].tolist())
        pairs = [(int(w), int(v)) for w, v in np.argwhere(tensor.any(axis=(2, 3)))]
        chosen = rows_of_cover(pairs, self.left, self.right)
        self.late: list[int] = sorted({v for w, v in pairs if w not in chosen})
        self.early: list[int] = sorted({w for w, v in pairs if v not in self.late})
        entries = [(w, v, t, s, tensor[w, v, t, s].item()) for w, v, t, s in np.argwhere(tensor).tolist()]
        soon = [(w, v, (self.early.index(w), t, s), c) for w, v, t, s, c in entries if v not in self.late]
        then = [(w, v, (self.late.index(v), t, s), c) for w, v, t, s, c in entries if v in self.late]
        self.from_t: dict[int, list[tuple[complex, Block]]] = grouped((v, (c, block)) for _, v, block, c in soon)
        self.into_k: dict[Block, list[tuple[complex, int]]] = grouped((block, (c, v)) for _, v, block, c in soon)
        self.into_m: dict[Block, list[tuple[complex, int]]] = grouped((block, (c, w)) for w, _, block, c in then)
        self.from_u: dict[int, list[tuple[complex, Block]]] = grouped((w, (c, block)) for w, _, block, c in then)


def grouped(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    """By their first halves, what stands second in pairs."""
    found: dict[K, list[T]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


class Table:
    """Both sweeps past an operator, for a state of these bonds.

    Parameters
    ----------
    sites : list of Sparse
        How every site is passed; the ends have one channel at the left and two at the right.
    bonds : sequence of int
        Of the state, the outer ones included.
    dtype : dtype
        In which it is done.
    """

    def __init__(self, sites: Sequence[Sparse], bonds: Sequence[int], dtype: np.dtype[Any]):
        self.sites: Sequence[Sparse] = sites
        self.bonds: Sequence[int] = bonds
        self.dtype: np.dtype[Any] = dtype
        self.shapes: list[tuple[int, int, int]] = [
            (a, site.out, end) for a, site, end in zip(bonds[:-1], sites, bonds[1:], strict=True)
        ]
        self.places: list[int] = np.concatenate([[0], np.cumsum([np.prod(shape) for shape in self.shapes])]).tolist()
        self.length: int = self.places[-1]
        found = sorted({1, *(c for site in sites for c in site.coefficients)}, key=lambda c: (c.real, c.imag))
        self.factors: dict[complex, int] = {c: 3 * self.length + i for i, c in enumerate(found)}
        self.numbers: np.ndarray = np.array(found, dtype)
        self.top: int = 3 * self.length + len(found)
        self._room()
        self.forward_code: np.ndarray = self._forward()
        self.backward_code: np.ndarray = self._backward()

    def _room(self):
        """Places of what stays of every site, and of what each site uses anew."""
        self.exponents: int = self._piece(len(self.sites))
        channels = [1, *(site.right for site in self.sites)]
        whole = max(w * bond**2 for w, bond in zip(channels, self.bonds, strict=True))
        self.rooms: list[int] = [self._piece(whole) for _ in "ab"]  # of environments, by turns
        self.lefts: list[dict[int, int]] = [
            {e: self._piece(a * a) for e in site.early} for site, (a, _, _) in zip(self.sites, self.shapes, strict=True)
        ]
        self.halves: list[list[int]] = [
            [self._piece(a * d * end) for _ in site.late]
            for site, (a, d, end) in zip(self.sites, self.shapes, strict=True)
        ]
        most = max((d * max(a, end)) ** 2 for a, d, end in self.shapes)
        self.half: int = self._piece(most)
        self.other: int = self._piece(most)
        self.turned: int = self._piece(most)
        self.blocks: list[int] = [
            self._piece(most) for _ in range(max(max(len(s.early), len(s.late)) for s in self.sites))
        ]

    def _piece(self, size):
        self.top += size
        return self.top - size

    def _forward(self):
        """The sweep from the left."""
        code = Code(self.factors)
        for i, (site, (a, d, end)) in enumerate(zip(self.sites, self.shapes, strict=True)):
            bra, ket = (self.places[i] + k * self.length for k in range(2))
            here, there = self.rooms[i % 2], self.rooms[i % 2 - 1]
            for (e, left), block in zip(self.lefts[i].items(), self.blocks, strict=False):
                code.combine([(1, here + e * a * a, 0)], left, 0, 1, a * a)
                code.product(left, ket, self.half, a, a, d * end)
                code.product(bra, self.half, block, d * end, a, d * end, first=True)
            if site.late:
                code.turn(ket, self.turned, a, d, end)
            for f, (channel, half) in enumerate(zip(site.late, self.halves[i], strict=True)):
                code.assemble(site.into_m, f, here, a, self.other, d, (d * a, a, d * d * a))
                code.product(self.other, self.turned, half, a * d, d * a, end)
                code.product(bra, half, there + channel * end**2, end, a * d, end, first=True)
            for v in set(range(site.right)).difference(site.late):  # a block of a site: (t, a', s, b')
                terms = site.from_t.get(v, ())
                parts = [(c, self.blocks[e] + (t * end * d + s) * end, d * end) for c, (e, t, s) in terms]
                code.combine(parts, there + v * end**2, end, end, end)
            if i % CHECK_EVERY == CHECK_EVERY - 1:
                code.numbers += entry(Rescale(there, site.right * end**2, ROOM, self.exponents + i))
        return np.array(code.numbers, np.int64)

    def _backward(self):
        """The sweep from the right."""
        code = Code(self.factors)
        for i in reversed(range(len(self.sites))):
            site, (a, d, end) = self.sites[i], self.shapes[i]
            bra, ket, slope = (self.places[i] + k * self.length for k in range(3))
            here, there = self.rooms[i % 2 - 1], self.rooms[i % 2]
            fresh = True
            for e, (channel, left) in enumerate(self.lefts[i].items()):
                code.assemble(site.into_k, e, here, end, self.other, d, (end * d * end, end, d * end))
                code.product(ket, self.other, self.half, a, d * end, d * end, second=True)
                fresh = code.into(slope, fresh, self.turned, (left, self.half, a, a, d * end))
                code.product(bra, self.half, there + channel * a * a, a, d * end, a, second=True)
            if site.late:
                code.turn(ket, self.turned, a, d, end)
            for f, half, block in zip(site.late, self.halves[i], self.blocks, strict=False):
                fresh = code.into(slope, fresh, self.half, (half, here + f * end**2, a * d, end, end), second=True)
                code.product(bra, here + f * end**2, self.other, a * d, end, end)
                code.product(self.other, self.turned, block, a * d, end, d * a, second=True)
            for w in range(site.left):  # a block of a site: (a, t, s, b)
                terms = site.from_u.get(w, ())
                parts = [(c, self.blocks[f] + (t * d + s) * a, d * d * a) for c, (f, t, s) in terms]
                code.combine(parts, there + w * a * a, a, a, a, w not in site.early)
            if i % CHECK_EVERY == 0:
                code.numbers += entry(Rescale(there, site.left * a * a, ROOM, self.exponents + i))
        return np.array(code.numbers, np.int64)

    def forward(self, tensors: Sequence[np.ndarray], keep: bool) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """As `qad.mps.energy.sweep.Sweep.forward`."""
        block = np.empty(self.top, self.dtype)
        bras = block[: self.length]
        np.concatenate(tensors, axis=None, out=bras)
        np.conjugate(bras, out=block[self.length : 2 * self.length])
        block[3 * self.length : 3 * self.length + len(self.numbers)] = self.numbers
        block[self.rooms[0]] = 1
        exponents = self._carry_out(self.forward_code, block)
        values = self.rooms[len(self.sites) % 2]
        return block[values : values + 2].copy(), (block, exponents)

    def backward(self, kept: tuple[np.ndarray, np.ndarray], seeds: np.ndarray) -> list[np.ndarray]:
        """As `qad.mps.energy.sweep.Sweep.backward`."""
        block, lefts = kept
        start = self.rooms[len(self.sites) % 2]
        block[start : start + 2] = seeds
        rights = self._carry_out(self.backward_code, block)
        flat = block[2 * self.length : 3 * self.length].copy()
        ends = zip(self.places[:-1], self.places[1:], self.shapes, strict=True)
        slopes = [flat[begin:end].reshape(shape) for begin, end, shape in ends]
        if lefts.any() or rights.any():
            missing = lefts[::-1].cumsum()[::-1] - (rights[::-1].cumsum()[::-1] - rights)
            for slope, exponent in zip(slopes, missing, strict=True):
                slope *= 2.0**-exponent
        return slopes

    def _carry_out(self, code, block):
        """Run a table; returns the powers of two that every site had taken out after it."""
        exponents = block[self.exponents : self.exponents + len(self.sites)]
        exponents[:] = 0
        replay(code, block)
        return exponents.real.copy()


class Code:
    """Entries, as they are written: the numbers that `qad.contract.run.compiled.loop` reads."""

    def __init__(self, factors: dict[complex, int]):
        self.factors: dict[complex, int] = factors
        self.numbers: list[int] = []

    def product(
        self, one: int, two: int, out: int, m: int, k: int, n: int, first: bool = False, second: bool = False
    ) -> None:
        """A product of matrices (m, k) and (k, n), either of which may lie transposed."""
        self.numbers += entry(MatrixProduct(one, two, out, m, k, n, form=first + 2 * second))

    def into(
        self, out: int, fresh: bool, room: int, product: tuple[int, int, int, int, int], second: bool = False
    ) -> bool:
        """A product written, or added by way of `room`; returns False, for the next one is to be added."""
        *_, m, _, n = product
        self.product(*product[:2], out if fresh else room, *product[2:], second=second)
        if not fresh:
            self.combine([(1, room, 0)], out, 0, 1, m * n, False)
        return False

    def combine(
        self,
        terms: Sequence[tuple[complex, int, int]],
        out: int,
        step: int,
        rows: int,
        columns: int,
        fresh: bool = True,
    ) -> None:
        """Sums of matrices ``(c, place, step from row to row)``, written or added."""
        if fresh and not terms:
            self.numbers += entry(Add(True, -1, 0, 0, out, step, rows, columns))
        for c, place, from_step in terms:
            self.numbers += entry(Add(fresh, self.factors[c], place, from_step, out, step, rows, columns))
            fresh = False

    def assemble(
        self, plan: Mapping[Block, Sequence[tuple[complex, int]]], number: int, channels: int, bond: int, out: int,
        d: int, steps: tuple[int, int, int],
    ) -> None:  # fmt: skip
        """Sums of channels, matrices (bond, bond), as blocks (t, s) of a matrix; steps of t, of s, and of rows."""
        for t, s in np.ndindex(d, d):
            terms = [(c, channels + w * bond**2, bond) for c, w in plan.get((number, t, s), ())]
            self.combine(terms, out + t * steps[0] + s * steps[1], steps[2], bond, bond)

    def turn(self, tensor: int, out: int, left: int, d: int, right: int) -> None:
        """A site's tensor (left, d, right) as (d, left, right)."""
        for s in range(d):
            self.combine([(1, tensor + s * right, d * right)], out + s * left * right, right, left, right)
