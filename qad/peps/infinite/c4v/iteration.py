"""Moves that keep a space in the basis that is nearest to a reference, so that they have a fixed point.

An isometry is defined up to a basis of the new leg.  Near the fixed point, with U_0 the isometry there, it is written
by smooth operations only,

    Z = Y (U_0^H Y)^-1,      U = Z (3 - Z^H Z) / 2,

which is the aligned isometry of the space of Y up to terms of third order, and Z up to those of first order.  For moves
by eigenvectors Y is ``P U_0``, P the projector on the kept space, whose derivative sees the gap of the cut alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.linalg import truncated_eigh
from qad.peps.infinite.c4v.moves import column, enlarged, grown
from qad.peps.infinite.polar import polar

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.peps.infinite.iteration import Around
    from qad.typing import Array

    Isometry = Callable[[Array, np.ndarray], Array]


def aligned(y: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """The isometry of the space of `y` in the basis nearest to `reference`."""
    return polar(near_reference(y, reference, 1))


def near_reference(y: Array, reference: np.ndarray, order: int) -> Array:
    """The same as a smooth function, right to some order, where `reference` spans nearly that space."""
    z = y @ np.linalg.inv(reference.conj().T @ y)
    return z if order == 1 else z @ (3 * np.eye(reference.shape[1]) - z.conj().T @ z) / 2


def by_qr(around: Around, layer: Array, reference: np.ndarray, isometry: Isometry) -> tuple[Around, Array]:
    """A move that keeps the space of ``C T``."""
    y = column(around)
    u = isometry(y, reference)
    return grown(around, layer, u, y, spans=True), u


def by_eigh(around: Around, layer: Array, reference: np.ndarray, isometry: Isometry) -> tuple[Around, Array]:
    """A move that keeps the leading eigenvectors of the enlarged corner."""
    m = enlarged(around, layer)
    v = truncated_eigh((m + m.conj().T) / 2, reference.shape[1], multiplets="cut")[1]
    u = isometry(v @ (v.conj().T @ reference), reference)
    return grown(around, layer, u, column(around), spans=False), u


MOVES = {"qr": by_qr, "eigh": by_eigh}
