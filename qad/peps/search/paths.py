"""Terms of a model as operators of two sites, each with the legs that lead from one to the other."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, as_array, value_of
from qad.peps.charges import odd_states
from qad.peps.infinite.orbits import canonical
from qad.peps.infinite.state import STEPS
from qad.peps.models import DIAGONALS, NEIGHBOURS, Term

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from qad.mps.operators.local import Site

    Place: TypeAlias = "tuple[int, int]"
    Path: TypeAlias = "tuple[int, ...]"

UP, LEFT, DOWN, RIGHT = STEPS
OPPOSITE = {UP: DOWN, LEFT: RIGHT, DOWN: UP, RIGHT: LEFT}
WAYS = (((RIGHT,),), ((DOWN,),), ((RIGHT, DOWN), (DOWN, RIGHT)), ((LEFT, DOWN), (DOWN, LEFT)))
PATHS = dict(zip((*NEIGHBOURS, *DIAGONALS), WAYS, strict=True))


def beside(place: Place) -> list[Place]:
    """The four neighbours of a site of the infinite lattice."""
    return [(place[0] + rows, place[1] + columns) for rows, columns in STEPS.values()]


def along_paths(
    terms: Iterable[Term], kind: Site, around: Callable[[Place], Sequence[Place]] = beside
) -> dict[tuple[Place, Path], np.ndarray]:
    """The operators of two sites by the first of them and the legs that lead to the other.

    Terms of single sites are shared among their bonds, which lead to the places `around` them, and those of diagonals
    among their two paths.
    """
    found: dict = defaultdict(float)
    for t in on_bonds(terms, around):
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


def on_bonds(terms: Iterable[Term], around: Callable[[Place], Sequence[Place]]) -> Iterator[Term]:
    """The terms, those of single sites as ones of two, shared among all bonds of theirs."""
    for t in terms:
        if len(t.sites) > 1:
            yield t
            continue
        d, others = len(t.operator), around(t.sites[0])
        pair = np.kron(t.operator, np.eye(d)).reshape((d,) * 4) / len(others)
        yield from [Term(pair, (*t.sites, other)) for other in others]
