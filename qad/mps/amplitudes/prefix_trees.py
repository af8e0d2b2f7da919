"""How the amplitudes of many configurations share their work.

A configuration is a word, its amplitude the trace of a product of matrices chosen by its letters.  The chain is cut
into segments; every segment has a table of the products of its distinct words, and prefixes grow by a segment at a
time, one product for each distinct prefix.  A merge multiplies rows of a table of prefixes by matrices of a table
of words; its products are sorted by the word, so that each word takes one large matrix product, and in the backward
pass one more sums what all its prefixes contribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import TypeAlias

import numpy as np

from qad.extend import like

SAFE = 2.0**100  # products whose size leaves this range are scaled
Steps: TypeAlias = tuple[list[np.ndarray], list[np.ndarray | None]]  # products, and the factors that scaled them
Kept: TypeAlias = tuple[list[Steps], Steps]  # of each segment, and of the segments


class Merge:
    """Products ``left[of_left[u]] @ right[of_right[u]]`` of the distinct pairs of indices, sorted by ``of_right``.

    Parameters
    ----------
    left, right : int arrays (configurations,)
        Which matrices of two tables belong to each configuration.
    count_left : int
        Of the matrices in the left table.

    Attributes
    ----------
    of_left : int array (u,)
    index : int array (configurations,)
        The product that belongs to each configuration.
    slices : list of (number in the right table, slice of products)
    """

    def __init__(self, left: np.ndarray, right: np.ndarray, count_left: int):
        codes, index = np.unique(right * count_left + left, return_inverse=True)
        of_right, of_left = np.divmod(codes, count_left)
        words, starts = np.unique(of_right, return_index=True)
        ends = [*starts[1:], len(codes)]
        self.slices: list[tuple[int, slice]] = [
            (int(w), slice(int(a), int(b))) for w, a, b in zip(words, starts, ends, strict=True)
        ]
        self.of_left: np.ndarray = of_left
        self.index: np.ndarray = index.reshape(-1)

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


class Row:
    """The merges that make products of matrices from left to right, each matrix from a table of its own.

    Parameters
    ----------
    columns : list of (int array (configurations,), int)
        For each table which of its matrices every configuration has, and how many there are.
    """

    index: np.ndarray
    size: int

    def __init__(self, columns: Sequence[tuple[np.ndarray, int]]):
        self.index, self.size = columns[0]
        self.merges: list[Merge] = []
        for column, _ in columns[1:]:
            self.merges.append(Merge(self.index, column, self.size))
            self.index, self.size = self.merges[-1].index, len(self.merges[-1].of_left)

    def forward(self, tables: Sequence[np.ndarray], scaled: bool) -> tuple[np.ndarray, Steps]:
        """The logarithms of what was taken out of the products where they are `scaled`, and all products on the way."""
        steps, factors, logs = [tables[0]], [None], like(tables[0]).zeros(len(tables[0]))
        for merge, table in zip(self.merges, tables[1:], strict=True):
            product = merge.forward(steps[-1], table)
            product, factor = within_range(product) if scaled else (product, None)
            logs = logs[merge.of_left] - (0.0 if factor is None else np.log(factor))
            steps.append(product)
            factors.append(factor)
        return logs, (steps, factors)

    def backward(self, slope: np.ndarray, tables: Sequence[np.ndarray], kept: Steps) -> list[np.ndarray]:
        """Cotangents of the tables, given that of the last products."""
        steps, factors = kept
        found = []
        for i in reversed(range(len(self.merges))):
            if factors[i + 1] is not None:
                slope = slope * factors[i + 1][:, None, None].astype(slope.real.dtype)
            slope, table = self.merges[i].backward(slope, steps[i], tables[i + 1])
            found.append(table)
        return [slope, *reversed(found)]


class Words:
    """The amplitudes of a set of configurations: a row of words for each segment, and one of the segments.

    Parameters
    ----------
    configurations : int array (words, sites)
    phys : sequence of int
    bond : int
    periodic : bool
    """

    def __init__(self, configurations: np.ndarray, phys: Sequence[int], bond: int, periodic: bool):
        self.configurations: np.ndarray = configurations
        count, n = configurations.shape
        room = max(count / (16 if periodic else 4 * bond), 1)
        length = max(1, int(log(room) / log(max(2, *phys)) + 1e-9)) if room > 1 else 1
        letters = list(zip(configurations.T, phys, strict=True))
        self.parts: list[slice] = [slice(start, start + length) for start in range(0, n, length)]
        self.segments: list[Row] = [Row(letters[part]) for part in self.parts]
        self.whole: Row = Row([(row.index, row.size) for row in self.segments])

    def forward(self, tensors: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, Kept]:
        """The amplitudes divided by ``exp(log_scale)``, the logarithms, and what `backward` needs."""
        letters = [tensor.transpose(1, 0, 2) for tensor in tensors]
        pairs = zip(self.segments, self.parts, strict=True)
        inside = [row.forward(letters[part], scaled=False)[1] for row, part in pairs]
        logs, kept = self.whole.forward([steps[-1] for steps, _ in inside], scaled=True)
        values = np.trace(kept[0][-1], axis1=1, axis2=2)
        return values[self.whole.index], logs[self.whole.index], (inside, kept)

    def backward(self, g: np.ndarray, tensors: Sequence[np.ndarray], kept: Kept) -> list[np.ndarray]:
        """Cotangents of the site tensors, given those of the values."""
        letters, (inside, whole) = [tensor.transpose(1, 0, 2) for tensor in tensors], kept
        last = whole[0][-1]
        sums = added_up(g, self.whole.index, len(last))
        outer = sums[:, None, None] * like(sums).eye(last.shape[1], dtype=sums.dtype)
        slopes = self.whole.backward(outer, [steps[-1] for steps, _ in inside], whole)
        rows = zip(self.segments, self.parts, slopes, inside, strict=True)
        found = [row.backward(slope, letters[part], steps) for row, part, slope, steps in rows]
        return [x.transpose(1, 0, 2) for row in found for x in row]


def within_range(products: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Products scaled by powers of two where their first or last rows leave the safe range; the factors, or None."""
    sizes = np.maximum(np.abs(products[:, 0]).max(axis=1), np.abs(products[:, -1]).max(axis=1))
    usual = (sizes == 0) | ((sizes > 1 / SAFE) & (sizes < SAFE))
    if usual.all():
        return products, None
    factors = np.where(usual, 1.0, 2.0 ** -np.frexp(np.where(usual, 1.0, sizes))[1].astype(float))
    products *= factors[:, None, None].astype(products.real.dtype)
    return products, factors
