"""What moves and products of sectors do with the elements of arrays: in NumPy, or compiled where that is possible."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Protocol

import numpy as np

from qad.contract.compiler import has_compiler

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

__all__ = ["compiled_rows", "copied", "copied_plainly", "multiplied", "multiplied_plainly"]

KINDS = frozenset(map(np.dtype, ("f4", "f8", "c8", "c16")))
AXES = 4  # of a block in the compiled loop
View = tuple[int, int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # both starts, the shape, both strides


class Copies(Protocol):
    """What is known of a move: the blocks as Python reads them, and as the compiled loop does."""

    @property
    def views(self) -> Iterable[View]: ...
    @property
    def rows(self) -> np.ndarray: ...


class Products(Protocol):
    """What is known of a product sector by sector; see `qad.symmetric.gemms.Gemms`."""

    rows: tuple[tuple[int, ...], ...]
    turned: tuple[bool, bool]

    @property
    def table(self) -> np.ndarray: ...


def copied(x: np.ndarray, out: np.ndarray, table: Copies) -> None:
    """Write the blocks of `x` (..., size) into `out` (..., size), which is in C order."""
    if x.dtype in KINDS and x.ndim == 1 and _in_order(x) and has_compiler():
        compiled().copied(x, out, table.rows)
    else:
        copied_plainly(x, out, table)


def multiplied(x: np.ndarray, y: np.ndarray, out: np.ndarray, plan: Products) -> None:
    """Write the product of each sector of `x` (..., size) and `y` (..., size) into `out` (..., size)."""
    alike = x.dtype == y.dtype and x.dtype in KINDS and x.ndim == y.ndim == 1
    if alike and _in_order(x) and _in_order(y) and has_compiler():
        compiled().multiplied(x, y, out, plan.table, plan.turned[0] + 2 * plan.turned[1])
    else:
        multiplied_plainly(x, y, out, plan)


def _in_order(x):
    """Whether an array is in C order and aligned, as compiled loops read it."""
    return x.flags.num & 0x101 == 0x101


@cache
def compiled() -> ModuleType:
    """What is compiled, imported at first use."""
    from qad.symmetric import compiled

    return compiled


def copied_plainly(x: np.ndarray, out: np.ndarray, table: Copies) -> None:
    """`copied` in NumPy's functions."""
    x, lead, item = np.ascontiguousarray(x), x.shape[:-1], x.itemsize
    ahead, behind = [s * item for s in _steps(x)], [s * item for s in _steps(out)]
    for start, to, shape, reads, writes in table.views:
        shape = (*lead, *shape)
        here = np.ndarray(shape, x.dtype, x, start * item, (*ahead, *[s * item for s in reads]))
        there = np.ndarray(shape, x.dtype, out, to * item, (*behind, *[s * item for s in writes]))
        there[...] = here


def _steps(x):
    """The strides in front of the last axis, in elements: those of arrays without a batch are none."""
    return [x.shape[-1]] if x.ndim == 2 else []


def multiplied_plainly(x: np.ndarray, y: np.ndarray, out: np.ndarray, plan: Products) -> None:
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


def compiled_rows(views: Iterable[View]) -> np.ndarray:
    """The blocks of a move for the compiled loop: blocks of exactly `AXES` axes, in the best order for its loops."""
    rows = [row for view in views for row in _split_row(*view)]
    return np.array(rows, np.int64).reshape(-1)


def _split_row(start, to, shape, reads, writes):
    """A block as blocks of `AXES` axes: the axis along which copying is quickest last, the smallest ones written out.

    That is the largest with a stride of one on either side, if it is long; otherwise the largest.
    """
    axes = sorted(zip(shape, reads, writes, strict=True), key=lambda axis: axis[0])
    near = [axis for axis in axes if 1 in axis[1:] and axis[0] >= 8]
    if near:
        axes.remove(near[-1])
        axes.append(near[-1])
    outer, inner = axes[:-AXES], axes[-AXES:]
    inner = [(1, 0, 0)] * (AXES - len(inner)) + inner
    columns = [column for part in zip(*inner, strict=True) for column in part]
    for numbers in product(*[range(n) for n, _, _ in outer]):
        here = start + sum(i * axis[1] for i, axis in zip(numbers, outer, strict=True))
        there = to + sum(i * axis[2] for i, axis in zip(numbers, outer, strict=True))
        yield [here, there, *columns]
