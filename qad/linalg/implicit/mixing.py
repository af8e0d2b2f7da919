"""Anderson's mixing, one step at a time: D. G. Anderson, J. ACM 12, 547 (1965).

See H. F. Walker and P. Ni, SIAM J. Numer. Anal. 49, 1715 (2011).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.trees import flatten, unflatten
from qad.extend import like
from qad.linalg.implicit.packing import Packing
from qad.linalg.support import tolerances
from qad.linalg.support.lengths import length, unit_of

if TYPE_CHECKING:
    from qad.typing import Tree

REFINEMENTS = 2  # of the weights: normal equations square the condition


class Mixing:
    """Proposes the next x from what earlier ones became, so that their combined change is least.

    Parameters
    ----------
    memory : int
        How many differences of steps are remembered.
    worse : float
        A change that is larger than the smallest by this factor: the history misleads, and is forgotten.
    """

    memory: int
    worse: float
    count: int
    least: float
    changes: np.ndarray
    steps: np.ndarray
    products: np.ndarray  # of differences of changes
    unit: float  # of changes, so that their squares neither overflow nor vanish
    last: tuple[np.ndarray, np.ndarray]

    def __init__(self, memory: int = 5, worse: float = 3.0):
        self.memory, self.worse = memory, worse
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.count, self.least = 0, np.inf

    def propose(self, after: np.ndarray, change: np.ndarray, size: float) -> np.ndarray:
        """``y - sum g_i dy_i``, the g_i minimising ``|c - sum g_i dc_i|``, for differences d of successive steps.

        y is what the last x became, c its change; `size` is how large that counts.
        """
        if size > self.worse * self.least:
            self.forget()
        self.least = min(self.least, size)
        if not self.count:
            self.unit = unit_of(length(change), change.dtype)
            self.changes = like(change).zeros((self.memory, change.size), change.dtype)
            self.steps = like(after).zeros((self.memory, after.size), after.dtype)
            self.products = np.zeros((self.memory,) * 2, change.dtype)
        change = change / self.unit
        if self.count:
            self.learn((self.count - 1) % self.memory, after - self.last[0], change - self.last[1])
        self.count, self.last = self.count + 1, (after, change)
        known = min(self.count - 1, self.memory)
        if not known:
            return after
        return after - weights(self.changes[:known], self.products[:known, :known], change) @ self.steps[:known]

    def learn(self, slot: int, step: np.ndarray, change: np.ndarray) -> None:
        """Put the differences of two successive steps in the place of the oldest ones."""
        self.steps[slot], self.changes[slot] = step, change
        column = np.array((self.changes @ change.conj()).tolist())
        self.products[slot], self.products[:, slot] = column, column.conj()

    def of_trees(self, before: Tree, after: Tree, size: float) -> Tree:
        """The next tree of arrays."""
        leaves, spec = flatten(after)
        packing = Packing(leaves)
        x, y = packing.pack(flatten(before)[0]), packing.pack(leaves)
        return unflatten(spec, packing.unpack(self.propose(y, y - x, size)))


def weights(rows: np.ndarray, products: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Those of the sum of a few long rows that is nearest to a target, by normal equations, refined.

    `products[i, j]` is ``<row i, row j>``.
    """
    sizes = np.sqrt(products.diagonal().real)
    sizes = np.where(sizes == 0, 1, sizes)
    scales, cut = sizes[:, None] * sizes, tolerances.zero(sizes.dtype, sizes.size)
    values, vectors = np.linalg.eigh(products / scales)
    kept = values > cut * values[-1]
    vectors = vectors[:, kept]
    inverse = like(rows).asarray((vectors / values[kept]) @ vectors.conj().T / scales)
    found = inverse @ (rows.conj() @ target)
    for _ in range(REFINEMENTS):
        found = found + inverse @ (rows.conj() @ (target - found @ rows))
    return found
