"""What keeps sweeps away from states that are excluded: a penalty for the overlap with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import like
from qad.mps.environments import past_left, past_right

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.effective import Apply
    from qad.mps.search.result import Excluding
    from qad.mps.state import MPS


class Penalty:
    """``weight |state><state|`` for every excluded state, by the overlaps on both sides of the centre."""

    def __init__(self, excluded: Excluding, tensors: Sequence[np.ndarray]):
        self.states: list[MPS] = excluded.states
        self.weight: float = excluded.weight
        n = len(tensors)
        start = like(*tensors).ones((1, 1))  # of environments in which the present state is the bra
        self.left: list[list[np.ndarray]] = [[start] * n for _ in self.states]
        self.right: list[list[np.ndarray]] = [[start] * n for _ in self.states]
        for site in reversed(range(1, n)):
            self.pass_left(site, tensors[site])

    def pass_right(self, site: int, tensor: np.ndarray) -> None:
        for state, left in zip(self.states, self.left, strict=True):
            left[site + 1] = past_left(left[site], state[site], tensor)

    def pass_left(self, site: int, tensor: np.ndarray) -> None:
        for state, right in zip(self.states, self.right, strict=True):
            right[site - 1] = past_right(right[site], state[site], tensor)

    def added(self, apply: Apply, at: tuple[int, int]) -> Apply:
        """`apply` plus the penalty, on the centre made of the sites ``range(*at)``."""
        if not self.states:
            return apply
        rows = [self.reduced(*parts, at).reshape(-1) for parts in zip(self.states, self.left, self.right, strict=True)]

        def penalised(x):
            return apply(x) + self.weight * sum(row * np.vdot(row, x) for row in rows)

        return penalised

    @staticmethod
    def reduced(state: MPS, left: Sequence[np.ndarray], right: Sequence[np.ndarray], at: tuple[int, int]) -> np.ndarray:
        """An excluded state in the basis of the centre."""
        centre = left[at[0]]
        for site in range(*at):
            centre = np.tensordot(centre, state[site], 1)
        return np.tensordot(centre, right[at[1] - 1], (-1, 1))
