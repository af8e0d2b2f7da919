"""Corners and edges of a cell that a step leaves as they are, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qad.core.errors import ArgumentError
from qad.peps.infinite.cells.moves import absorbed, enlarged, rows, start
from qad.peps.infinite.cells.projectors import Frame, Spaces, followed, sides, truncated
from qad.peps.infinite.cut import MOST, kept
from qad.peps.infinite.implicit import LOOSER
from qad.peps.infinite.iteration import calm, unit, weighted
from qad.peps.infinite.stacks import same_shape
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.peps.infinite.cells.lattice import Cell, Wiring
    from qad.peps.infinite.iteration import Around
    from qad.peps.infinite.stacks import Stack

SETTLED = 1e-3  # change of the spectra at which sizes are fixed
MOST_GROWING = 50
MEMORY = 5  # steps that are mixed
CUTS = 4  # times that all cuts are placed, at most
SAME = 1e-9  # relative: values of one multiplet
LEAST = {"half": 1e-7, "full": 1e-10}  # relative, of S: about the square and the fourth power of a corner's values


class Stepper(NamedTuple):
    """Steps of one cell."""

    plain: Sequence[Any]
    layers: Stack  # as `seen` makes them
    cell: Cell
    wires: Wiring
    chi: int
    method: str

    def step(
        self, around: Around, sizes: np.ndarray | None, frame: Frame | None, used: np.ndarray | None = None
    ) -> tuple[Around, Frame, Spaces | None]:
        """The next corners and edges, of norm 1, the frame, and the decompositions of the cuts.

        With `used`, which says which states of the frame are, cuts are found by following it, without decompositions.
        """
        grown = rows(around, self.layers)
        corners = enlarged(around, grown, self.wires)
        cuts = sides(corners, self.wires, self.method)
        if used is None:
            cut = self.about_chi if sizes is None else lambda *_: sizes
            a, b, frame, spaces = truncated(cuts, cut, frame)
        else:
            (a, b, frame), spaces = followed(cuts, frame, used), None
        return unit(absorbed(grown, corners, a, b, self.wires), around), frame, spaces

    def about_chi(self, values: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """How many of the values of each matrix to keep: the largest of all that belong to a cut."""
        sizes = np.empty(len(values), int)
        for cut in range(groups[-1] + 1):
            own = groups == cut
            ordered = np.sort(values[own], axis=None)[::-1]
            least = ordered[kept(ordered, self.chi, LEAST[self.method]) - 1]
            sizes[own] = (values[own] >= least).sum(1)
        return sizes

    def raised(self, around: Around | None = None, frame: Frame | None = None) -> tuple[Around, Frame]:
        """Corners and edges of about chi states, and their frame, still to be converged.

        From nothing, or from those of another size; with their frame they stay where the cuts keep as many states.
        """
        around = start(self.plain, self.cell) if around is None else around
        before, sizes = None, None if frame is None else frame.a.any(1).sum(1)
        for _ in range(MOST_GROWING):
            old, (around, frame, spaces) = around, self.step(around, None, frame)
            values = spaces.s * spaces.used
            same = before is not None and before.shape == values.shape and ((before > 0) == spaces.used).all()
            if (same and np.abs(values - before).max() < SETTLED) or np.array_equal(sizes, spaces.used.sum(1)):
                break
            before, sizes = values, None
        check_multiplets(spaces, self.chi)
        if not same_shape(around.corners, old.corners):  # sizes changed to the last
            around, frame, _ = self.step(around, frame.a.any(1).sum(1), frame)
        return around, frame

    def converged(
        self, around: Around, frame: Frame, tol: float, maxiter: int
    ) -> tuple[Around, Frame, Spaces, float, int]:
        """Iterate to the fixed point; cuts between levels that have crossed are never at rest, and are placed anew.

        Returns
        -------
        the fixed point, its frame, the decompositions of its cuts, the last change, and the number of moves
        """
        done = 0
        for left in reversed(range(CUTS)):
            new, turned, spaces, error, n, is_leading = self.settled(around, frame, tol, maxiter - done, not left)
            done += n
            if is_leading:
                return new, turned, spaces, error, done
            around, frame = self.raised(new)
        raise AssertionError

    def settled(
        self, around: Around, frame: Frame, tol: float, maxiter: int, insists: bool
    ) -> tuple[Around, Frame, Spaces, float, int, bool]:
        """Iterate with cuts that follow the frame, and are made again by decompositions at its end.

        The last of what is returned says whether these keep the same states. If they do not and this `insists`, all
        further cuts are decompositions.
        """
        following = frame.a.any(1)
        sizes = following.sum(1)

        def followed(around: Around, frame: Frame) -> tuple[Around, Frame]:
            bar.update()
            return self.step(around, sizes, frame, following)[:2]

        def held(frame: Frame, turned: Frame) -> Frame:
            return Frame(frame.a, turned.v)

        with bar_for(label="environment") as bar:
            for new, turned, error, n in calm(followed, around, frame, self.change, tol, maxiter, held, MEMORY):
                checked, turned, spaces = self.step(new, sizes, turned)
                is_leading = self.change(checked, new) <= LOOSER * tol
                if is_leading or not insists:
                    return new, turned, spaces, error, n, is_leading
                following = None
        raise AssertionError

    def change(self, new: Around, old: Around) -> float:
        """How much corners and edges differ, as the environment feels it; infinite where dimensions do."""
        if not same_shape(new.corners, old.corners):
            return np.inf
        return weighted(new, old, self.wires.after)


def check_multiplets(spaces: Spaces, chi: int) -> None:
    """Raise where a cut parts values that coincide: in the range around chi there is no gap."""
    for cut in range(spaces.groups[-1] + 1):
        own = spaces.groups == cut
        kept, others = spaces.s[own][spaces.used[own]], spaces.others[own]
        parted = int(np.count_nonzero(others > (1 - SAME) * kept.min()))
        if parted:
            least = int(np.ceil((len(kept) + parted) / MOST))
            raise ArgumentError(
                f"chi={chi} parts a multiplet of states that weigh the same: at least chi={least} serves"
            )
