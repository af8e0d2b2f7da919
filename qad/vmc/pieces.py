"""Operators as pieces: the sites that they turn, signs, and tables of elements.

A product of matrices on sites is a sum of products that turn the basis states of sites by fixed numbers of steps,
``|c> <c + k|`` modulo d, times a function of all c.  All those with the same steps lead to the same configuration.  The
function is a product of signs, as strings of Jordan and Wigner are, and of a table over the states of the other sites.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Flips: TypeAlias = tuple[bool, ...]  # which states of a site change the sign
    Part: TypeAlias = tuple[int, np.ndarray, Flips | None]

LARGEST = 2**16  # entries of a table
ROUNDING = 1e-12  # of the largest entry: what is left of parts that cancel


class Piece(NamedTuple):
    """What an element is a function of; a piece that turns nothing is on the diagonal."""

    turned: tuple[tuple[int, int], ...]  # pairs (site, steps)
    signs: tuple[tuple[int, Flips], ...]  # pairs (site, which of its states change the sign)
    sites: tuple[int, ...]  # of the table


def pieces_of(terms: Iterable[Any], matrices: Sequence[np.ndarray]) -> dict[Piece, np.ndarray]:
    """The tables (d**sites,) of all pieces of pairs (string of (site, number of a matrix), weight); none is zero."""
    parts, found = [parts_of(matrix) for matrix in matrices], {}
    for string, weight in terms:
        sites = [site for site, _ in string]
        for choice in product(*[parts[number] for _, number in string]):
            piece, table = piece_of(sites, choice, weight)
            found[piece] = found.get(piece, 0.0) + table
    rounding = ROUNDING * max([np.abs(table).max() for table in found.values()], default=0.0)
    for piece, table in found.items():
        kept = np.where(np.abs(table) > rounding, table, 0.0)
        found[piece] = kept if np.abs(kept.imag).max() > rounding else kept.real
    return {piece: table for piece, table in found.items() if table.any()}


def parts_of(matrix: np.ndarray) -> list[Part]:
    """The parts of a matrix that turn by k = 0, 1, ... steps: k, the elements ``<c|M|c + k>``, and their signs.

    The signs are None unless the elements differ by nothing else.
    """
    states, found = np.arange(len(matrix)), []
    for k in range(len(states)):
        row = matrix[states, (states + k) % len(states)]
        if row.any():
            equal, opposite = row == row[0], row == -row[0]
            found.append((k, row, tuple((~equal).tolist()) if (equal | opposite).all() else None))
    return found


def piece_of(places: Sequence[int], parts: Sequence[Part], weight: complex) -> tuple[Piece, np.ndarray]:
    """A product of parts on sites as a piece and a table."""
    signs, sites, table = [], [], np.array([weight])
    for site, (_, row, flips) in zip(places, parts, strict=True):
        if flips is None:
            sites.append(site)
            table = np.multiply.outer(table, row).ravel()
        else:
            signs += [(site, flips)] if any(flips) else []
            table = table * row[0]
        if len(table) > LARGEST:
            raise ArgumentError(f"the elements of a term on the sites {sites} depend on more than {LARGEST} states")
    turned = tuple([(site, steps) for site, (steps, _, _) in zip(places, parts, strict=True) if steps])
    return Piece(turned, tuple(signs), tuple(sites)), table
