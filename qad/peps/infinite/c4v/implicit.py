"""Derivatives of a symmetric environment: the move at its fixed point, with the reference held fixed.

With U_0 the isometry there, the move is written by smooth operations only:

    Z = Y (U_0^H Y)^-1,      U = Z (3 - Z^H Z) / 2,

which is the aligned isometry of the space of Y up to terms of third order.  For moves by eigenvectors Y is ``P U_0``,
P the projector on the kept space, whose derivative sees the gap of the cut alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import value_of
from qad.linalg import Report, truncated_eigh
from qad.linalg.implicit.fixed_point import fixed_point
from qad.peps.infinite.c4v.iteration import MOVES, Converged
from qad.peps.infinite.c4v.linearized import LinearizedMove
from qad.peps.infinite.c4v.moves import column, enlarged, grown, signed
from qad.peps.infinite.implicit import LEAST, LOOSER, settled
from qad.peps.infinite.iteration import Around, weighted

if TYPE_CHECKING:
    from qad.typing import Array


def near_reference(y: Array, reference: np.ndarray) -> Array:
    """The isometry of the space of `y` in the basis nearest to `reference`, which spans nearly that space."""
    z = np.linalg.solve((reference.conj().T @ y).T, y.T).T
    return z @ (3 * np.eye(reference.shape[1]) - z.conj().T @ z) / 2


def differentiable(
    layer: Array, found: Converged, tols: tuple[float, float], report: Report, method: str = "qr"
) -> Around:
    """The fixed point as a function of the recorded `layer`."""
    plain = value_of(layer)
    new, reference = MOVES[method](found.around, plain, found.isometry)

    def move(around: Around, layer: Array) -> Around:
        y = column(around)
        if method == "qr":
            u = near_reference(y, reference)
        else:
            m = enlarged(around, layer)
            v = truncated_eigh((m + m.conj().T) / 2, reference.shape[1])[1]
            u = near_reference(v @ (v.conj().T @ reference), reference)
        return signed(grown(around, layer, u, y, spans=method == "qr"), new)

    if method == "qr":
        return Around(*settled(move, new, layer, LinearizedMove(new, plain, reference), tols, report))
    limits = {"tol": LOOSER * max(tols[0], LEAST), "adjoint_tol": tols[1], "norm": weighted, "report": report}
    return Around(*fixed_point(move, new, layer, method="given", **limits))
