"""What moves and products of sectors do with the elements of arrays: in NumPy, or compiled where that is possible."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from qad.contract.run.compiler import has_compiler

if TYPE_CHECKING:
    from types import ModuleType

    from qad.symmetric.blocks.gemms import Gemms
    from qad.symmetric.blocks.moves import Move

__all__ = ["added", "copied", "copied_plainly", "multiplied", "multiplied_plainly", "parted"]

KINDS = frozenset(map(np.dtype, ("f4", "f8", "c8", "c16")))
AXES = 4  # of a block in the compiled loop
LONG = 8  # elements behind one another that are worth to be copied as one line
View = tuple[int, int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # both starts, the shape, both strides


def copied(x: np.ndarray, out: np.ndarray, table: Move) -> None:
    """Write the blocks of `x` (..., size) into `out` (..., size), which is in C order."""
    if x.dtype in KINDS and x.ndim == 1 and _in_order(x) and has_compiler():
        compiled().copied(x, out, table.rows)
    else:
        copied_plainly(x, out, table)


def added(x: np.ndarray, out: np.ndarray, rows: np.ndarray, factors: np.ndarray) -> None:
    """Add blocks (`parted`) of `x` (size,), each times its factor, to `out` (size,); all of one dtype, in C order."""
    if x.dtype in KINDS and has_compiler():
        compiled().added(x, out, rows, factors)
        return
    item, cuts = x.itemsize, [slice(2 + i * AXES, 2 + (i + 1) * AXES) for i in range(3)]
    for row, factor in zip(rows.reshape(-1, 2 + 3 * AXES).tolist(), factors, strict=True):
        shape, reads, writes = (tuple(row[cut]) for cut in cuts)
        here = np.ndarray(shape, x.dtype, x, row[0] * item, [s * item for s in reads])
        there = np.ndarray(shape, x.dtype, out, row[1] * item, [s * item for s in writes])
        there += factor * here


def multiplied(x: np.ndarray, y: np.ndarray, out: np.ndarray, plan: Gemms) -> None:
    """Write the product of each sector of `x` (..., size) and `y` (..., size) into `out` (..., size)."""
    alike = x.dtype == y.dtype and x.dtype in KINDS and x.ndim == y.ndim == 1
    if alike and _in_order(x) and _in_order(y) and has_compiler():
        compiled().multiplied(x, y, out, plan.table.reshape(-1), plan.turned[0] + 2 * plan.turned[1])
    else:
        multiplied_plainly(x, y, out, plan)


def _in_order(x: np.ndarray) -> bool:
    """Whether an array is in C order and aligned, as compiled loops read it."""
    return x.flags.num & 0x101 == 0x101


@cache
def compiled() -> ModuleType:
    """What is compiled, imported at first use."""
    from qad.symmetric.blocks import compiled

    return compiled


def copied_plainly(x: np.ndarray, out: np.ndarray, table: Move) -> None:
    """`copied` in NumPy's functions."""
    x, lead, item = np.ascontiguousarray(x), x.shape[:-1], x.itemsize
    ahead, behind = [s * item for s in _steps(x)], [s * item for s in _steps(out)]
    for start, to, shape, reads, writes in table.views:
        shape = (*lead, *shape)
        here = np.ndarray(shape, x.dtype, x, start * item, (*ahead, *[s * item for s in reads]))
        there = np.ndarray(shape, x.dtype, out, to * item, (*behind, *[s * item for s in writes]))
        there[...] = here


def _steps(x: np.ndarray) -> list[int]:
    """The strides in front of the last axis, in elements: those of arrays without a batch are none."""
    return [x.shape[-1]] if x.ndim == 2 else []


def multiplied_plainly(x: np.ndarray, y: np.ndarray, out: np.ndarray, plan: Gemms) -> None:
    """`multiplied` in NumPy's functions."""
    lead = out.shape[:-1]
    for one, two, three, m, k, n in plan.rows:
        a = x[..., one : one + m * k].reshape((*lead, k, m) if plan.turned[0] else (*lead, m, k))
        b = y[..., two : two + k * n].reshape((*lead, n, k) if plan.turned[1] else (*lead, k, n))
        a, b = a.mT if plan.turned[0] else a, b.mT if plan.turned[1] else b
        c = out[..., three : three + m * n]
        if lead:
            c[...] = (a @ b).reshape(c.shape)
        else:
            np.matmul(a, b, out=c.reshape(m, n))


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
