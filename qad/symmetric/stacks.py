"""Stacks of symmetric tensors with the same number of legs, all of their numbers in one flat array.

What is done to all members alike is one move and one row of products, however many there are: the tables of the members
stand one behind the other.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.trees import register
from qad.symmetric.blocks.gemms import Gemms, gemms
from qad.symmetric.blocks.layout import Layout, layout
from qad.symmetric.blocks.moves import Move, between, move
from qad.symmetric.contraction import joint_contractions
from qad.symmetric.tensor import SymTensor, bare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array

    Layouts = tuple[Layout, ...]

__all__ = ["SymStack", "facing", "join", "of_members", "over", "overlaps", "starts_of", "turned"]


class SymStack:
    """Symmetric tensors, the numbers of one after those of the other; a pytree of one leaf."""

    __slots__ = ("layouts", "data")
    layouts: Layouts
    data: Any

    def __init__(self, layouts: Layouts, data: Array):
        self.layouts, self.data = layouts, data

    def members(self) -> list[SymTensor]:
        """The tensors, one by one."""
        ends = [*starts_of(self.layouts), sum(where.size for where in self.layouts)]
        return [bare(where, self.data[ends[i] : ends[i + 1]]) for i, where in enumerate(self.layouts)]

    def permuted(self, order: tuple[int, ...]) -> SymStack:
        """The members in another order; one may stand several times, or not at all."""
        table = _picking(self.layouts, order)
        return SymStack(tuple([self.layouts[i] for i in order]), move(self.data, table=table))


register(SymStack, lambda stack: ((stack.data,), stack.layouts), lambda where, data: SymStack(where, data[0]))


def of_members(members: Sequence[SymTensor]) -> SymStack:
    """A stack of tensors."""
    return SymStack(tuple([x.layout for x in members]), np.concatenate([x.data for x in members]))


def starts_of(layouts: Layouts) -> list[int]:
    """Where the numbers of each member begin."""
    return [0, *accumulate(where.size for where in layouts[:-1])]


def turned(x: SymStack, order: tuple[int, ...], split: int) -> SymStack:
    """All members with their legs in another order, the first `split` of them as rows."""
    table, layouts = _turning(x.layouts, order, split)
    return SymStack(layouts, x.data if table is None else move(x.data, table=table))


def facing(x: SymStack, rows: int) -> SymStack:
    """The members whose matrices multiply those of a map that ends in their first legs; or the other way round.

    Fermions meet from the inside outwards, so that legs act in reversed order, and kets that stand before their bras
    have to be exchanged with them.  Of other tensors they are the members.
    """
    table = _facing(x.layouts, rows)
    return x if table is None else SymStack(x.layouts, move(x.data, table=table))


def join(x: SymStack, y: SymStack, axes: tuple[tuple[int, ...], tuple[int, ...]]) -> SymStack:
    """Each member of a stack contracted with that of another."""
    first, second, plan, layouts = _joining(x.layouts, y.layouts, *axes)
    one = x.data if first is None else move(x.data, table=first)
    two = y.data if second is None else move(y.data, table=second)
    return SymStack(layouts, gemms(one, two, plan=plan))


@lru_cache(maxsize=512)
def _picking(layouts: Layouts, order: tuple[int, ...]) -> Move:
    starts = starts_of(layouts)
    sizes = [layouts[i].size for i in order]
    rows = [(starts[i], to, n, 1, 1) for i, to, n in zip(order, accumulate([0, *sizes[:-1]]), sizes, strict=True)]
    return Move(sum(where.size for where in layouts), sum(sizes), np.array(rows), (_picking, (layouts, order)))


@lru_cache(maxsize=512)
def _turning(layouts: Layouts, order: tuple[int, ...], split: int) -> tuple[Move | None, Layouts]:
    targets = tuple([layout(tuple([x.legs[i] for i in order]), split, x.total, x.symmetry) for x in layouts])
    moves = [between(one, two, order) for one, two in zip(layouts, targets, strict=True)]
    return beside(tuple(moves), tuple([where.size for where in layouts])), targets


@lru_cache(maxsize=512)
def _facing(layouts: Layouts, rows: int) -> Move | None:
    found = []
    for where in layouts:
        whole = tuple(range(len(where.legs)))
        closed = tuple([axis for axis in whole[:rows] if where.legs[axis].flow < 0])
        found.append(between(where, where, whole, (*whole[:rows][::-1], *whole[rows:]), closed))
    return beside(tuple(found), tuple([where.size for where in layouts]))


@lru_cache(maxsize=512)
def _joining(
    a: Layouts, b: Layouts, ones: tuple[int, ...], twos: tuple[int, ...]
) -> tuple[Move | None, Move | None, Gemms, Layouts]:
    found = joint_contractions(a, b, ones, twos)
    sizes = [tuple([where.size for where in side]) for side in (a, b, [x.out for x in found])]
    first, second = (
        beside(tuple([x.first for x in found]), sizes[0]),
        beside(tuple([x.second for x in found]), sizes[1]),
    )
    shifts = np.array([[0, *accumulate(n[:-1])] for n in sizes]).T
    tables = [x.plan.table + np.array([*shift, 0, 0, 0]) for x, shift in zip(found, shifts, strict=True)]
    plan = Gemms(np.concatenate(tables), tuple([sum(n) for n in sizes]), found[0].plan.turned)
    return first, second, plan, tuple([x.out for x in found])


@lru_cache(maxsize=1024)
def beside(moves: tuple[Move | None, ...], sizes: tuple[int, ...]) -> Move | None:
    """The moves of all members as one; None where nothing moves, in one or in all of them, whose `sizes` stay then."""
    if all(one is None for one in moves):
        return None
    d = max((one.table.shape[1] - 2) // 3 for one in moves if one is not None)
    tables, signs, read, write = [], [], 0, 0
    for one, size in zip(moves, sizes, strict=True):
        ones = [1] * (d - 1)
        table = np.array([[0, 0, *ones, size, *ones, 1, *ones, 1]]) if one is None else widened(one.table, d)
        tables.append(table + np.array([read, write, *[0] * (3 * d)]))
        negative = None if one is None else one.negative
        signs.append(np.zeros(len(table), bool) if negative is None else negative)
        read, write = read + (size if one is None else one.read), write + (size if one is None else one.write)
    negative = np.concatenate(signs)
    return Move(read, write, np.concatenate(tables), (beside, (moves, sizes)), negative if negative.any() else None)


def widened(table: np.ndarray, d: int) -> np.ndarray:
    """A table of blocks of d axes, the first of them of length 1."""
    own = (table.shape[1] - 2) // 3
    parts = [table[:, 2 + i * own : 2 + (i + 1) * own] for i in range(3)]
    ones = np.ones((len(table), d - own), np.int64)
    return np.column_stack([table[:, :2], *[part for own in parts for part in (ones, own)]])


def overlaps(x: SymStack, y: SymStack) -> Array:
    """The sum of ``x.conj() * y`` of each member, entry by entry."""
    return gemms(x.data.conj(), y.data, plan=_dots(x.layouts))


def over(x: SymStack, divisors: Array) -> SymStack:
    """Each member over its divisor."""
    table = _dots(x.layouts).right
    return SymStack(x.layouts, x.data / gemms(np.ones(table.sizes[0], x.data.dtype), divisors, plan=table))


@lru_cache(maxsize=512)
def _dots(layouts: Layouts) -> Gemms:
    starts, n = starts_of(layouts), len(layouts)
    sizes = [where.size for where in layouts]
    rows = [(start, start, i, 1, size, 1) for i, (start, size) in enumerate(zip(starts, sizes, strict=True))]
    return Gemms(rows, (sum(sizes), sum(sizes), n))
