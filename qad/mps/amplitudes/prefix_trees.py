"""How the amplitudes of many configurations share their work.

A configuration is a word, its amplitude the trace of a product of matrices chosen by its letters.  The chain is cut
into segments; every segment has a table of the products of its distinct words, and prefixes grow by a segment at a
time, one product for each distinct prefix.  A merge multiplies rows of a table of prefixes by matrices of a table
of words; its products are sorted by the word, so that each word takes one large matrix product, and in the backward
pass one more sums what all its prefixes contribute.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from qad.extend import like

if TYPE_CHECKING:
    from collections.abc import Sequence

SAFE = 2.0**100  # products whose size leaves this range are scaled
# Products inside of segments, tables of prefixes, and the factors by which these were scaled.
Kept: TypeAlias = tuple[list[list[np.ndarray]], list[np.ndarray], list[np.ndarray | None]]


@dataclass
class Merge:
    """Products ``left[of_left[u]] @ right[of_right[u]]``, sorted by ``of_right``.

    Attributes
    ----------
    of_left, of_right : int arrays (u,)
    index : int array (configurations,)
        The product that belongs to each configuration.
    slices : list of (number in the right table, slice of products)
    """

    of_left: np.ndarray
    of_right: np.ndarray
    index: np.ndarray
    slices: list[tuple[int, slice]]

    @classmethod
    def of(cls, left: np.ndarray, right: np.ndarray, count_left: int) -> Merge:
        """The distinct pairs of indices into two tables."""
        codes, index = np.unique(right * count_left + left, return_inverse=True)
        of_right, of_left = np.divmod(codes, count_left)
        words, starts = np.unique(of_right, return_index=True)
        ends = [*starts[1:], len(codes)]
        slices = [(int(w), slice(int(a), int(b))) for w, a, b in zip(words, starts, ends, strict=True)]
        return cls(of_left, of_right, index.reshape(-1), slices)

    def forward(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The products, (u, rows, columns)."""
        _, rows, inner = left.shape
        chosen = left[self.of_left].reshape(-1, inner)
        out = like(chosen).empty((len(self.of_left), rows, right.shape[2]), chosen.dtype)
        flat = out.reshape(-1, right.shape[2])
        for word, part in self.slices:
            span = slice(part.start * rows, part.stop * rows)
            np.dot(chosen[span], right[word], out=flat[span])
        return out

    def backward(self, g: np.ndarray, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Cotangents of both tables."""
        _, rows, inner = left.shape
        chosen, flat = left[self.of_left].reshape(-1, inner), g.reshape(-1, right.shape[2])
        for_right, for_left = like(chosen).zeros(right.shape, chosen.dtype), np.empty_like(chosen)
        for word, part in self.slices:
            span = slice(part.start * rows, part.stop * rows)
            np.dot(chosen[span].T, flat[span], out=for_right[word])
            np.dot(flat[span], right[word].T, out=for_left[span])
        return added_up(for_left.reshape(-1, rows, inner), self.of_left, len(left)), for_right


def added_up(parts: np.ndarray, places: np.ndarray, count: int) -> np.ndarray:
    """The sum of the parts that belong to each place."""
    out = like(parts).zeros((count, *parts.shape[1:]), parts.dtype)
    order = np.argsort(places, kind="stable")
    found, starts = np.unique(places[order], return_index=True)
    if len(found) == len(places):
        out[places] = parts
    else:
        out[found] = np.add.reduceat(parts[order], like(parts).asarray(starts), axis=0)
    return out


class Words:
    """The merges that make the amplitudes of a set of configurations.

    Parameters
    ----------
    configurations : int array (words, sites)
    phys : sequence of int
    bond : int
    periodic : bool
    """

    segments: list[list[Merge]]
    first: np.ndarray

    def __init__(self, configurations: np.ndarray, phys: Sequence[int], bond: int, periodic: bool):
        self.configurations: np.ndarray = configurations
        count, n = configurations.shape
        room = max(count / (16 if periodic else 4 * bond), 1)
        length = max(1, int(log(room) / log(max(2, *phys)) + 1e-9)) if room > 1 else 1
        self.bounds: list[tuple[int, int]] = [(a, min(a + length, n)) for a in range(0, n, length)]
        self.segments, tables = [], []
        for start, stop in self.bounds:
            index, merges = letters(configurations[:, start]), []
            for site in range(start + 1, stop):
                merges.append(Merge.of(index[0], configurations[:, site], index[1]))
                index = merges[-1].index, len(merges[-1].of_left)
            self.segments.append(merges)
            tables.append(index if merges else (configurations[:, start], phys[start]))
        (index, size), self.first = tables[0], tables[0][0]
        self.merges: list[Merge] = []
        for words, _ in tables[1:]:
            self.merges.append(Merge.of(index, words, size))
            index, size = self.merges[-1].index, len(self.merges[-1].of_left)
        self.last: np.ndarray = index

    def forward(self, tensors: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, Kept]:
        """The amplitudes divided by ``exp(log_scale)``, the logarithms, and what `backward` needs."""
        tables, insides = [], []
        for (start, stop), merges in zip(self.bounds, self.segments, strict=True):
            steps = [tensors[start].transpose(1, 0, 2)]
            for site, merge in zip(range(start + 1, stop), merges, strict=True):
                steps.append(merge.forward(steps[-1], tensors[site].transpose(1, 0, 2)))
            insides.append(steps)
            tables.append(steps[-1])
        prefixes, factors, logs = [tables[0]], [], like(tables[0]).zeros(len(tables[0]))
        for merge, table in zip(self.merges, tables[1:], strict=True):
            product = merge.forward(prefixes[-1], table)
            product, factor = within_range(product)
            logs = logs[merge.of_left] - (0.0 if factor is None else np.log(factor))
            prefixes.append(product)
            factors.append(factor)
        values = np.trace(prefixes[-1], axis1=1, axis2=2)
        return values[self.last], logs[self.last], (insides, prefixes, factors)

    def backward(self, g: np.ndarray, tensors: Sequence[np.ndarray], kept: Kept) -> list[np.ndarray]:
        """Cotangents of the site tensors, given those of the values."""
        insides, prefixes, factors = kept
        sums = added_up(g, self.last, len(prefixes[-1]))
        outer = like(sums).eye(prefixes[-1].shape[1], dtype=sums.dtype)
        slope, out = sums[:, None, None] * outer, [None] * len(tensors)
        for i in reversed(range(len(self.merges))):
            if factors[i] is not None:
                slope = slope * factors[i][:, None, None].astype(slope.real.dtype)
            slope, table = self.merges[i].backward(slope, prefixes[i], insides[i + 1][-1])
            self._inside(i + 1, table, tensors, insides[i + 1], out)
        self._inside(0, slope, tensors, insides[0], out)
        return out

    def _inside(self, segment, slope, tensors, steps, out):
        """The backward pass of the table of one segment."""
        start, stop = self.bounds[segment]
        merges = self.segments[segment]
        for site in range(stop - 1, start, -1):
            letters = tensors[site].transpose(1, 0, 2)
            slope, letter = merges[site - start - 1].backward(slope, steps[site - start - 1], letters)
            out[site] = letter.transpose(1, 0, 2)
        out[start] = slope.transpose(1, 0, 2)


def letters(column: np.ndarray) -> tuple[np.ndarray, int]:
    """The index of every letter, and how many entries its table has."""
    return column, int(column.max(initial=0)) + 1


def within_range(products: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Products scaled by powers of two where their first or last rows leave the safe range; the factors, or None."""
    sizes = np.maximum(np.abs(products[:, 0]).max(axis=1), np.abs(products[:, -1]).max(axis=1))
    usual = (sizes == 0) | ((sizes > 1 / SAFE) & (sizes < SAFE))
    if usual.all():
        return products, None
    factors = np.where(usual, 1.0, 2.0 ** -np.frexp(np.where(usual, 1.0, sizes))[1].astype(float))
    products *= factors[:, None, None].astype(products.real.dtype)
    return products, factors
