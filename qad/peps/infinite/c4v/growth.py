"""Environments grow: the corner by eigenvectors until it is as large as wanted, cut at a gap."""

from __future__ import annotations

import numpy as np

from qad.core.errors import ConvergenceError
from qad.peps.infinite.c4v.moves import column, enlarged, grown
from qad.peps.infinite.cut import kept
from qad.peps.infinite.iteration import Around, unit

SETTLED = 1e-3  # change of the spectrum at which the moves by eigenvectors end
MOST_MOVES = 200


def raised(layer: np.ndarray, chi: int, around: Around) -> tuple[Around, np.ndarray]:
    """Corner and edge of about `chi` states, and the isometry that kept them, still to be converged.

    From those of another size.
    """
    before, changes = None, []
    for _ in range(MOST_MOVES):
        m = enlarged(around, layer)
        values, vectors = np.linalg.eigh((m + m.conj().T) / 2)
        order = np.argsort(-np.abs(values), kind="stable")
        values = np.abs(values[order])
        k = kept(values, chi)
        u, values = vectors[:, order[:k]], values[:k] / values[0]
        around = unit(grown(around, layer, u, column(around), spans=False), None)
        if before is not None and len(before) == len(values):
            changes.append(np.abs(values - before).max())
            if changes[-1] < SETTLED:
                return around, u
        before = values
    raise ConvergenceError(
        f"the corner's spectrum still changes by {changes[-1] if changes else np.inf:.1e} after {MOST_MOVES} moves: "
        "start from another state, or try another chi"
    )
