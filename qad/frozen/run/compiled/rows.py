"""The table that the compiled loop of a frozen program goes through: one row of integers for each piece of work.

A row says which inner loop is carried out, on three operands at most, for every element of up to two axes around the
one that the operation itself runs along.  `RowOperation` is one before the addresses of its operands are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from qad.frozen.program.program import variables

# Columns: the address of an inner loop, of NumPy's or one of ours that is called likewise, and what else it is given;
# how often it is done along two axes; elements in one go, in each block but the last, and in the last block.
FUNCTION, DATA, OUTER, INNER, COUNT, LAST = range(6)
# Of each of three operands: its address; the number of the array, among those given to a run, from whose beginning that
# counts, -1 for none; bytes from one block to the next, and along the two axes; what the inner loop is given.
BASE, GIVEN, ADVANCE, OUTER_STEP, INNER_STEP, ARGS = range(6, 24, 3)
DIMS, STEPS, WIDTH = 24, 28, 37  # four sizes, of which the loop writes the first, and nine strides; columns in all

AROUND = 2  # axes around the one along which an operation runs


class Unknown(Exception):
    """The loop cannot carry out a step."""


def require(condition: object) -> None:
    """Raise unless a condition holds that the loop has."""
    if not condition:
        raise Unknown


def address_of(array: np.ndarray) -> int:
    """Where the entries of an array begin."""
    return array.__array_interface__["data"][0]


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

    def at(self, index: Any) -> Operand:
        """The part at an index of integers and slices."""
        index = index if type(index) is tuple else (index,)
        require(all(type(i) in (int, slice, type(None), type(...)) for i in index) and not variables(index))
        whole = as_strided(np.empty(1, self.char), self.shape, self.strides)  # whose entries nobody looks at
        part = whole[index if ... in index else (*index, ...)]
        return self.with_axes(part.shape, part.strides, address_of(part) - address_of(whole))


class RowOperation(NamedTuple):
    """An operation on operands, along an axis of `count` elements and up to two around it.

    Attributes
    ----------
    function : tuple of int, or str
        Address and data of NumPy's inner loop, or the name of one of our own.
    operands : tuple of Operand
        Their own axes no longer count.
    count, steps : int, tuple of int
        Elements, and strides of each operand, along the axis of the operation; `np.matmul` has more strides.
    around : tuple of pairs (n, strides of each operand)
    dims : tuple of int
        Further sizes.
    last : int
        Elements in the last block, if there are several.
    advance : tuple of int
        Bytes from one block to the next.
    """

    function: tuple[int, int] | str
    operands: tuple[Operand, ...]
    count: int
    steps: tuple[int, ...]
    around: tuple[tuple[int, tuple[int, ...]], ...] = ()
    dims: tuple[int, ...] = ()
    last: int = 0
    advance: tuple[int, ...] = ()

    @classmethod
    def along(
        cls,
        axes: Iterable[tuple[int, tuple[int, ...]]],
        operands: Sequence[Operand],
        function: tuple[int, int] | str | None,
        chosen: int | None = None,
        dims: tuple[int, ...] = (),
    ) -> RowOperation:
        """A row for these axes, the longest of which it runs along."""
        require(len(axes) <= AROUND + 1 and function is not None)
        axes = list(axes) or [(1, (0,) * len(operands))]
        longest = max(range(len(axes)), key=lambda i: axes[i][0]) if chosen is None else chosen
        count, steps = axes.pop(longest)
        return cls(function, tuple(operands), count, steps, tuple(axes), dims)

    def numbers(self, address: Callable[[Any], tuple[int, int]], own: Callable[[str], int]) -> list[int]:
        """The row as integers; `address` tells of a holder its address and the number of the array that is given, `own`
        where our own inner loops are.
        """
        found = [0] * WIDTH
        found[FUNCTION], found[DATA] = (own(self.function), 0) if type(self.function) is str else self.function
        found[COUNT], found[LAST] = self.count, self.last or self.count
        found[OUTER] = found[INNER] = 1
        columns = (INNER, INNER_STEP), (OUTER, OUTER_STEP)
        for (where, steps_at), (n, steps) in zip(columns, reversed(self.around), strict=False):
            found[where] = n
            found[steps_at : steps_at + len(steps)] = steps
        found[GIVEN : GIVEN + 3] = -1, -1, -1
        for i, operand in enumerate(self.operands):
            base, found[GIVEN + i] = address(operand.holder)
            found[BASE + i] = base + operand.offset
        for at, values in ((ADVANCE, self.advance), (DIMS + 1, self.dims), (STEPS, self.steps)):
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
