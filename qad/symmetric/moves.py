"""Moves: the elements of one flat array, block by block, to their places in another.

A `Move` is a table of rows (where a block is read, where it is written, its shape, both strides).  It brings a tensor
from one layout into another, its legs in another order; packs dense arrays, and unpacks them.  It reads and writes no
element twice; so the adjoint of a move is the move by the inverse table, and derivatives of every order are moves.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import defbatch, defvjp, is_foreign, primitive
from qad.extend.batching import same
from qad.symmetric.kernels import View, compiled_rows, copied

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from qad.symmetric.layout import Block, Layout
    from qad.typing import Array, Function

__all__ = ["Move", "between", "move", "packing", "unpacking"]


class Move:
    """A table of blocks that are copied.  Immutable; the inverse is made once.

    Attributes
    ----------
    read, write : int
        The sizes of the array that is read and of the one that is written.
    table : array of int64 (blocks, 2 + 3 d)
        Where a block begins in both arrays, its shape, and both strides, all of d axes in the order of the result.
    full : bool
        Whether every element of the result is written; the others are zero.
    """

    __slots__ = ("read", "write", "table", "full", "made", "_inverse", "_views", "_rows")
    read: int
    write: int
    made: tuple[Function, tuple[Any, ...]]
    table: np.ndarray
    full: bool

    def __init__(self, read: int, write: int, rows: Iterable[list[int]], made: tuple[Function, tuple[Any, ...]]):
        rows = list(rows)
        self.read, self.write, self.made = read, write, made
        self.table = np.array(rows, np.int64).reshape(len(rows), len(rows[0]) if rows else 2)
        self.table.flags.writeable = False
        d = (self.table.shape[1] - 2) // 3
        self.full = int(self.table[:, 2 : 2 + d].prod(axis=1).sum()) == write
        self._inverse: Move | None = None
        self._views: Any = None
        self._rows: np.ndarray | None = None

    @property
    def inverse(self) -> Move:
        """The move back."""
        if self._inverse is None:
            d = (self.table.shape[1] - 2) // 3
            order = [1, 0, *range(2, 2 + d), *range(2 + 2 * d, 2 + 3 * d), *range(2 + d, 2 + 2 * d)]
            rows = self.table[:, order].tolist()
            self._inverse = Move(self.write, self.read, rows, (_inverse_of, self.made))
            self._inverse._inverse = self
        return self._inverse

    @property
    def views(self) -> list[View]:
        """The rows of the table as Python reads them: both starts, the shape, both strides."""
        if self._views is None:
            d = (self.table.shape[1] - 2) // 3
            cuts = [slice(2 + i * d, 2 + (i + 1) * d) for i in range(3)]
            self._views = [(row[0], row[1], *(tuple(row[cut]) for cut in cuts)) for row in self.table.tolist()]
        return self._views

    @property
    def rows(self) -> np.ndarray:
        """The table as compiled kernels read it."""
        if self._rows is None:
            self._rows = compiled_rows(self.views)
        return self._rows

    def index(self) -> np.ndarray:
        """For every element of the result the one that is read; `read` where there is none."""
        found = np.full(self.write, self.read)
        for start, to, shape, reads, writes in self.views:
            steps = [np.ogrid[tuple(map(slice, shape))], (reads, writes)]
            one, two = (sum((i * s for i, s in zip(steps[0], strides, strict=True)), start=0) for strides in steps[1])
            found[to + two] = start + one
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return self.made


def _inverse_of(make, arguments):
    return make(*arguments).inverse


@primitive
def move(x: Array, *, table: Move) -> Array:
    """Copy the blocks of a flat array, or of a stack of them (b, size), to where a table says."""
    if is_foreign(x):
        padded = np.concatenate([x, np.zeros((*x.shape[:-1], 1), x.dtype, like=x)], axis=-1)
        return padded[..., table.index()]
    out = (np.empty if table.full else np.zeros)((*x.shape[:-1], table.write), x.dtype)
    copied(x, out, table)
    return out


defvjp(move, lambda g, ans, x, *, table: move(g, table=table.inverse), linear=True)
defbatch(move, same(move))


# -- tables ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=2048)
def between(source: Layout, target: Layout, axes: tuple[int, ...]) -> Move | None:
    """The move from one layout to another, whose leg i is leg ``axes[i]`` of the first; None where nothing moves."""
    if axes == tuple(range(len(axes))) and source.split == target.split:
        return None
    return Move(source.size, target.size, _rows(source, target, axes), (between, (source, target, axes)))


def _rows(source, target, axes):
    """The rows of the table, axes joined where they lie behind one another in both arrays, in every block."""
    if _turned(source, target, axes):
        for here, there in zip(*_by_rows(source, target), strict=True):
            yield [here.start, there.start, there.rows, there.columns, 1, here.columns, there.columns, 1]
        return
    last = _last_of_runs(source, target, axes)
    blocks, place = source.blocks, sorted(range(len(axes)), key=axes.__getitem__)
    for block in target.blocks.values():
        origin = blocks[tuple([block.numbers[i] for i in place])]
        reads, writes = source.strides(origin), target.strides(block)
        shape = [prod(block.shape[a + 1 : b + 1]) for a, b in zip([-1, *last], last, strict=False)]
        yield [origin.start, block.start, *shape, *[reads[axes[i]] for i in last], *[writes[i] for i in last]]


def _turned(source, target, axes):
    """Whether rows and columns of each sector change places, and nothing else."""
    cut, n = source.split, len(axes)
    return 0 < cut < n and target.split == n - cut and axes == (*range(cut, n), *range(cut))


def _by_rows(source, target):
    """The sectors of a layout, and those of its transpose, in the same order."""
    minus, total = source.symmetry.minus, source.total
    there = {sector.charge: sector for sector in target.sectors}
    return source.sectors, [there[minus(total, sector.charge)] for sector in source.sectors]


def _last_of_runs(source, target, axes):
    """The last axis of each run of axes of the target that follow on each other in both layouts."""
    joined = [
        axes[i + 1] == axes[i] + 1 and i + 1 != target.split and axes[i + 1] != source.split
        for i in range(len(axes) - 1)
    ]
    return [i for i in range(len(axes)) if i == len(axes) - 1 or not joined[i]]


@lru_cache(maxsize=512)
def packing(target: Layout) -> Move:
    """The move from the elements of a dense array, in C order, to a layout."""
    steps = list(accumulate([leg.dim for leg in reversed(target.legs[1:])], lambda a, b: a * b, initial=1))[::-1]
    steps = steps[: len(target.legs)]

    def rows():
        for block in target.blocks.values():
            starts = [leg.starts[i] * step for leg, i, step in zip(target.legs, block.numbers, steps, strict=True)]
            yield [sum(starts), block.start, *block.shape, *steps, *target.strides(block)]

    return Move(prod(target.shape), target.size, rows(), (packing, (target,)))


def unpacking(source: Layout) -> Move:
    """The move to the elements of a dense array."""
    return packing(source).inverse


@lru_cache(maxsize=512)
def gathering(target: Layout, given: tuple[tuple[int, ...], ...]) -> Move:
    """The move from some blocks, one after the other, each in C order, to a layout."""

    def rows():
        start = 0
        for numbers in given:
            block: Block = target.blocks[numbers]
            steps = [prod(block.shape[axis + 1 :]) for axis in range(len(block.shape))]
            yield [start, block.start, *block.shape, *steps, *target.strides(block)]
            start += prod(block.shape)

    size = sum(prod(target.blocks[numbers].shape) for numbers in given)
    return Move(size, target.size, rows(), (gathering, (target, given)))
