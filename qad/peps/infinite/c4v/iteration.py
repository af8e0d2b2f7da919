"""The corner and edge that a move leaves as they are, element by element.

An isometry is defined up to a basis of the new leg.  Each is turned to be as near as can be to a reference, the one
before or a fixed one: then the move has a fixed point, which mixing finds quickly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.core.errors import ConvergenceError
from qad.linalg.implicit.mixing import Mixing
from qad.peps.infinite.c4v.growth import eigenvectors
from qad.peps.infinite.c4v.moves import CornerEdge, column, grown, norm, signed
from qad.peps.infinite.polar import polar

if TYPE_CHECKING:
    from collections.abc import Callable

MIXED = 1e-2  # change below which steps are mixed: farther away mixing misleads
MEMORY = 10  # steps that are mixed


class Converged(NamedTuple):
    """A fixed point, the isometry there, and how it was reached."""

    pair: CornerEdge
    isometry: np.ndarray
    error: float
    iterations: int


def aligned(u: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """The space of the isometry `u` in the basis nearest to `reference`."""
    return u @ polar(u.conj().T @ reference)


def by_qr(pair: CornerEdge, layer: np.ndarray, reference: np.ndarray) -> tuple[CornerEdge, np.ndarray]:
    """A move that keeps the space of ``C T``."""
    y = column(pair)
    u = aligned(np.linalg.qr(y)[0], reference)
    return signed(grown(pair, layer, u, y, spans=True), pair), u


def by_eigh(pair: CornerEdge, layer: np.ndarray, reference: np.ndarray) -> tuple[CornerEdge, np.ndarray]:
    """A move that keeps the leading eigenvectors of the enlarged corner."""
    u = aligned(eigenvectors(pair, layer, reference.shape[1], exactly=True)[0], reference)
    return signed(grown(pair, layer, u, column(pair), spans=False), pair), u


MOVES = {"qr": by_qr, "eigh": by_eigh}


def weighted(change: CornerEdge, at: CornerEdge) -> float:
    """The size of a change as the environment feels it: between corners, so that legs of no weight do not count."""
    corner = at.corner

    def between(edge):
        half = corner @ edge.reshape(len(corner), -1)
        return norm(half.reshape(-1, len(corner)) @ corner)

    return float(norm(change.corner) / norm(corner) + between(change.edge) / between(at.edge))


def difference(x: CornerEdge, y: CornerEdge) -> CornerEdge:
    """Elementwise."""
    return CornerEdge(x.corner - y.corner, x.edge - y.edge)


def converged(
    layer: np.ndarray,
    pair: CornerEdge,
    reference: np.ndarray,
    tol: float,
    maxiter: int,
    method: str = "qr",
) -> Converged:
    """Iterate to the fixed point of a move.

    Raises
    ------
    ConvergenceError
        If the change is not below `tol` after `maxiter` moves; it has the history of changes.
    """
    move: Callable = MOVES[method]
    mixing, history = None, []
    for n in range(1, maxiter + 1):
        new, u = move(pair, layer, reference)
        history.append(weighted(difference(new, pair), new))
        if not np.isfinite(history[-1]):
            break
        if history[-1] <= tol:
            return Converged(new, u, history[-1], n)
        if mixing is None:
            pair, reference = new, u
            mixing = Mixing(MEMORY) if history[-1] < MIXED else None
        else:
            pair = mixing.of_trees(pair, new, history[-1])
    shown = ", ".join(f"{change:.1e}" for change in history[:: max(len(history) // 8, 1)])
    raise ConvergenceError(
        f"the environment did not converge to tol={tol:.1e} in {len(history)} moves; changes on the way: {shown}. "
        "Change chi a little (a cut through a near-multiplet is never at rest), raise maxiter or tol, or start from "
        "another state: one whose corner has equal leading values is a superposition of several"
    )
