"""Larger bonds for a uniform state, in the directions and sectors that the Hamiltonian asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.uniform.mixed import Mixed, isometry, leading_of
from qad.symmetric.blocks.layout import layout
from qad.symmetric.blocks.moves import move
from qad.symmetric.create import random
from qad.symmetric.generic import direct_sum, join, laid_out, norm, permuted
from qad.symmetric.summing import embedding
from qad.symmetric.tensor import SymTensor, bare

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.mps.uniform.vumps import Vumps

    Directions = tuple[Any, Any] | None  # new columns (a, s, m), and new rows (m, t, b)

ROUNDING = 1e-13  # beside the scale of the Hamiltonian


def expanded(search: Vumps, bond: int) -> Mixed:
    """The state with bonds of up to this dimension, new directions and sectors without weight yet.

    They are those of the largest singular values of what ``H`` brings out of the range of both isometries beside a
    bond; an exact ground state has none, and stays as it is.
    """
    psi = search.psi
    least = ROUNDING * search.scale
    return widened(psi, [directions(psi, n, moved(search, n), bond, least) for n in range(len(psi))])


def at_random(psi: Mixed, bond: int, rng: np.random.Generator) -> Mixed:
    """A random state with bonds of up to this dimension, of charges that a few sites beside those of `psi` allow."""
    size = 0
    while size < psi.bond < bond or not size:
        size, found = psi.bond, []
        for n, left in enumerate(psi.lefts):
            legs = (*left.legs[:2], *psi.rights[(n + 1) % len(psi)].legs[1:])
            found.append(directions(psi, n, random(legs, dtype=left.dtype, seed=rng, split=2), bond, 1e-8))
        psi = widened(psi, found)
    return psi.nearest_to([gaussian(rng, x) for x in psi.vectors()])


def gaussian(rng: np.random.Generator, like: np.ndarray) -> np.ndarray:
    """Independent Gaussian numbers, of norm near 1, as many as an array has."""
    found = rng.standard_normal(like.shape)
    if like.dtype.kind == "c":
        found = found + 1j * rng.standard_normal(like.shape)
    return (found / max(np.linalg.norm(found), 1e-300)).astype(like.dtype)


def moved(search: Vumps, site: int) -> Any:
    """What the Hamiltonian makes of a site and the next one, legs (a, s, t, b), by terms across their bond alone."""
    H, psi, other = search.H, search.psi, (site + 1) % len(search.psi)
    half = join(search.lefts[site], psi.centres[site])  # a' u s m
    begun = join(half, H.sites[site], ((1, 2), (0, 3)))  # a' m v s'
    half = join(psi.rights[other], search.rights[other], ((2,), (2,)))  # m t b' w
    ended = join(half, H.sites[other], ((1, 3), (3, 1)))  # m b' v t'
    return laid_out(join(permuted(begun, 0, 3, 1, 2), permuted(ended, 0, 2, 3, 1), 2), 2)


def directions(psi: Mixed, site: int, pair: Any, bond: int, least: float) -> Directions:
    """New columns of the isometry of a site and new rows of the next one's, so that their bond has up to `bond`."""
    left, right = psi.lefts[site], psi.rights[(site + 1) % len(psi)]
    most = bond - left.shape[2]
    pair = beyond(beside(left, pair), right)
    if most < 1 or norm(pair) <= least:
        return None
    least /= np.sqrt(min(left.shape[0] * left.shape[1], right.shape[1] * right.shape[2]))  # one is larger
    columns, rows = leading_of(pair, 2, most, least, relative=False)
    return isometry(beside(left, columns), 2), isometry(beyond(rows, right), 1)  # once more, against rounding


def beside(left: Any, x: Any) -> Any:
    """The part of ``x`` (a, s, ...) out of the range of an isometry (a, s, b)."""
    return x - join(left, join(left.conj(), x, ((0, 1), (0, 1))))


def beyond(x: Any, right: Any) -> Any:
    """The part of ``x`` (..., t, b) out of the range of an isometry (m, t, b) from its left leg."""
    kept = join(x, right.conj(), ((x.ndim - 2, x.ndim - 1), (1, 2)))
    return x - join(kept, right)


def widened(psi: Mixed, found: Sequence[Directions]) -> Mixed:
    """The state with these directions on the bonds right of its sites, without weight."""
    lefts, rights = list(psi.lefts), list(psi.rights)
    for n, new in enumerate(found):
        if new is not None:
            after = (n + 1) % len(psi)
            lefts[n] = direct_sum(lefts[n], new[0], (2,))
            rights[after] = direct_sum(rights[after], new[1], (0,))
    right, left = [leg(x, 2) for x in lefts], [leg(x, 0) for x in rights]  # of the bonds right, and left of every site
    after, count = [*left[1:], left[0]], range(len(psi))
    return psi.with_(
        [laid_out(padded(lefts[n], (left[n], leg(lefts[n], 1), right[n])), 2) for n in count],
        [laid_out(padded(rights[n], (left[n], leg(rights[n], 1), right[n])), 1) for n in count],
        [padded(c, (after[n], right[n])) for n, c in enumerate(psi.bonds)],
    )


def leg(x: Any, axis: int) -> Any:
    """A leg of a symmetric tensor, or the dimension of an array's."""
    return x.legs[axis] if type(x) is SymTensor else x.shape[axis]


def padded(x: Any, legs: tuple[Any, ...]) -> Any:
    """A tensor as the first part of every block of a larger one, of zeros besides."""
    if type(x) is SymTensor:
        target = layout(legs, x.layout.split, x.layout.total, x.symmetry)
        return bare(target, move(x.data, table=embedding(x.layout, target, tuple(range(x.ndim)), False)))
    new = np.zeros(legs, x.dtype)
    new[tuple(map(slice, x.shape))] = x
    return new
