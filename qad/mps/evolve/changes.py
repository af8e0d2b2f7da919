"""Room in the bonds of a state for what changes of single sites make of it.

The cotangent of a chain's tensors knows of a loss what the chain can represent, and of directions without weight
nothing.  Where a state stays what it is, a product of sites say, a change leads to such directions.  With ``V_k |a>``
for every operator V on a site k right of a bond, and every state a of the bond, in it as well, the chain represents all
changes of one site and of two, wherever they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.evolve.cut import check_reach
from qad.mps.evolve.tebd import ROUNDING
from qad.mps.gauge import carry, left_isometry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.evolve.tebd import Truncation

FILLED = 1e-9  # of vectors of norm 1: what is smaller is no direction


def refusal(tensors: Sequence[np.ndarray], truncation: Truncation) -> ArgumentError | None:
    """An error where a change of two neighbours leaves the bonds of a state, whose centre is at site 0."""
    centre = tensors[0]
    for there in tensors[1:]:
        bond = left_isometry(centre)[1]
        values = np.linalg.svdvals(bond)
        rank = np.count_nonzero(values > ROUNDING * len(values) * np.finfo(values.dtype).eps * values[0])
        try:
            if rank < truncation.bond:
                check_reach(np.tensordot(centre, there, 1), rank, truncation, there.reshape(len(there), -1))
        except ArgumentError as error:
            return error
        centre = carry(bond, there)
    return None


def changeable(tensors: Sequence[np.ndarray], bond: int, far: bool = True) -> list[np.ndarray] | None:
    """The same state with room for changes of single sites; None where bonds of this dimension have none.

    Unless they may be `far`, of the site next to each bond only.
    """
    out, changed = [], np.zeros((0, 1, 1))  # (change, state of the bond, coordinate in the wider bond)
    for site, tensor in reversed(list(enumerate(tensors))):
        a, s, b = tensor.shape
        rows = np.zeros((a, s, changed.shape[2]), tensor.dtype)
        rows[:, :, :b] = tensor
        if site == 0:
            return [rows, *reversed(out)]
        later = np.einsum("asb,vbc->vasc", tensor, changed)
        here = np.einsum("vts,asc->vatc", np.eye(s * s).reshape(-1, s, s), rows)
        changes = np.concatenate([later[: len(later) * far], here]).reshape(-1, rows[0].size)
        flat = rows.reshape(a, -1)
        beside = changes - (changes @ flat.conj().T) @ flat
        values, vectors = np.linalg.svd(beside, full_matrices=False)[1:]
        flat = np.concatenate([flat, vectors[values > FILLED]])
        if len(flat) > bond:
            return None
        out.append(flat.reshape(-1, s, rows.shape[2]))
        changed = (changes @ flat.conj().T).reshape(-1, a, len(flat))
    raise AssertionError
