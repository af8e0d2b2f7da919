"""Gates that only move amplitudes, as one permutation: X, controlled X and SWAP are affine maps of the index.

``new[i] = old[P(i)]`` with P(i) the exclusive or of a constant and of one column per bit of i that is set.  A control
beyond the chunk that is set adds its column to the constant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from qad.circuit.engines.compiled.tables import Permutation


def sources_of(permutation: Permutation, pool: np.ndarray, bits: int, base: int, sources: np.ndarray) -> None:
    """Write P(i) for every i of the chunk that begins at `base`."""
    constant = permutation.constant
    for k in range(permutation.outer_count):
        if (base >> pool[permutation.outer_bits + k]) & 1:
            constant ^= pool[permutation.outer_columns + k]
    sources[0] = constant
    for bit in range(bits):
        size, column = 1 << bit, pool[permutation.columns + bit]
        x, y = sources[:size], sources[size : 2 * size]
        for k in range(size):
            y[k] = x[k] ^ column


def permute(part: np.ndarray, room: np.ndarray, sources: np.ndarray) -> None:
    """Move the entries of a real array; `room`, an array of its size, is overwritten."""
    for k in range(part.size):
        room[k] = part[sources[k]]
    for k in range(part.size):
        part[k] = room[k]
