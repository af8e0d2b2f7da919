"""Terms of a model as operators of two sites, each with the legs that lead from one to the other."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, as_array, value_of
from qad.peps.charges import odd_states
from qad.peps.infinite.orbits import canonical
from qad.peps.infinite.state import STEPS
from qad.peps.models import DIAGONALS, NEIGHBOURS, Term

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeAlias

    from qad.mps.operators.local import Site

    Place: TypeAlias = "tuple[int, int]"
    Path: TypeAlias = "tuple[int, ...]"
    Links: TypeAlias = "dict[tuple[Place, int], Place]"

UP, LEFT, DOWN, RIGHT = STEPS
OPPOSITE = {UP: DOWN, LEFT: RIGHT, DOWN: UP, RIGHT: LEFT}
WAYS = (((RIGHT,),), ((DOWN,),), ((RIGHT, DOWN), (DOWN, RIGHT)), ((LEFT, DOWN), (DOWN, LEFT)))
PATHS = dict(zip((*NEIGHBOURS, *DIAGONALS), WAYS, strict=True))


def links_of(shape: tuple[int, int]) -> Links:
    """The neighbour at each leg of each place of a finite lattice, where there is one."""
    places = list(product(*map(range, shape)))
    every = [((row, column), leg, (row + i, column + j)) for row, column in places for leg, (i, j) in STEPS.items()]
    return {(place, leg): other for place, leg, other in every if other in places}


def along_paths(terms: Iterable[Term], kind: Site, links: Links | None = None) -> dict[tuple[Place, Path], np.ndarray]:
    """The operators of two sites by the first of them and the legs that lead to the other.

    Terms of single sites are shared among their bonds, four on an infinite lattice, and those of diagonals among their
    two paths.
    """
    found: dict = defaultdict(float)
    for t in on_bonds(terms, links):
        if type(t.operator) is Tensor and t.operator.requires_grad:
            raise ArgumentError("updates take plain numbers: the state that they find has no derivatives")
        first, t = min(t.sites), canonical(t, odd_states(kind) if kind.fermionic else None)
        if t.sites not in PATHS:
            raise ArgumentError(
                "updates take terms on sites, neighbours and diagonals: start other models from random states"
            )
        for path in PATHS[t.sites]:
            found[first, path] = found[first, path] + as_array(value_of(t.operator)) / len(PATHS[t.sites])
    return found


def on_bonds(terms: Iterable[Term], links: Links | None) -> Iterator[Term]:
    """The terms, those of single sites as ones of two, shared among all bonds of theirs."""
    for t in terms:
        if len(t.sites) > 1:
            yield t
            continue
        (place,), d = t.sites, len(t.operator)
        beside = {leg: (place[0] + rows, place[1] + columns) for leg, (rows, columns) in STEPS.items()}
        others = [other for leg, other in beside.items() if links is None or (place, leg) in links]
        if not others:
            raise ArgumentError("updates take lattices of two sites or more: a single one has no bonds")
        pair = np.kron(t.operator, np.eye(d)).reshape((d,) * 4) / len(others)
        yield from [Term(pair, (*t.sites, other)) for other in others]
