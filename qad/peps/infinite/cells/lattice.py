"""Directions and positions of the corners and edges around the sites of a cell.

Direction k is that of the upper left corner and the upper edge, turned k times clockwise.  Sites that a translation of
the pattern carries into each other have one environment: they are of one kind.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

ALONG = ((0, 1), (1, 0), (0, -1), (-1, 0))  # of each direction: the step (rows, columns) clockwise along the edge
CLOCKWISE = (0, 3, 2, 1)  # the legs (up, left, down, right), in clockwise order
LEGS = tuple(tuple(CLOCKWISE[(k + j) % 4] for j in (0, 3, 2, 1)) for k in range(4))  # as up, left, down, right from k


class Cell(NamedTuple):
    """The kinds of sites of a pattern."""

    places: tuple[tuple[int, ...], ...]  # the kind of the site at (row, column)
    first: tuple[tuple[int, int], ...]  # the first site of each kind

    def kind(self, row: int, column: int) -> int:
        """That of a site of the infinite lattice."""
        return self.places[row % len(self.places)][column % len(self.places[0])]

    def shifted(self, kind: int, *steps: tuple[int, int]) -> int:
        """The kind of the site that is some steps away from one of `kind`."""
        row, column = self.first[kind]
        return self.kind(row + sum(s[0] for s in steps), column + sum(s[1] for s in steps))


class Wiring(NamedTuple):
    """Which member of a stack, ``direction * kinds + kind``, stands where, seen from the site p and the direction k."""

    before: tuple[int, ...]  # direction k - 1 at p
    after: tuple[int, ...]  # direction k + 1 at p
    across: tuple[int, ...]  # direction k + 1 at the next site, behind the cut
    under: tuple[int, ...]  # direction k - 1 one row further in
    over: tuple[int, ...]  # direction k + 2 behind the cut, one row further in
    here: tuple[int, ...]  # the cut before the edge
    side: tuple[int, ...]  # the cut before the corner
    corner: tuple[int, ...]  # where a new corner was a row further in
    edge: tuple[int, ...]  # where a new edge was


ONE_SIDE = Wiring(*[(0,)] * len(Wiring._fields))  # rotations leave the site as it is: one side stands for all


def wiring(cell: Cell) -> Wiring:
    """That of a cell."""
    kinds, found = len(cell.first), []

    def member(k: int, kind: int) -> int:
        return k % 4 * kinds + kind

    for k, p in product(range(4), range(kinds)):
        along, outward = ALONG[k], back(ALONG[k - 1])
        found.append((
            member(k - 1, p), member(k + 1, p), member(k + 1, cell.shifted(p, along)),
            member(k - 1, cell.shifted(p, outward)), member(k + 2, cell.shifted(p, along, outward)),
            member(k, cell.shifted(p, back(along))), member(k - 1, cell.shifted(p, outward)),
            member(k, cell.shifted(p, along, outward)), member(k, cell.shifted(p, outward)),
        ))  # fmt: skip
    columns = np.array(found).T
    orders = [*columns[:7], np.argsort(columns[7]), np.argsort(columns[8])]
    return Wiring(*[tuple(order.tolist()) for order in orders])


def back(step: tuple[int, int]) -> tuple[int, int]:
    """The step in the other direction."""
    return -step[0], -step[1]


def cell_of(pattern: tuple[str, ...]) -> Cell:
    """The kinds of sites of a pattern of letters."""
    rows, columns = len(pattern), len(pattern[0])

    def moved(a, b):
        return tuple("".join(pattern[(r + a) % rows][(c + b) % columns] for c in range(columns)) for r in range(rows))

    translations = [(a, b) for a, b in product(range(rows), range(columns)) if moved(a, b) == pattern]
    first: list[tuple[int, int]] = []
    places = [[-1] * columns for _ in range(rows)]
    for r, c in product(range(rows), range(columns)):
        if places[r][c] < 0:
            for a, b in translations:
                places[(r + a) % rows][(c + b) % columns] = len(first)
            first.append((r, c))
    return Cell(tuple(map(tuple, places)), tuple(first))
