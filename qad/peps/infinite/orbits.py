"""Terms of a model that a symmetry of the state carries into each other are measured once."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.peps.charges import odd_states
from qad.peps.infinite.symmetry import elements
from qad.peps.models import SAME, Model, Term, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def orbits(model: Model, symmetry: str | None, is_complex: bool) -> Iterator[tuple[float, Term]]:
    """Yield (how often, term) of those that have to be measured; one-site terms join one on several sites.

    Raises
    ------
    ArgumentError
        If the model has not the symmetry.
    """
    odd = odd_states(model.kind) if model.kind is not None and model.kind.fermionic else None
    terms = joined([canonical(t, odd) for t in model.terms])
    while terms:
        first = terms[0]
        images = [canonical(image, odd) for image in moved(first, symmetry, is_complex)]
        found = []
        for image in images:
            same = [t for t in terms if t.sites == image.sites and is_same(t, image)]
            if not same:
                raise ArgumentError(
                    f"the model has not the symmetry {symmetry!r} of the state: nothing on {image.sites} answers to "
                    f"the term on {first.sites}; take symmetry=None"
                )
            found.append(same[0])
        kept = [t for t in terms if all(t is not other for other in found)]
        yield float(len(terms) - len(kept)), first
        terms = kept


def moved(t: Term, symmetry: str | None, is_complex: bool) -> list[Term]:
    """The images of a term under a group."""
    if symmetry is None:
        return [t]
    images = []
    for _, reflects, matrix in elements(symmetry):
        sites = tuple(tuple(int(x) for x in matrix @ place) for place in t.sites)
        conjugated = reflects and is_complex and symmetry == "c4v"
        images.append(Term(t.operator.conj() if conjugated else t.operator, sites))
    return images


def canonical(t: Term, odd: Sequence[int] | None = None) -> Term:
    """The same term with its sites in order, the rectangle around them beginning at (0, 0).

    Of fermions `odd` tells which basis states of a site are odd: the sign changes where two of them are exchanged.
    """
    low = [min(place[axis] for place in t.sites) for axis in (0, 1)]
    shifted = [(row - low[0], column - low[1]) for row, column in t.sites]
    order = sorted(range(len(shifted)), key=lambda i: shifted[i])
    operator, k = t.operator, len(order)
    for i, j in combinations(range(k) if odd else (), 2):
        if order.index(i) > order.index(j):
            signs = np.moveaxis((1 - 2 * np.outer(odd, odd)).reshape(len(odd), -1, *[1] * (k - 2)), (0, 1), (i, j))
            operator = operator * signs.reshape(*signs.shape, *[1] * k) * signs
    operator = operator.transpose(*order, *(k + i for i in order))
    return Term(operator, tuple(shifted[i] for i in order))


def joined(terms: list[Term]) -> list[Term]:
    """Terms on the same sites added up."""
    found: dict = {}
    for t in terms:
        found[t.sites] = Term(found[t.sites].operator + t.operator, t.sites) if t.sites in found else t
    return list(found.values())


def is_same(t: Term, other: Term) -> bool:
    """Whether two terms on the same sites are equal but for rounding."""
    x, y = plain(t.operator), plain(other.operator)
    return x.shape == y.shape and bool(np.linalg.norm(x - y) <= 100 * SAME * np.linalg.norm(x))
