"""Larger bonds for a uniform state of definite charge, and new sectors of them: as `qad.mps.uniform.growth`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.uniform.conserving.mixed import isometry
from qad.mps.uniform.growth import ROUNDING
from qad.symmetric.contraction import tensordot
from qad.symmetric.create import random
from qad.symmetric.layout import layout
from qad.symmetric.moves import move
from qad.symmetric.sparse import applied
from qad.symmetric.summing import direct_sum, embedding
from qad.symmetric.tensor import SymTensor, bare
from qad.symmetric.truncation import truncated_svd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.uniform.conserving.mixed import SymmetricMixed
    from qad.mps.uniform.vumps import Vumps
    from qad.symmetric.legs import Leg

    Directions = tuple[SymTensor, SymTensor] | None  # new columns (a, s, m), and new rows (m, t, b)


def expanded(search: Vumps, bond: int) -> SymmetricMixed:
    """The state with bonds of up to this dimension, new directions and sectors without weight yet.

    They are those of the largest singular values of what ``H`` brings out of the range of both isometries beside a
    bond; an exact ground state has none, and stays as it is.
    """
    psi = search.psi
    least = ROUNDING * search.scale
    return widened(psi, [directions(psi, n, moved(search, n), bond, least) for n in range(len(psi))])


def at_random(psi: SymmetricMixed, bond: int, rng: np.random.Generator) -> SymmetricMixed:
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


def moved(search: Vumps, site: int) -> SymTensor:
    """What the Hamiltonian makes of a site and the next one, legs (a, s, t, b), by terms across their bond alone."""
    H, psi, other = search.H, search.psi, (site + 1) % len(search.psi)
    half = tensordot(search.lefts[site], psi.centres[site], ([2], [0]))  # a' u s m
    begun = applied(H.entries[site], half, ((1, 2), (0, 3)), (0, 3, 2, 1), 2)  # a' s' v m
    half = tensordot(psi.rights[other], search.rights[other], ([2], [2]))  # m t b' w
    ended = applied(H.entries[other], half, ((1, 3), (3, 1)), (2, 0, 3, 1), 2)  # v m t' b'
    return tensordot(begun, ended, 2).resplit(2)


def directions(psi: SymmetricMixed, site: int, pair: SymTensor, bond: int, least: float) -> Directions:
    """New columns of the isometry of a site and new rows of the next one's, so that their bond has up to `bond`."""
    left, right = psi.lefts[site], psi.rights[(site + 1) % len(psi)]
    most = bond - left.shape[2]
    pair = beyond(beside(left, pair), right)
    if most < 1 or pair.norm() <= least:
        return None
    least /= np.sqrt(min(left.shape[0] * left.shape[1], right.shape[1] * right.shape[2]))  # one is larger
    u, _, v, _ = truncated_svd(pair, most, least, False, split=2, multiplets="cut")
    return isometry(beside(left, u), 2), isometry(beyond(v, right), 1)  # once more, against rounding


def beside(left: SymTensor, x: SymTensor) -> SymTensor:
    """The part of ``x`` (a, s, ...) out of the range of an isometry (a, s, b)."""
    return x - tensordot(left, tensordot(left.conj(), x, ([0, 1], [0, 1])), 1)


def beyond(x: SymTensor, right: SymTensor) -> SymTensor:
    """The part of ``x`` (..., t, b) out of the range of an isometry (m, t, b) from its left leg."""
    kept = tensordot(x, right.conj(), ([x.ndim - 2, x.ndim - 1], [1, 2]))
    return x - tensordot(kept, right, 1)


def widened(psi: SymmetricMixed, found: Sequence[Directions]) -> SymmetricMixed:
    """The state with these directions on the bonds right of its sites, without weight."""
    lefts, rights = list(psi.lefts), list(psi.rights)
    for n, new in enumerate(found):
        if new is not None:
            after = (n + 1) % len(psi)
            lefts[n] = direct_sum(lefts[n], new[0], 2)
            rights[after] = direct_sum(rights[after], new[1], 0)
    legs = [x.legs[2] for x in lefts]  # right of every site
    count = range(len(psi))
    return psi.with_(
        [padded(lefts[n], (legs[n - 1].conj(), lefts[n].legs[1], legs[n])).resplit(2) for n in count],
        [padded(rights[n], (legs[n - 1].conj(), rights[n].legs[1], legs[n])).resplit(1) for n in count],
        [padded(c, (legs[n].conj(), legs[n])) for n, c in enumerate(psi.bonds)],
    )


def padded(x: SymTensor, legs: tuple[Leg, ...]) -> SymTensor:
    """A tensor as the first part of every block of a larger one, of zeros besides."""
    target = layout(legs, x.layout.split, x.layout.total, x.symmetry)
    return bare(target, move(x.data, table=embedding(x.layout, target, tuple(range(x.ndim)), False)))
