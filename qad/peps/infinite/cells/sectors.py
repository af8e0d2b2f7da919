"""Cuts of symmetric tensors as matrices, one for each sector, all of one size, and projectors from such matrices."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.symmetric.blocks.layout import layout
from qad.symmetric.blocks.moves import Move, move
from qad.symmetric.legs import Leg
from qad.symmetric.stacks import SymStack, facing, starts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.symmetric.blocks.layout import Layout
    from qad.typing import Array

    Layouts = tuple[Layout, ...]


def sectors_of(
    a: SymStack, b: SymStack
) -> tuple[Array, Array, np.ndarray, Callable[[Array, Array, np.ndarray], tuple[SymStack, SymStack]]]:
    """The matrices of maps that end and begin at each cut, the cut of each, and what makes projectors of them."""
    how = _matrices(a.layouts, b.layouts)
    n, m = how.size, len(how.groups)

    def projectors(first: Array, second: Array, sizes: np.ndarray) -> tuple[SymStack, SymStack]:
        ahead, behind, layouts = _projectors(how, tuple(sizes.tolist()), first.shape[2])
        one, two = (move(x.reshape(-1), table=table) for x, table in ((first, ahead), (second, behind)))
        return facing(SymStack(layouts[0], one), 2), SymStack(layouts[1], two)

    ahead, behind = (_to_matrices(half, a.layouts, b.layouts) for half in range(2))
    one, two = move(a.data, table=ahead), move(facing(b, 2).data, table=behind)
    return one.reshape(m, n, n), two.reshape(m, n, n), how.groups, projectors


class CutMatrices:
    """Where the matrices of all cuts lie."""

    a: Layouts
    b: Layouts
    groups: np.ndarray
    charges: list[Any]
    heights: np.ndarray
    size: int
    starts_a: np.ndarray
    rows: np.ndarray
    starts_b: np.ndarray
    columns: np.ndarray

    def __init__(self, a: Layouts, b: Layouts):
        self.a, self.b, found = a, b, []
        for cut, (one, two, first, second) in enumerate(zip(a, b, starts_of(a), starts_of(b), strict=True)):
            behind = {sector.charge: sector for sector in two.sectors}
            for x in one.sectors:
                if (y := behind.get(x.charge)) is not None:
                    found.append((cut, x.charge, first + x.start, x.rows, x.columns, second + y.start, y.columns))
        self.groups = np.array([row[0] for row in found])
        self.charges = [row[1] for row in found]
        table = np.array([row[2:] for row in found])
        self.heights = table[:, 2]  # of the cut in each sector
        self.size = int(table[:, [1, 2, 4]].max())
        self.starts_a, self.rows, _, self.starts_b, self.columns = table.T


@lru_cache(maxsize=64)
def _matrices(a: Layouts, b: Layouts) -> CutMatrices:
    return CutMatrices(a, b)


@lru_cache(maxsize=64)
def _to_matrices(half: int, a: Layouts, b: Layouts) -> Move:
    """From the tensors before the cuts, or behind them, to their matrices, in the corners of larger ones."""
    how = _matrices(a, b)
    sides = (a, how.starts_a, how.rows, how.heights), (b, how.starts_b, how.heights, how.columns)
    side, starts, rows, columns = sides[half]
    to, ones, n = np.arange(len(starts)) * how.size**2, np.ones(len(starts), np.int64), how.size
    table = np.column_stack([starts, to, rows, columns, columns, ones, n * ones, ones])
    return Move(sum(x.size for x in side), len(table) * n**2, table, (_to_matrices, (half, a, b)))


@lru_cache(maxsize=64)
def _projectors(how: CutMatrices, sizes: tuple[int, ...], width: int) -> tuple[Move, Move, tuple[Layouts, Layouts]]:
    """The moves from matrices ``(m, cut, state)`` to projectors A and B with so many states of each sector."""
    layouts: tuple[list[Layout], list[Layout]] = ([], [])
    rows: tuple[list[tuple[int, ...]], list[tuple[int, ...]]] = ([], [])
    starts = [0, 0]
    for cut, (one, two) in enumerate(zip(how.a, how.b, strict=True)):
        number = {how.charges[i]: i for i in np.flatnonzero(how.groups == cut).tolist() if sizes[i]}
        charges = tuple(sorted(number))
        bond = Leg._made(one.symmetry, charges, tuple([sizes[number[charge]] for charge in charges]), 1)
        ahead = (*two.legs[:2], bond.conj()), 2, (width, 1)
        behind = (bond, *one.legs[-2:]), 1, (1, width)  # B is transposed: states are its rows
        for half, (legs, split, strides) in enumerate((ahead, behind)):
            where = layout(legs, split, one.symmetry.neutral, one.symmetry)
            for sector in where.sectors:
                read, write = number[sector.charge] * how.size * width, starts[half] + sector.start
                rows[half].append((read, write, sector.rows, sector.columns, *strides, sector.columns, 1))
            layouts[half].append(where)
            starts[half] += where.size
    total = len(sizes) * how.size * width
    made = [(_half, (i, how.a, how.b, sizes, width)) for i in range(2)]
    moves = [Move(total, starts[i], np.array(rows[i], np.int64), made[i]) for i in range(2)]
    return moves[0], moves[1], (tuple(layouts[0]), tuple(layouts[1]))


def _half(i: int, a: Layouts, b: Layouts, sizes: tuple[int, ...], width: int) -> Move:
    moves: Any = _projectors(_matrices(a, b), sizes, width)
    return moves[i]
