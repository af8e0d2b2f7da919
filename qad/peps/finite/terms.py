"""Local terms on a finite lattice: where those of a model fit, and in which strip of rows each is measured."""

from __future__ import annotations

from itertools import product
from numbers import Integral
from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError
from qad.peps.models import Term, term
from qad.symmetric.generic import join

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from qad.typing import Array

    Place = tuple[int, int]


def places_of(shape: tuple[int, int]) -> list[Place]:
    """The sites of a lattice, row by row."""
    numbers = tuple(shape) if isinstance(shape, (tuple, list)) else ()
    if len(numbers) != 2 or not all(isinstance(n, Integral) and n > 0 for n in numbers):
        raise ArgumentError(f"a lattice is (rows, columns), two positive whole numbers, not {shape!r}")
    return list(product(*map(range, numbers)))


def in_rows(sites: Sequence[Any], shape: tuple[int, int]) -> list[Sequence[Any]]:
    """The rows of a lattice, from all of its sites row by row."""
    return [sites[start : start + shape[1]] for start in range(0, len(sites), shape[1])]


def placed(model: Any, shape: tuple[int, int], cylinder: bool) -> list[Term]:
    """All terms: the ``.terms`` of a model repeated from each site where they fit, or pairs (operator, sites)."""
    if not hasattr(model, "terms"):
        return [one(operator, sites, shape, cylinder) for operator, sites in pairs(model)]
    found, (rows, columns) = [], shape
    for t in model.terms:
        up, left = map(min, zip(*t.sites, strict=True))
        offsets = [(r - up, c - left) for r, c in t.sites]
        height, width = map(max, zip(*offsets, strict=True))
        for r in range(rows - height):
            for c in range(columns if cylinder else columns - width):
                sites = [(r + i, c + j) for i, j in offsets]
                found.append(one(t.operator, sites, shape, cylinder))
    if not found:
        raise ArgumentError(f"no term of the model fits on {rows} x {columns} sites")
    return found


def pairs(model: Any) -> Iterable[tuple[Any, Any]]:
    """The terms of a list, each an operator and its sites."""
    terms = list(model)
    if not terms or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in terms):
        raise ArgumentError("a model is a qad.peps model, or a list of pairs (operator, [(row, column), ...])")
    return terms


def one(operator: Any, sites: Iterable[tuple[int, int]], shape: tuple[int, int], cylinder: bool) -> Term:
    """A Hermitian term whose operator and sites fit the lattice."""
    rows, columns = shape
    places = tuple((int(r), int(c) % columns if cylinder else int(c)) for r, c in sites)
    if any(not (0 <= r < rows and 0 <= c < columns) for r, c in places):
        raise ArgumentError(f"a term acts on {places}, not all of which are among {rows} x {columns} sites")
    if not places or len(set(places)) < len(places):
        raise ArgumentError(
            f"a term acts on {places}: one site or more, all different (a ring of one has no neighbours)"
        )
    if max(r for r, _ in places) - min(r for r, _ in places) > 1:
        raise ArgumentError(f"a term on {places} reaches over more than two rows: turn the lattice, or split the term")
    return term(operator, places)


def against(density: Any, order: Sequence[Place], sites: Sequence[Place], operator: Any) -> Array:
    """``tr(rho O)`` for the open legs of a strip, (out, in) of each of the sites in `order`."""
    acts = [2 * order.index(site) for site in sites]
    return join(density, operator, ((*acts, *[1 + axis for axis in acts]), tuple(range(2 * len(acts)))))
