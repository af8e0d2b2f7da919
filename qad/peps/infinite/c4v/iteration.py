"""The corner and edge that a move leaves as they are.

An isometry is defined up to a basis of the new leg.  Each is turned to be as near as can be to a reference.
"""

from __future__ import annotations

import numpy as np

from qad.peps.infinite.c4v.growth import eigenvectors
from qad.peps.infinite.c4v.moves import column, grown, signed
from qad.peps.infinite.iteration import Around
from qad.peps.infinite.polar import polar


def aligned(u: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """The space of the isometry `u` in the basis nearest to `reference`."""
    return u @ polar(u.conj().T @ reference)


def by_qr(around: Around, layer: np.ndarray, reference: np.ndarray) -> tuple[Around, np.ndarray]:
    """A move that keeps the space of ``C T``."""
    y = column(around)
    u = aligned(np.linalg.qr(y)[0], reference)
    return signed(grown(around, layer, u, y, spans=True), around), u


def by_eigh(around: Around, layer: np.ndarray, reference: np.ndarray) -> tuple[Around, np.ndarray]:
    """A move that keeps the leading eigenvectors of the enlarged corner."""
    u = aligned(eigenvectors(around, layer, reference.shape[1], exactly=True)[0], reference)
    return signed(grown(around, layer, u, column(around), spans=False), around), u


MOVES = {"qr": by_qr, "eigh": by_eigh}
