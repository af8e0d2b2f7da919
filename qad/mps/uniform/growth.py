"""Larger bonds for a uniform state, in the directions that the Hamiltonian asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.kernels.dense_terms import left_block, right_block
from qad.mps.uniform.vumps import Mixed

if TYPE_CHECKING:
    from qad.mps.uniform.vumps import Vumps

ROUNDING = 1e-13  # beside the scale of the Hamiltonian


def expanded(search: Vumps, bond: int) -> Mixed:
    """The state with bonds of up to this dimension, the new directions without weight yet.

    They are those of the largest singular values of what ``H`` brings out of the range of both isometries beside a
    bond; an exact ground state has none, and stays as it is.
    """
    psi = search.psi
    found = [directions(search, n, bond - len(psi.bonds[n])) for n in range(len(psi))]
    lefts = [np.concatenate([x, new], 2) for x, (new, _) in zip(psi.lefts, found, strict=True)]
    rights = [np.concatenate([x, found[n - 1][1]], 0) for n, x in enumerate(psi.rights)]
    sizes = [x.shape[2] for x in lefts]
    return Mixed(
        [padded(x, (sizes[n - 1], *x.shape[1:])) for n, x in enumerate(lefts)],
        [padded(x, (*x.shape[:2], sizes[n])) for n, x in enumerate(rights)],
        [padded(c, (size, size)) for c, size in zip(psi.bonds, sizes, strict=True)],
    )


def directions(search: Vumps, site: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Up to `most` new columns of the isometry of a site, and as many new rows of the next one's."""
    H, psi, other = search.H, search.psi, (site + 1) % len(search.psi)
    left, right = psi.lefts[site], psi.rights[other]
    basis, corner = left.reshape(-1, left.shape[2]), right.reshape(len(right), -1)
    outside = np.linalg.svd(basis)[0][:, basis.shape[1] :]
    beyond = np.linalg.svd(corner)[2][len(corner) :]
    if H.tensors[site].shape[1] == 2 or not len(beyond):  # nothing goes across the bond, or beside it
        return left[:, :, :0], right[:0]
    begun = left_block(search.lefts[site], H.tensors[site][:, 1:-1]) @ basis  # (a' s' v, b): terms across the bond
    begun = (outside.conj().T @ begun.reshape(len(basis), -1)).reshape(outside.shape[1], -1, basis.shape[1])
    ended = right_block(H.tensors[other][1:-1], search.rights[other])  # (v s b, s' b')
    ended = corner @ (ended @ beyond.conj().T).reshape(begun.shape[1], corner.shape[1], len(beyond))
    pair = np.einsum("avb,bc,vcd->ad", begun, psi.bonds[site], ended, optimize=True)
    u, s, vh = np.linalg.svd(pair, full_matrices=False)
    kept = max(0, min(most, np.count_nonzero(s > ROUNDING * search.scale)))
    new = (outside @ u[:, :kept]).reshape(*left.shape[:2], kept)
    return new, (vh[:kept] @ beyond).reshape(kept, *right.shape[1:])


def padded(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """An array as the first block of a larger one of zeros."""
    new = np.zeros(shape, array.dtype)
    new[tuple(map(slice, array.shape))] = array
    return new
