"""Anderson's mixing, one step at a time: D. G. Anderson, J. ACM 12, 547 (1965).

See H. F. Walker and P. Ni, SIAM J. Numer. Anal. 49, 1715 (2011).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from qad.core.trees import flatten, unflatten
from qad.linalg.implicit.packing import Packing

if TYPE_CHECKING:
    from qad.typing import Tree


class Mixing:
    """Proposes the next x from what earlier ones became, so that their combined change is least.

    Parameters
    ----------
    memory : int
        How many steps are remembered.
    worse : float
        A change that is larger than the smallest by this factor: the history misleads, and is forgotten.
    """

    def __init__(self, memory: int = 6, worse: float = 3.0):
        self.after: deque[np.ndarray] = deque(maxlen=memory)
        self.changes: deque[np.ndarray] = deque(maxlen=memory)
        self.worse, self.least = worse, np.inf

    def propose(self, after: np.ndarray, change: np.ndarray, size: float) -> np.ndarray:
        """``y - sum g_i dy_i``, the g_i minimising ``|c - sum g_i dc_i|``, for differences d of earlier steps.

        y is what the last x became, c its change, and `size` how large that counts.
        """
        if size > self.worse * self.least:
            self.after.clear()
            self.changes.clear()
            self.least = np.inf
        self.least = min(self.least, size)
        self.after.append(after)
        self.changes.append(change)
        if len(self.after) == 1:
            return after
        rows = np.diff(np.stack(self.changes), axis=0)
        weights = np.linalg.lstsq(rows.T, change, rcond=1e-10)[0]
        return after - weights @ np.diff(np.stack(self.after), axis=0)

    def of_trees(self, before: Tree, after: Tree, size: float | None = None) -> Tree:
        """The next tree of arrays; by default changes count by their norms."""
        leaves, spec = flatten(after)
        packing = Packing(leaves)
        y = packing.pack(leaves)
        change = y - packing.pack(flatten(before)[0])
        size = float(np.linalg.norm(change)) if size is None else size
        return unflatten(spec, packing.unpack(self.propose(y, change, size)))
