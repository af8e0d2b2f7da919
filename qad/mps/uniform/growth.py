"""Larger bonds for a uniform state, in the directions and sectors that the Hamiltonian asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.uniform.mixed import Mixed, beside, isometry, leading_of
from qad.symmetric.generic import direct_sum, join, laid_out, norm

if TYPE_CHECKING:
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
    found = [directions(psi, n, moved(search, n), bond, ROUNDING * search.scale) for n in range(len(psi))]
    before = [found[-1], *found[:-1]]
    lefts = [x if new is None else direct_sum(x, new[0], (2,)) for x, new in zip(psi.lefts, found, strict=True)]
    rights = [x if new is None else direct_sum(x, new[1], (0,)) for x, new in zip(psi.rights, before, strict=True)]
    # from the old to the new basis of the bond right of every site, and of that left of it
    ends = [join(y.conj(), x, ((0, 1), (0, 1))) for x, y in zip(psi.lefts, lefts, strict=True)]
    begins = [join(y.conj(), x, ((1, 2), (1, 2))) for x, y in zip(psi.rights, rights, strict=True)]
    after = [*begins[1:], begins[0]]
    return Mixed(
        [laid_out(join(ends[n - 1], x), 2) for n, x in enumerate(lefts)],
        [laid_out(join(x, turn, ((2,), (1,))), 1) for x, turn in zip(rights, after, strict=True)],
        [join(join(ends[n], c), after[n], ((1,), (1,))) for n, c in enumerate(psi.bonds)],
        psi.conserved,
    )


def moved(search: Vumps, site: int) -> Any:
    """What the Hamiltonian makes of a site and the next one, legs (a, s, t, b), by terms across their bond alone."""
    H, psi, other = search.H, search.psi, (site + 1) % len(search.psi)
    half = join(search.lefts[site], psi.centres[site])  # a' u s m
    begun = join(half, H.sites[site], ((1, 2), (0, 3)))  # a' m v s'
    half = join(psi.rights[other], search.rights[other], ((2,), (2,)))  # m t b' w
    ended = join(half, H.sites[other], ((1, 3), (3, 1)))  # m b' v t'
    return laid_out(join(begun.transpose(0, 3, 1, 2), ended.transpose(0, 2, 3, 1), 2), 2)


def directions(psi: Mixed, site: int, pair: Any, bond: int, least: float) -> Directions:
    """New columns of the isometry of a site and new rows of the next one's, so that their bond has up to `bond`."""
    left, right = psi.lefts[site], psi.rights[(site + 1) % len(psi)]
    most = bond - left.shape[2]
    pair = beyond(beside(left, pair), right)
    if most < 1 or norm(pair) <= least:
        return None
    least /= np.sqrt(min(left.shape[0] * left.shape[1], right.shape[1] * right.shape[2]))  # one is larger
    columns, rows = leading_of(pair, 2, most=most, cutoff=least, relative=False, zeros=True)[::2]
    return isometry(beside(left, columns), 2), isometry(beyond(rows, right), 1)  # once more, against rounding


def beyond(x: Any, right: Any) -> Any:
    """The part of ``x`` (..., t, b) out of the range of an isometry (m, t, b) from its left leg."""
    kept = join(x, right.conj(), ((x.ndim - 2, x.ndim - 1), (1, 2)))
    return x - join(kept, right)
