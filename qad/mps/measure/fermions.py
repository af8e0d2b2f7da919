"""Signs of fermions that are not neighbours in a chain, where sites between them are traced out.

A chain creates fermions in the order of its sites.  The density matrix of some of them is that of a basis in which
these are created first: what passes over an odd number of others changes its sign.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.operators.mpo import MPO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.chain.state import MPS
    from qad.mps.operators.local import Site


def first_of_all(psi: MPS, *blocks: Sequence[int]) -> MPS:
    """The state in a basis that creates the fermions of the first block first, and those of no block last.

    A state whose sites are no fermions, or not known, is returned as it is.
    """
    ranks = {site: rank for rank, block in enumerate(blocks) for site in block}
    begin, end = min(ranks), max(ranks) + 1  # sites outside give the sign of the state's parity at most
    within = [ranks.get(site, len(blocks)) for site in range(begin, end)]
    kinds = psi.sites or ()
    if within == sorted(within) or not any(kind.fermionic for kind in kinds):
        return psi
    tensors = [np.eye(size)[None, None] for size in psi.phys]
    tensors[begin:end] = [passing(kinds[begin + i], rank, len(blocks)) for i, rank in enumerate(within)]
    tensors[begin], tensors[end - 1] = tensors[begin][:1], tensors[end - 1].sum(axis=1, keepdims=True)
    return MPO(tensors) @ psi


def passing(kind: Site, rank: int, blocks: int) -> np.ndarray:
    """What a site does to the signs: channels are the parities of all blocks but the first, and of what is in none."""
    w = np.zeros((2**blocks, 2**blocks, kind.phys, kind.phys))
    odd = np.diagonal(kind.operators["F"]).real < 0 if kind.fermionic else np.zeros(kind.phys, bool)
    for channel in range(2**blocks):
        later = (channel >> rank).bit_count()  # bit k - 1 is the parity of block k: of blocks that come after this one
        for state in range(kind.phys):
            changed = channel ^ (1 << (rank - 1)) if odd[state] and rank else channel
            w[channel, changed, state, state] = (-1.0) ** (later * odd[state])
    return w
