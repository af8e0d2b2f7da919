"""What all searches share: history, progress bar, callback, checkpoint, and the end by tolerance or by the user."""

from dataclasses import dataclass, field

import numpy as np

from qad.mps.search.checkpoint import Checkpoint
from qad.mps.state import MPS


class Finished(Exception):
    """Ends a search from within a step; its text says why."""


@dataclass
class Watch:
    """Told of every step.

    Attributes
    ----------
    state : MPS
        The latest state, in any gauge.
    history : list of float
        Energies so far.
    extra : dict of str to float
        Numbers that a method wants to find again after a restart.
    """

    state: MPS
    callback: object
    checkpoint: Checkpoint | None
    bar: object
    maxiter: int
    history: list = field(default_factory=list)
    extra: dict = field(default_factory=dict)
    gradient_norm: float = np.nan
    nfev: int = 0
    converged: bool = False
    message: str = ""

    @property
    def left(self):
        """How many steps are still allowed."""
        return self.maxiter + 1 - len(self.history)

    def begin(self, energy):
        """The energy before the first step (not again after a restart)."""
        if not self.history:
            self.history.append(float(energy))

    def step(self, state, energy):
        """A step ended in this state; raises Finished where it was the last."""
        self.state = state
        self.history.append(float(energy))
        if self.checkpoint is not None:
            self.checkpoint.write(state, self.history, self.extra)
        slope = "" if np.isnan(self.gradient_norm) else f", gradient {self.gradient_norm:.2e}"
        self.bar.set_postfix_str(f"{energy:.12g}{slope}", refresh=False)
        self.bar.update()
        if self.callback is not None:
            try:
                self.callback(state, float(energy))
            except StopIteration:
                raise Finished("stopped by the callback") from None
        if self.left <= 0:
            raise Finished("stopped at maxiter iterations")

    def gained(self, steps=1) -> float:
        """What the last steps gained, relative to the largest energy so far."""
        return (self.history[-1 - steps] - self.history[-1]) / max(np.abs(self.history).max(), 1e-300)

    def converge(self, message):
        """End the search: a tolerance is reached."""
        self.converged = True
        raise Finished("converged: " + message)
