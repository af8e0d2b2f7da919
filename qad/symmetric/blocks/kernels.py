"""What compiled loops do with the elements of symmetric tensors, where there is a compiler, and their tables."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from qad.contract.run.compiler import has_compiler

if TYPE_CHECKING:
    from types import ModuleType


__all__ = ["added", "compiled_for", "parted"]

KINDS = frozenset(map(np.dtype, ("f4", "f8", "c8", "c16")))
AXES = 4  # of a block in the compiled loop
LONG = 8  # elements behind one another that are worth to be copied as one line
View = tuple[int, int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # both starts, the shape, both strides


def added(x: np.ndarray, out: np.ndarray, rows: np.ndarray, factors: np.ndarray) -> None:
    """Add blocks (`parted`) of `x` (size,), each times its factor, to `out` (size,); all of one dtype, in C order."""
    if (loops := compiled_for(x)) is not None:
        loops.added(x, out, rows, factors)
        return
    item, cuts = x.itemsize, [slice(2 + i * AXES, 2 + (i + 1) * AXES) for i in range(3)]
    for row, factor in zip(rows.reshape(-1, 2 + 3 * AXES).tolist(), factors, strict=True):
        shape, reads, writes = (tuple(row[cut]) for cut in cuts)
        here = np.ndarray(shape, x.dtype, x, row[0] * item, [s * item for s in reads])
        there = np.ndarray(shape, x.dtype, out, row[1] * item, [s * item for s in writes])
        there += factor * here


def compiled_for(*arrays: np.ndarray) -> ModuleType | None:
    """What is compiled, where there is a compiler and the arrays are vectors of one dtype, in C order; else None."""
    kind = arrays[0].dtype
    for x in arrays:
        if x.dtype != kind or x.ndim != 1 or x.flags.num & 0x101 != 0x101:  # in order, and aligned
            return None
    return compiled() if kind in KINDS and has_compiler() else None


@cache
def compiled() -> ModuleType:
    """What is compiled, imported at first use."""
    from qad.symmetric.blocks import compiled

    return compiled


def parted(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The blocks of a table as blocks of exactly `AXES` axes, in the best order for loops, and which each is part of.

    The axis along which copying is quickest is the last: the largest with a stride of one on either side, if it is
    long; otherwise the largest.  Where there are more axes, blocks are parted along the smallest ones.
    """
    count, d = len(table), (table.shape[1] - 2) // 3
    starts, axes = table[:, :2], table[:, 2:].reshape(count, 3, d)
    if d < AXES:
        axes = np.concatenate([np.broadcast_to([[1], [0], [0]], (count, 3, AXES - d)), axes], axis=2)
    shape = axes[:, 0]
    near = np.where((axes[:, 1:] == 1).any(axis=1) & (shape >= LONG), shape, 0)
    key = shape + np.where((near > 0) & (near == near.max(axis=1, initial=0, keepdims=True)), np.int64(1) << 60, 0)
    axes = np.take_along_axis(axes, np.argsort(key, axis=1, kind="stable")[:, None], axis=2)
    starts, axes, which = _parted(starts, axes[:, :, :-AXES], axes[:, :, -AXES:])
    return np.concatenate([starts, axes.reshape(len(axes), 3 * AXES)], axis=1), which


def _parted(starts: np.ndarray, outer: np.ndarray, inner: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Blocks parted along outer axes: one for each combination of their indices."""
    shape = outer[:, 0]
    counts = shape.prod(axis=1)
    if (counts == 1).all():
        return starts, inner, np.arange(len(starts))
    which = np.repeat(np.arange(len(counts)), counts)
    rest, starts = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts), starts[which]
    for axis in reversed(range(shape.shape[1])):
        size = shape[which, axis]
        starts = starts + (rest % size)[:, None] * outer[which, 1:, axis]
        rest = rest // size
    return starts, inner[which], which
