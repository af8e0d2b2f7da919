"""Operators as pieces: tables of elements, signs, and the sites that are turned.

A product of matrices on sites is a sum of products that turn the basis states of sites by fixed numbers of steps,
``|c> <c + k|`` modulo d, times a function of all c.  All those with the same steps lead to the same configuration.  The
function is a table over the states of a few sites, times signs that others cast, as strings of Jordan and Wigner do.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qad.mps.operators.opsum import OpSum
    from qad.vmc.space import Space

SMALL = 16  # entries of a table that holds signs, too
LARGEST = 2**16  # entries of a table
ROUNDING = 1e-12  # of the largest entry: what is left of parts that cancel


class Piece(NamedTuple):
    """What an element is a function of; that with a sign and without turns is on the diagonal."""

    turned: tuple[tuple[int, int], ...]  # pairs (site, steps)
    signs: tuple[tuple[int, tuple[bool, ...]], ...]  # pairs (site, which of its states change the sign)
    sites: tuple[int, ...]  # of the table


def pieces_of(total: OpSum, space: Space) -> dict[Piece, np.ndarray]:
    """The tables (d**sites,) of all pieces, without what cancels; raises where the totals of the space change."""
    found: dict[Piece, np.ndarray] = {}
    for _, piece, table in contributions(total):
        found[piece] = found[piece] + table if piece in found else table
    rounding = ROUNDING * max([np.abs(table).max() for table in found.values()], default=0.0)
    for piece, table in found.items():
        kept = np.where(np.abs(table) > rounding, table, 0.0)
        found[piece] = kept if np.abs(kept.imag).max() > rounding else kept.real
        if charged(piece, kept, space):
            refuse(total, piece, space)
    return {piece: table for piece, table in found.items() if table.any()}


def contributions(total: OpSum) -> Iterator[tuple[Any, Piece, np.ndarray]]:
    """Each string of a sum with the pieces that it is part of, and what it adds to their tables."""
    parts = {}
    for string, weight in total.terms.items():
        for _, number in string:
            parts[number] = parts.get(number) or parts_of(total.operators.matrices[number])
        for choice in product(*[parts[number] for _, number in string]):
            yield string, *piece_of([(site, *part) for (site, _), part in zip(string, choice, strict=True)], weight)


def parts_of(matrix: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """The parts of a matrix that turn by 0, 1, ... steps: the steps k, and the elements ``<c|M|c + k>``."""
    states = np.arange(len(matrix))
    rows = [matrix[states, (states + k) % len(states)] for k in range(len(states))]
    return [(k, row) for k, row in enumerate(rows) if row.any()]


def piece_of(factors: Sequence[tuple[int, int, np.ndarray]], weight: complex) -> tuple[Piece, np.ndarray]:
    """A product of parts, each a site, its steps and its elements, as a piece and a table."""
    signs, sites, table = [], [], np.array([weight])
    small = prod(len(row) for _, _, row in factors) <= SMALL
    few = prod(len(row) for _, steps, row in factors if steps) <= SMALL  # so that X..X and Y..Y cancel in one table
    for site, steps, row in factors:
        if not small and not (few and steps) and row[0] and np.isin(row / row[0], (1, -1)).all():
            signs.append((site, tuple((row != row[0]).tolist())))
            table = table * row[0]
        else:
            sites.append(site)
            table = np.multiply.outer(table, row).ravel()
        if len(table) > LARGEST:
            raise ArgumentError(f"the elements of a term on the sites {sites} depend on more than {LARGEST} states")
    turned = tuple([(site, steps) for site, steps, _ in factors if steps])
    return Piece(turned, tuple(signs), tuple(sites)), table


def charged(piece: Piece, table: np.ndarray, space: Space) -> bool:
    """Whether an entry of a table leads to a configuration of other totals."""
    states, steps = np.arange(space.kind.phys), dict(piece.turned)
    for held in space.held.T:
        gained = np.zeros(1, int)
        for site in piece.sites:
            gained = np.add.outer(gained, held[(states + steps.get(site, 0)) % len(states)] - held).ravel()
        if gained[table != 0].any():
            return True
    return False


def refuse(total: OpSum, piece: Piece, space: Space) -> None:
    """Raise: a term has a part that changes the totals, and nothing cancels it."""
    terms = [string for string, other, part in contributions(total) if other == piece and charged(other, part, space)]
    name = " ".join(f"{total.name(number, site)}({site})" for site, number in terms[0])
    raise ArgumentError(
        f"the term {name} changes what {space!r} keeps fixed, and no other term cancels that: take a space without "
        "totals, or complete the sum, as Sy Sy completes Sx Sx"
    )
