"""The vector of a circuit's angles, from the pieces in which they were given.

A piece is an array or a Tensor: without axes it is one angle, else its last axis runs over angles and the axes before
that are a batch.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from qad.circuit.gates.angles_by_index import together
from qad.core.errors import ShapeError
from qad.extend import like

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array


def as_chunk(theta: Array) -> Array:
    """The piece that the angle of one gate makes; a batch of it gets an axis of length 1."""
    return theta[..., None] if theta.ndim else theta


def spread(theta: Array, count: int, name: str) -> Array:
    """An angle for `count` gates (..., count): as it is, or one for all."""
    if theta.ndim == 0:
        return theta + like(theta).zeros(count)
    if theta.shape[-1] != count:
        raise ShapeError(f"{name} for {count} gates takes {count} angles (last axis) or one, not shape {theta.shape}")
    return theta


def joined(chunks: Sequence[Array]) -> Array:
    """All angles (..., P) of the pieces, their batches broadcast."""
    if not chunks:
        return np.zeros(0)
    if len(chunks) == 1:
        return chunks[0] if chunks[0].ndim else np.reshape(chunks[0], 1)
    found = together(chunks)
    if found is not None:
        return found
    parts = []
    for single, run in groupby(chunks, key=lambda chunk: chunk.ndim == 0):
        run = list(run)
        parts += [np.stack(run)] if single else run
    if len(parts) == 1:
        return parts[0]
    batch = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    zeros = like(*parts).zeros((*batch, 1))
    return np.concatenate([part if part.shape[:-1] == batch else part + zeros for part in parts], -1)
