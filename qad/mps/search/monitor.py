"""What all searches share: history, progress bar, callback, checkpoint, and the end by tolerance or by the user."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from qad.mps.chain.state import MPS
from qad.mps.search.checkpoint import Checkpoint
from qad.optimize.result import BY_USER
from qad.showing.progress import note

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn

    from qad.typing import RealNumber

ROUNDING = 1e-13  # of an energy, relative


def is_settled(gain: float, before: float, tol: float) -> bool:
    """Whether less than `tol` is left to gain.

    The gains to come are taken for a geometric series with the ratio of the last two.  A loss beyond rounding, and
    gains that grow, do not settle.
    """
    if abs(gain) <= ROUNDING:
        return True
    return 0 < gain <= tol and gain < before and gain * gain / (before - gain) <= tol


class Finished(Exception):
    """Ends a search from within a step; its text says why."""


@contextmanager
def until_finished(watch: Watch) -> Iterator[None]:
    """Inside, a search ends by its tolerance, by the number of steps, or by the user, and its `watch` says by which."""
    try:
        yield
    except Finished as end:
        watch.message = str(end)
    except KeyboardInterrupt:
        if not watch.history:
            raise
        watch.converged, watch.message = False, BY_USER


@dataclass
class Watch:
    """The observer of a search: it hears of every step, reports it, and ends the search.

    Attributes
    ----------
    state : MPS
        The latest state, in any gauge.
    history : list of float
        Energies so far.
    extra : dict of str to float
        Values that a method needs again after a restart from a checkpoint.
    unit : float
        In which methods tell energies.
    """

    state: MPS
    callback: object
    checkpoint: Checkpoint | None
    bar: object
    maxiter: int
    history: list[float] = field(default_factory=list)
    extra: dict[str, float] = field(default_factory=dict)
    gradient_norm: float = np.nan
    nfev: int = 0
    converged: bool = False
    message: str = ""
    unit: float = 1.0

    def resume(self) -> None:
        """Go on from the checkpoint, if there is one."""
        found = self.checkpoint and self.checkpoint.read(self.state)
        if found:
            self.state, self.history, self.extra = found
            self.bar.update(len(self.history) - 1)

    @property
    def left(self) -> int:
        """How many steps are still allowed."""
        return self.maxiter + 1 - len(self.history)

    def begin(self, energy: RealNumber) -> None:
        """The energy before the first step (not again after a restart)."""
        if not self.history:
            self.history.append(float(energy) * self.unit)

    def step(self, state: MPS, energy: RealNumber) -> None:
        """A step ended in this state; raises Finished where it was the last."""
        self.state, energy = state, float(energy) * self.unit
        self.history.append(energy)
        if self.checkpoint is not None:
            self.checkpoint.write(state, self.history, self.extra)
        note(self.bar, self.history, self.gradient_norm)
        if self.callback is not None:
            try:
                self.callback(state, energy)
            except StopIteration:
                raise Finished("stopped by the callback") from None
        if self.left <= 0:
            raise Finished("stopped at maxiter iterations")

    def gained(self, before: int = 0) -> float:
        """What the last step gained, or one `before` it, relative to our `scale`; infinitely much before the first."""
        recent = self.history[-2 - before :][:2]
        return (recent[0] - recent[1]) / self.scale if len(self.history) > 1 + before else np.inf

    @property
    def scale(self) -> float:
        """The scale of differences of energies: the largest one so far, or our unit where all of them nearly vanish."""
        return max(float(np.abs(self.history).max()), self.unit)

    def settled(self, tol: float) -> bool:
        """Whether the last step left nothing to gain; what loses is not settled."""
        return is_settled(self.gained(), self.gained(1), tol)

    def converge(self, message: str) -> NoReturn:
        """End the search: a tolerance is reached."""
        self.converged = True
        raise Finished("converged: " + message)
