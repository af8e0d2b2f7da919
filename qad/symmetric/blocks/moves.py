"""Moves: the elements of one flat array, block by block, to their places in another.

A `Move` is a table of rows (where a block is read, where it is written, its shape, both strides).  It brings a tensor
from one layout into another, its legs in another order; packs dense arrays, and unpacks them.  It reads and writes no
element twice; so the adjoint of a move is the move by the inverse table, and derivatives of every order are moves.
Blocks of fermions may change their sign on the way.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import core, is_foreign, like, primitive, rule
from qad.symmetric.blocks.kernels import View, compiled_for, parted
from qad.symmetric.signs import reordered

if TYPE_CHECKING:
    from typing import Any

    from qad.symmetric.blocks.layout import Layout, Pairing
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
    negative : array of bool (blocks,), or None
        Which blocks change their sign; None where none does.
    """

    __slots__ = ("read", "write", "table", "full", "negative", "made", "_inverse", "_views", "_rows")
    read: int
    write: int
    table: np.ndarray
    full: bool
    negative: np.ndarray | None
    made: tuple[Function, tuple[Any, ...]]

    def __init__(
        self,
        read: int,
        write: int,
        table: np.ndarray,
        made: tuple[Function, tuple[Any, ...]],
        negative: np.ndarray | None = None,
    ):
        self.read, self.write, self.made, self.negative = read, write, made, negative
        self.table = table
        table.flags.writeable = False
        d = (self.table.shape[1] - 2) // 3
        self.full = int(self.table[:, 2 : 2 + d].prod(axis=1).sum()) == write
        self._inverse: Move | None = None
        self._views: Any = None
        self._rows: tuple[np.ndarray, int] | None = None

    @property
    def inverse(self) -> Move:
        """The move back."""
        if self._inverse is None:
            d = (self.table.shape[1] - 2) // 3
            order = [1, 0, *range(2, 2 + d), *range(2 + 2 * d, 2 + 3 * d), *range(2 + d, 2 + 2 * d)]
            made = (_inverse_of, self.made)
            self._inverse = Move(self.write, self.read, self.table[:, order], made, self.negative)
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
    def rows(self) -> tuple[np.ndarray, int]:
        """The table as compiled kernels read it, and how many of its rows keep their sign: these come first."""
        if self._rows is None:
            rows, which = parted(self.table)
            negative = np.zeros(len(rows), bool) if self.negative is None else self.negative[which]
            rows = rows[np.argsort(negative, kind="stable")]
            self._rows = rows.reshape(-1), len(rows) - int(negative.sum())
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


def _inverse_of(make: Function, arguments: tuple[Any, ...]) -> Move:
    return make(*arguments).inverse


@primitive
def move(x: Array, *, table: Move) -> Array:
    """Copy the blocks of a flat array, or of a stack of them (b, size), to where a table says."""
    if is_foreign(x):
        padded = np.concatenate([x, np.zeros((*x.shape[:-1], 1), x.dtype, like=x)], axis=-1)
        found = padded[..., table.index()]
        if table.negative is None:
            return found
        signs = np.zeros(table.write, np.finfo(x.dtype).dtype if x.dtype.kind in "fc" else x.dtype)
        copied_plainly(np.ones(table.read, signs.dtype), signs, table)
        return found * like(x).asarray(signs)
    out = (np.empty if table.full else np.zeros)((*x.shape[:-1], table.write), x.dtype)
    copied(x, out, table)
    return out


rule(move, lambda g, ans, x, *, table: move(g, table=table.inverse), linear=True, batch=core(1))


def copied(x: np.ndarray, out: np.ndarray, table: Move) -> None:
    """Write the blocks of `x` (..., size) into `out` (..., size), which is in C order; some change their signs."""
    if (loops := compiled_for(x)) is not None:
        loops.copied(x, out, *table.rows)
    else:
        copied_plainly(x, out, table)


def copied_plainly(x: np.ndarray, out: np.ndarray, table: Move) -> None:
    """`copied` in NumPy's functions."""
    x, lead, item = np.ascontiguousarray(x), x.shape[:-1], x.itemsize
    ahead, behind = [s * item for s in _steps(x)], [s * item for s in _steps(out)]
    negative = [False] * len(table.table) if table.negative is None else table.negative
    for (start, to, shape, reads, writes), changes in zip(table.views, negative, strict=True):
        shape = (*lead, *shape)
        here = np.ndarray(shape, x.dtype, x, start * item, (*ahead, *[s * item for s in reads]))
        there = np.ndarray(shape, x.dtype, out, to * item, (*behind, *[s * item for s in writes]))
        there[...] = here * -1 if changes else here  # np.negative of NumPy 2.4 is wrong at strides of 64 bytes


def _steps(x: np.ndarray) -> list[int]:
    """The strides in front of the last axis, in elements: those of arrays without a batch are none."""
    return [x.shape[-1]] if x.ndim == 2 else []


# -- tables ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=2048)
def between(
    source: Layout,
    target: Layout,
    axes: tuple[int, ...],
    order: tuple[int, ...] | None = None,
    closed: tuple[int, ...] = (),
) -> Move | None:
    """The move from one layout to another, whose leg i is leg ``axes[i]`` of the first; None where nothing moves.

    Fermions are exchanged as legs in the given `order`, which is by default that of `axes`, whatever way they lie; the
    legs `closed` cost a sign each (`qad.symmetric.signs`).
    """
    negative = reordered(source, axes if order is None else order, closed)
    if axes == tuple(range(len(axes))) and source.split == target.split and negative is None:
        return None
    made = (between, (source, target, axes, order, closed))
    if negative is not None:
        negative = negative[_same_blocks(source.pairing, target.pairing, axes)]
    return Move(source.size, target.size, _rows(source, target, axes), made, negative)


def _rows(source: Layout, target: Layout, axes: tuple[int, ...]) -> np.ndarray:
    """The table, a row for every block, axes joined where they lie behind one another in both arrays."""
    last = _last_of_runs(source, target, axes)
    here, there = source.arrays, target.arrays
    same = _same_blocks(source.pairing, target.pairing, axes)
    shapes = np.multiply.reduceat(there.shapes, [0, *[axis + 1 for axis in last[:-1]]], axis=1)
    reads, writes = here.strides[same][:, [axes[axis] for axis in last]], there.strides[:, last]
    return np.column_stack([here.starts[same], there.starts, shapes, reads, writes])


@lru_cache(maxsize=4096)
def _same_blocks(source: Pairing, target: Pairing, axes: tuple[int, ...]) -> np.ndarray:
    """For each block of a layout its place in that with the legs in another order."""
    return source.find(target.numbers[:, np.argsort(axes)])


def _last_of_runs(source: Layout, target: Layout, axes: tuple[int, ...]) -> list[int]:
    """The last axis of each run of axes of the target that follow on each other in both layouts."""
    joined = [
        axes[i + 1] == axes[i] + 1 and i + 1 != target.split and axes[i + 1] != source.split
        for i in range(len(axes) - 1)
    ]
    return [i for i in range(len(axes)) if i == len(axes) - 1 or not joined[i]]


@lru_cache(maxsize=512)
def packing(target: Layout) -> Move:
    """The move from the elements of a dense array, in C order, to a layout."""
    there, numbers = target.arrays, target.pairing.numbers
    steps = [prod(target.shape[axis + 1 :]) for axis in range(len(target.legs))]
    starts = np.zeros(len(numbers), np.int64)
    for axis, (leg, step) in enumerate(zip(target.legs, steps, strict=True)):
        starts += np.array(leg.starts)[numbers[:, axis]] * step
    reads = np.broadcast_to(np.array(steps, np.int64), there.shapes.shape)
    table = np.column_stack([starts, there.starts, there.shapes, reads, there.strides])
    return Move(prod(target.shape), target.size, table, (packing, (target,)))


def unpacking(source: Layout) -> Move:
    """The move to the elements of a dense array."""
    return packing(source).inverse


@lru_cache(maxsize=512)
def gathering(target: Layout, given: tuple[int, ...]) -> Move:
    """The move from the blocks of these numbers, one after the other, each in C order, to a layout."""
    there, chosen = target.arrays, list(given)
    shapes = there.shapes[chosen]
    steps = np.cumprod(np.column_stack([shapes[:, 1:], np.ones(len(given), np.int64)])[:, ::-1], axis=1)[:, ::-1]
    sizes = shapes.prod(axis=1)
    starts = np.cumsum(sizes) - sizes
    steps = steps[:, : shapes.shape[1]]  # none where there is no leg
    table = np.column_stack([starts, there.starts[chosen], shapes, steps, there.strides[chosen]])
    return Move(int(sizes.sum()), target.size, table, (gathering, (target, given)))
