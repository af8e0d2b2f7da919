"""Rows of a table before the addresses of their operands are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from qad.frozen.program.program import variables
from qad.frozen.run.compiled import table

AROUND = 2  # axes around the one along which an operation runs


class Operand(NamedTuple):
    """A strided array: what holds it (a Var, or an array that is kept), the byte at which it begins there, its axes."""

    holder: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    char: str
    offset: int = 0

    @classmethod
    def of(cls, array: np.ndarray, holder: Any = None) -> Operand:
        """The whole of an array, or of an array like this one that a Var stands for."""
        return cls(array if holder is None else holder, array.shape, array.strides, array.dtype.char)

    @property
    def form(self) -> tuple[Any, ...]:
        """All but what holds it, and where it begins there."""
        return self[1:4]

    def spread(self, shape: Sequence[int]) -> Operand:
        """Broadcast to a shape."""
        missing = len(shape) - len(self.shape)
        steps = [0 if n == 1 else step for n, step in zip(self.shape, self.strides, strict=True)]
        return self.with_axes(shape, (*[0] * missing, *steps))

    def with_axes(self, shape: Iterable[int], strides: Iterable[int], offset: int = 0) -> Operand:
        """The same memory with other axes."""
        return Operand(self.holder, tuple(shape), tuple(strides), self.char, self.offset + offset)

    def at(self, index: Any) -> Operand | None:
        """The part at an index of integers and slices; None for another index."""
        index = index if type(index) is tuple else (index,)
        if any(type(i) not in (int, slice, type(None), type(...)) for i in index) or variables(index):
            return None
        whole = as_strided(np.empty(1, self.char), self.shape, self.strides)  # whose entries nobody looks at
        part = whole[index if ... in index else (*index, ...)]
        offset = part.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
        return self.with_axes(part.shape, part.strides, offset)


class Row(NamedTuple):
    """One row: an operation on operands, along an axis of `count` elements and up to two around it.

    Attributes
    ----------
    operation : int
    operands : tuple of Operand
        Their own axes no longer count.
    count, steps : int, tuple of int
        Elements, and strides of each operand, along the axis of the operation; `np.matmul` has more strides.
    around : tuple of pairs (n, strides of each operand)
    function : tuple of int, or None
        Address and data of NumPy's inner loop; None for one of our own.
    dims : tuple of int
        Further sizes.
    name : str
        What warnings call it.
    last : int
        Elements in the last block, if there are several.
    advance : tuple of int
        Bytes from one block to the next.
    """

    operation: int
    operands: tuple[Operand, ...]
    count: int
    steps: tuple[int, ...]
    around: tuple[tuple[int, tuple[int, ...]], ...] = ()
    function: tuple[int, int] | None = None
    dims: tuple[int, ...] = ()
    name: str = ""
    last: int = 0
    advance: tuple[int, ...] = ()

    @classmethod
    def along(
        cls,
        axes: Iterable[tuple[int, tuple[int, ...]]],
        operands: Sequence[Operand],
        chosen: int | None = None,
        **fields: Any,
    ) -> Row | None:
        """A row for these axes, the longest of which the operation runs along; None if there are too many."""
        if len(axes) > AROUND + 1:
            return None
        axes = list(axes) or [(1, (0,) * len(operands))]
        longest = max(range(len(axes)), key=lambda i: axes[i][0]) if chosen is None else chosen
        count, steps = axes.pop(longest)
        return cls(operands=tuple(operands), count=count, steps=steps, around=tuple(axes), **fields)

    def numbers(self, address: Callable[[Any], tuple[int, int]]) -> list[int]:
        """The row as integers; `address` tells of a holder its address and the number of the array that is given."""
        from qad.frozen.run.compiled.kernel import own

        found = [0] * table.WIDTH
        found[table.OPERATION] = self.operation
        found[table.FUNCTION], found[table.DATA] = self.function or (own(self.operation), 0)
        found[table.COUNT], found[table.LAST] = self.count, self.last or self.count
        found[table.OUTER] = found[table.INNER] = 1
        columns = (table.INNER, table.INNER_STEP), (table.OUTER, table.OUTER_STEP)
        for (where, steps_at), (n, steps) in zip(columns, reversed(self.around), strict=False):
            found[where] = n
            found[steps_at : steps_at + len(steps)] = steps
        found[table.GIVEN : table.GIVEN + 3] = -1, -1, -1
        for i, operand in enumerate(self.operands):
            base, found[table.GIVEN + i] = address(operand.holder)
            found[table.BASE + i] = base + operand.offset
        for at, values in ((table.ADVANCE, self.advance), (table.DIMS + 1, self.dims), (table.STEPS, self.steps)):
            found[at : at + len(values)] = values
        return found


def axes_of(operands: Sequence[Operand]) -> list[tuple[int, tuple[int, ...]]]:
    """The axes of operands of one shape, slowest first, as pairs (n, strides); those that can be joined are one."""
    pairs = zip(operands[0].shape, *[x.strides for x in operands], strict=True)
    axes = [(n, tuple(steps)) for n, *steps in pairs if n != 1]
    axes.sort(key=lambda axis: [-abs(step) for step in axis[1][::-1]])
    joined = []
    for n, steps in axes:
        if joined and joined[-1][1] == tuple(n * step for step in steps):
            joined[-1] = joined[-1][0] * n, steps
        else:
            joined.append((n, steps))
    return joined


def in_order(shape: Sequence[int], size: int) -> tuple[int, ...]:
    """The strides of an array in C order, of entries of so many bytes."""
    strides = [size]
    for n in shape[:0:-1]:
        strides.append(n * strides[-1])
    return tuple(strides[::-1]) if shape else ()
