"""Moves of a symmetric environment near its fixed point, written by smooth operations only.

With U_0 the isometry there, which is held fixed,

    Z = Y (U_0^H Y)^-1,      U = Z (3 - Z^H Z) / 2,

which is the aligned isometry of the space of Y up to terms of third order.  For moves by eigenvectors Y is ``P U_0``,
P the projector on the kept space, whose derivative sees the gap of the cut alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.linalg import truncated_eigh
from qad.peps.infinite.c4v.moves import column, enlarged, grown
from qad.peps.infinite.iteration import Around

if TYPE_CHECKING:
    from qad.typing import Array


def near_reference(y: Array, reference: np.ndarray) -> Array:
    """The isometry of the space of `y` in the basis nearest to `reference`, which spans nearly that space."""
    z = np.linalg.solve((reference.conj().T @ y).T, y.T).T
    return z @ (3 * np.eye(reference.shape[1]) - z.conj().T @ z) / 2


def by_qr(around: Around, layer: Array, reference: np.ndarray) -> Around:
    """The move that keeps the space of ``C T``."""
    y = column(around)
    return grown(around, layer, near_reference(y, reference), y, spans=True)


def by_eigh(around: Around, layer: Array, reference: np.ndarray) -> Around:
    """The move that keeps the leading eigenvectors of the enlarged corner."""
    m = enlarged(around, layer)
    v = truncated_eigh((m + m.conj().T) / 2, reference.shape[1])[1]
    u = near_reference(v @ (v.conj().T @ reference), reference)
    return grown(around, layer, u, column(around), spans=False)
