"""Corners and edges of a cell that a step leaves as they are, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.core.errors import ConvergenceError
from qad.linalg.implicit.mixing import Mixing
from qad.peps.infinite.cells.moves import Around, absorbed, difference, enlarged, rows, stacked, start, unit
from qad.peps.infinite.cells.projectors import Frame, Spaces, followed, sides, truncated
from qad.peps.infinite.cut import kept
from qad.peps.infinite.implicit import LOOSER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.peps.infinite.cells.lattice import Cell, Wiring

SETTLED = 1e-3  # change of the spectra at which sizes are fixed
MOST_GROWING = 50
MIXED = 1e-2  # change below which steps are mixed
LEAST = {"half": 1e-7, "full": 1e-10}  # relative, of S: about the square and the fourth power of a corner's values


class Converged(NamedTuple):
    """A fixed point, its frame, the decompositions of its cuts, and how it was reached."""

    around: Around
    frame: Frame
    spaces: Spaces
    error: float
    iterations: int


class Stepper:
    """Steps of one cell."""

    plain: Sequence[np.ndarray]
    layers: np.ndarray
    cell: Cell
    wires: Wiring
    chi: int
    method: str

    def __init__(self, layers: Sequence[np.ndarray], cell: Cell, wires: Wiring, chi: int, method: str):
        self.plain, self.layers, self.cell, self.wires = layers, stacked(layers), cell, wires
        self.chi, self.method = chi, method

    def step(
        self, around: Around, sizes: np.ndarray | None, frame: Frame | None, used: np.ndarray | None = None
    ) -> tuple[Around, Frame, Spaces | None]:
        """The next corners and edges, of norm 1, the frame, and the decompositions of the cuts.

        With `used`, which says which states of the frame are, cuts are found by following it, without decompositions.
        """
        grown = rows(around, self.layers)
        corners = enlarged(around, grown, self.wires)
        pair = sides(corners, self.wires, self.method)
        if used is None:
            cut = self.about_chi if sizes is None else lambda values: sizes
            a, b, frame, spaces = truncated(pair, cut, frame)
        else:
            (a, b, frame), spaces = followed(pair, frame, used), None
        return unit(absorbed(grown, corners, a, b, self.wires), around), frame, spaces

    def about_chi(self, values: np.ndarray) -> np.ndarray:
        """How many of the values of each cut to keep."""
        return np.array([kept(x, self.chi, LEAST[self.method]) for x in values])

    def raised(self, around: Around | None = None) -> tuple[Around, Frame]:
        """Corners and edges of about chi states, and their frame, still to be converged.

        From nothing, or from those of another size.
        """
        around, frame, before = start(self.plain, self.cell) if around is None else around, None, None
        for _ in range(MOST_GROWING):
            around, frame, spaces = self.step(around, None, frame)
            values = spaces.s * spaces.used
            same = before is not None and before.shape == values.shape and ((before > 0) == spaces.used).all()
            if same and np.abs(values - before).max() < SETTLED:
                break
            before = values
        if frame.v.shape[1:] != (around.edges[0, :, :, 0].size, around.edges.shape[1]):  # sizes changed to the last
            around, frame, _ = self.step(around, frame.a.any(1).sum(1), frame)
        return around, frame

    def converged(self, around: Around, frame: Frame, tol: float, maxiter: int) -> Converged:
        """Iterate to the fixed point.

        Raises
        ------
        ConvergenceError
            If the change is not below `tol` after `maxiter` steps; it has the history of changes.
        """
        used, mixing, history = frame.a.any(1), None, []
        sizes, following = used.sum(1), used
        for n in range(1, maxiter + 1):
            new, turned, _ = self.step(around, sizes, frame, following)
            history.append(self.change(new, around))
            if not np.isfinite(history[-1]):
                break
            if history[-1] <= tol:
                checked, turned, spaces = self.step(new, sizes, turned)
                if self.change(checked, new) <= LOOSER * tol:
                    return Converged(new, turned, spaces, history[-1], n)
                following = None  # these are not the leading states
            frame = Frame(turned.a if mixing is None else frame.a, turned.v)
            if mixing is None:
                around, mixing = new, Mixing() if history[-1] < MIXED else None
            else:
                around = mixing.of_trees(around, new, history[-1])
        shown = ", ".join(f"{change:.1e}" for change in history[:: max(len(history) // 8, 1)])
        raise ConvergenceError(
            f"the environment did not converge to tol={tol:.1e} in {len(history)} moves; changes on the way: {shown}. "
            "Raise chi (small ones may cycle), change it a little (a cut through a near-multiplet is never at rest), "
            "raise maxiter or tol, or start from another state"
        )

    def change(self, new: Around, old: Around) -> float:
        """How much corners and edges differ, as the environment feels it; infinite where dimensions do."""
        if new.corners.shape != old.corners.shape:
            return np.inf
        return weighted(difference(new, old), new, self.wires)


def weighted(change: Around, at: Around, w: Wiring) -> float:
    """The largest change of a corner or an edge, the latter between corners, as the environment feels it."""
    n, chi, p, _ = at.edges.shape
    behind = at.corners[list(w.after)]

    def between(edges: np.ndarray) -> np.ndarray:
        half = (at.corners @ edges.reshape(n, chi, p * chi)).reshape(n, chi * p, chi)
        return np.linalg.norm((half @ behind).reshape(n, -1), axis=1)

    corners = np.linalg.norm(change.corners, axis=(1, 2)) / np.linalg.norm(at.corners, axis=(1, 2))
    return float((corners + between(change.edges) / between(at.edges)).max())
