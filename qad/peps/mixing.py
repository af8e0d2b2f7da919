"""Anderson's mixing over lists of arrays, one step at a time: D. G. Anderson, J. ACM 12, 547 (1965)."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

WORSE = 3.0  # a change that is larger than the smallest by this factor: the history misleads


class Mixing:
    """Proposes the next x from what earlier ones became, so that their combined change is least.

    Parameters
    ----------
    memory : int
        How many steps are remembered.
    """

    def __init__(self, memory: int = 6):
        self.after: deque[np.ndarray] = deque(maxlen=memory)
        self.changes: deque[np.ndarray] = deque(maxlen=memory)
        self.least = np.inf

    def propose(self, before: Sequence[np.ndarray], after: Sequence[np.ndarray], change: float) -> list[np.ndarray]:
        """The next x, given the last one, what it became, and how large that change counts."""
        if change > WORSE * self.least:
            self.after.clear()
            self.changes.clear()
            self.least = np.inf
        self.least = min(self.least, change)
        self.after.append(np.concatenate([np.ravel(x) for x in after]))
        self.changes.append(self.after[-1] - np.concatenate([np.ravel(x) for x in before]))
        if len(self.after) == 1:
            return list(after)
        rows = np.diff(np.stack(self.changes), axis=0)
        weights = np.linalg.lstsq(rows.T, self.changes[-1], rcond=1e-10)[0]
        mixed = self.after[-1] - weights @ np.diff(np.stack(self.after), axis=0)
        ends = np.cumsum([x.size for x in after])
        return [part.reshape(x.shape) for part, x in zip(np.split(mixed, ends[:-1]), after, strict=True)]
