"""Entries of a table of numbers for one block of memory, and which of that memory is in use."""

from __future__ import annotations

from itertools import chain
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.contract.costs import MISPLACED
from qad.contract.run.entries import Copy, MatrixProduct, Multiply, entry
from qad.contract.run.pair import outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qad.contract.order.optimal import Labels

__all__ = ["LoopTable", "Piece"]

SHORT = 8  # the innermost loop of a copy writes elements side by side, unless it were shorter than this


class Piece(NamedTuple):
    """An array in a block: its labels of more than one value in their order in memory, where it begins, and whether it
    is in the block of the forward pass."""

    labels: Labels
    start: int
    kept: bool


class LoopTable:
    """Entries for one block, and which of its memory is in use."""

    sizes: Sequence[int]
    kept: bool
    entries: list[tuple[int, ...]]
    free: list[tuple[int, int]]
    top: int

    def __init__(self, sizes: Sequence[int], kept: bool):
        self.sizes, self.kept, self.entries, self.free, self.top = sizes, kept, [], [], 0

    def code(self) -> np.ndarray:
        """The entries as one array; each begins with its kind and ends where the next begins."""
        return np.array(list(chain(*self.entries)), np.int64)

    def size(self, labels: Iterable[int]) -> int:
        return prod([self.sizes[label] for label in labels])

    def piece(self, labels: Iterable[int]) -> Piece:
        """Memory for an array, in a gap if there is one."""
        labels = tuple([label for label in labels if self.sizes[label] != 1])
        size = self.size(labels)
        for place, (start, length) in enumerate(self.free):
            if length >= size:
                self.free[place] = start + size, length - size
                return Piece(labels, start, self.kept)
        self.top += size
        return Piece(labels, self.top - size, self.kept)

    def release(self, piece: Piece) -> None:
        self.free.append((piece.start, self.size(piece.labels)))
        self.free.sort(key=lambda gap: gap[1])

    def product(self, left: Piece, right: Piece, term: Labels, home: Piece | None = None) -> tuple[Piece, Piece, Piece]:
        """Entries for one pair, its result in the order of `term` if that comes for free, or at `home` in any case.

        Returns
        -------
        tuple of three Pieces
            The result, and both operands in the order of axes in which they were used.
        """
        term = tuple([label for label in term if self.sizes[label] != 1])
        batch, summed = outcome(left.labels, right.labels, term)
        if not summed:
            return self.multiply(left, right, term, home), left, right
        _, order, sums, swap, copies = min(self.forms(left, right, term), key=lambda form: form[0])
        sides = []
        for side, copied in zip((left, right), copies, strict=True):
            loose = _free(term, side.labels, batch, summed)
            sides.append(self.copy(side, (*order, *loose, *sums)) if copied else side)
        return self.matrices(*(sides[::-1] if swap else sides), order, sums, home), *sides

    def forms(
        self, left: Piece, right: Piece, term: Labels
    ) -> Iterator[tuple[float, Labels, Labels, bool, tuple[bool, bool]]]:
        """Ways to make a pair a product of matrices: (cost, batch labels, summed labels, whether the second operand
        comes first, whether either is copied)."""
        batch, summed = outcome(left.labels, right.labels, term)
        for copies in ((False, False), (False, True), (True, False), (True, True)) if summed else ():
            fixed = [side.labels for side, copied in zip((left, right), copies, strict=True) if not copied]
            orders = {tuple(filter(batch.__contains__, labels)) for labels in fixed} or {
                tuple(filter(batch.__contains__, term))
            }
            sums = {tuple(filter(summed.__contains__, labels)) for labels in fixed} or {
                tuple(filter(summed.__contains__, left.labels))
            }
            if len(orders) > 1 or len(sums) > 1 or not all(_is_matrix(labels, batch, summed) for labels in fixed):
                continue
            (order,), (sums,) = orders, sums
            cost = sum(self.size(side.labels) for side, copied in zip((left, right), copies, strict=True) if copied)
            one, two = (
                _free(term if copied else side.labels, side.labels, batch, summed)
                for side, copied in zip((left, right), copies, strict=True)
            )
            for swap, result in ((False, (*order, *one, *two)), (True, (*order, *two, *one))):
                yield cost + (result != term) * MISPLACED * self.size(term), order, sums, swap, copies

    def matrices(self, first: Piece, second: Piece, batch: Labels, sums: Labels, home: Piece | None = None) -> Piece:
        """A product of matrices, or of stacks of them."""
        shared = {*batch, *sums}
        rows, columns = (tuple([label for label in side.labels if label not in shared]) for side in (first, second))
        m, k, n, count = map(self.size, (rows, sums, columns, batch))
        turned_first = first.labels[len(batch) :] != (*rows, *sums)
        turned_second = second.labels[len(batch) :] != (*sums, *columns)
        labels = (*batch, *rows, *columns)
        out = home if home is not None and home.labels == labels else self.piece(labels)
        sides, form = (first.kept, first.start, second.kept, second.start), turned_first + 2 * turned_second
        self.entries.append(entry(MatrixProduct(*sides, out.start, m, k, n, form, count)))
        if home is None or out is home:
            return out
        self.release(out)
        return self.copy(out, home.labels, home)

    def multiply(self, left: Piece, right: Piece, term: Labels, home: Piece | None = None) -> Piece:
        """Nothing is summed: an elementwise product, both operands spread over the axes of the result."""
        out = home or self.piece(term)
        axes = self.axes(term, left.labels, right.labels) or [(1, 0, 0)]
        fields = Multiply(left.kept, left.start, right.kept, right.start, out.start, len(axes))
        self.entries.append(entry(fields, *chain(*zip(*axes, strict=True))))
        return out

    def copy(self, piece: Piece, labels: Labels, home: Piece | None = None) -> Piece:
        """Another order of axes, long ones copied by the innermost loops."""
        out = home or self.piece(labels)
        axes = self.axes(labels, piece.labels, labels)
        axes = [(1, 0, 0)] * (3 - len(axes)) + sorted(axes, key=lambda axis: (axis[2] == 1 and axis[0] >= SHORT, axis))
        fields = Copy(piece.kept, piece.start, out.start, len(axes))
        self.entries.append(entry(fields, *chain(*zip(*axes, strict=True))))
        return out

    def axes(self, order: Labels, *arrays: Labels) -> list[tuple[int, ...]]:
        """For the labels of `order` the size, and the steps in arrays of other labels; one axis for those that stay
        side by side."""
        axes = []
        for label, *steps in zip(order, *(self.strides(labels, order) for labels in arrays), strict=True):
            size = self.sizes[label]
            if axes and axes[-1][1:] == tuple([step * size for step in steps]):
                size *= axes.pop()[0]
            axes.append((size, *steps))
        return axes

    def strides(self, labels: Labels, order: Labels) -> list[int]:
        """The distance of neighbours along each label of `order` in an array; 0 where it lacks the label."""
        return [self.size(labels[labels.index(label) + 1 :]) if label in labels else 0 for label in order]


def _free(order, labels, batch, summed):
    """The labels that are neither batch nor summed, in an order."""
    return tuple([label for label in order if label in labels and label not in batch and label not in summed])


def _is_matrix(labels, batch, summed):
    """Whether an array is a stack of matrices as it lies: batch labels, then two runs of free and summed ones."""
    kinds = [0 if label in batch else 1 + (label in summed) for label in labels]
    changes = [kind for place, kind in enumerate(kinds) if place == 0 or kinds[place - 1] != kind]
    return len(set(changes)) == len(changes) and 0 not in changes[1:]
