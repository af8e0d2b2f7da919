"""Corners and edges of a cell that a step leaves as they are, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.core.errors import ConvergenceError
from qad.peps.cells.moves import Around, absorbed, enlarged, rows, start
from qad.peps.cells.projectors import Spaces, sides, truncated
from qad.peps.mixing import Mixing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.peps.cells.lattice import Cell

SETTLED = 1e-3  # change of the spectra at which sizes are fixed
MOST_GROWING = 50
MIXED = 1e-2  # change below which steps are mixed


class Converged(NamedTuple):
    """A fixed point, its projectors A, the decompositions of its cuts, and how it was reached."""

    around: Around
    frame: tuple[np.ndarray, ...]
    spaces: tuple[Spaces, ...]
    error: float
    iterations: int


class Stepper:
    """Steps of one cell with sizes and references that may be given."""

    def __init__(self, layers: Sequence[np.ndarray], cell: Cell, chi: int, method: str):
        self.layers, self.cell, self.chi, self.method = layers, cell, chi, method

    def step(self, around: Around, sizes, frame) -> tuple[Around, tuple[np.ndarray, ...], tuple[Spaces, ...]]:
        """The next corners and edges, the projectors A, and the decompositions of the cuts."""
        grown = rows(around, self.layers)
        corners = enlarged(around, grown, self.cell)
        pairs = sides(corners, self.cell, self.method)
        found = [
            truncated(pair, sizes and sizes[i], self.chi, self.method, frame and frame[i])
            for i, pair in enumerate(pairs)
        ]
        projectors, spaces = zip(*found, strict=True)

        def normal(x, group, i):
            x = x / np.linalg.norm(x)
            before = around[group][i]
            overlap = np.vdot(before, x) if before.shape == x.shape else 0.0
            return x * (np.conj(overlap) / abs(overlap)) if abs(overlap) > 1e-8 else x

        new = absorbed(grown, corners, projectors, self.cell, normal)
        return new, tuple(a for a, _ in projectors), spaces

    def from_nothing(self) -> tuple[Around, tuple[np.ndarray, ...]]:
        """Corners and edges of about chi states, and the projectors A, still to be converged."""
        around, frame, before = start(self.layers, self.cell), None, None
        for _ in range(MOST_GROWING):
            around, frame, spaces = self.step(around, None, frame)
            values = [x.s for x in spaces]
            if before is not None and [len(x) for x in values] == [len(x) for x in before]:
                change = max(np.abs(x - y).max() for x, y in zip(values, before, strict=True))
                if change < SETTLED:
                    break
            before = values
        return around, frame

    def converged(self, around: Around, frame: tuple[np.ndarray, ...], tol: float, maxiter: int) -> Converged:
        """Iterate to the fixed point.

        Raises
        ------
        ConvergenceError
            If the change is not below `tol` after `maxiter` steps; it has the history of changes.
        """
        sizes, mixing, history = [a.shape[1] for a in frame], None, []
        for n in range(1, maxiter + 1):
            new, projectors, spaces = self.step(around, sizes, frame)
            history.append(weighted(new, around))
            if not np.isfinite(history[-1]):
                break
            if history[-1] <= tol:
                return Converged(new, projectors, spaces, history[-1], n)
            if mixing is None:
                around, frame = new, projectors
                mixing = Mixing() if history[-1] < MIXED else None
            else:
                mixed = mixing.propose([*around[0], *around[1]], [*new[0], *new[1]], history[-1])
                around = Around(tuple(mixed[: len(sizes)]), tuple(mixed[len(sizes) :]))
        shown = ", ".join(f"{change:.1e}" for change in history[:: max(len(history) // 8, 1)])
        raise ConvergenceError(
            f"the environment did not converge to tol={tol:.1e} in {len(history)} moves; changes on the way: {shown}. "
            "Raise chi (small ones may cycle), change it a little (a cut through a near-multiplet is never at rest), "
            "raise maxiter or tol, or start from another state"
        )


def weighted(new: Around, old: Around) -> float:
    """The largest change of a corner or an edge, the latter between the corners beside it, as the environment feels it.

    Infinite where dimensions have changed.
    """
    kinds, found = len(new.corners) // 4, 0.0
    for i, (corner, edge) in enumerate(zip(new.corners, new.edges, strict=True)):
        if corner.shape != old.corners[i].shape or edge.shape != old.edges[i].shape:
            return np.inf
        right = new.corners[(i + kinds) % len(new.corners)]
        change = between(corner, edge - old.edges[i], right) / between(corner, edge, right)
        found = max(found, change + np.linalg.norm(corner - old.corners[i]) / np.linalg.norm(corner))
    return float(found)


def between(left: np.ndarray, edge: np.ndarray, right: np.ndarray) -> float:
    """The norm of an edge between two corners."""
    half = left @ edge.reshape(len(edge), -1)
    return float(np.linalg.norm(half.reshape(-1, len(right)) @ right))
