"""In how many ways sites hold given totals: counts by which configurations are numbered, listed and drawn.

In how many ways the last k sites can complete a configuration, by what is left of each total, is found site by site.
"""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

COUNTED = 2**62  # the most configurations that whole numbers of 64 bits number


class Ways:
    """Configurations of `n` sites whose basis states hold `held` (d, quantities), and which have these totals.

    Attributes
    ----------
    count : int
        How many there are.
    """

    def __init__(self, n: int, held: np.ndarray, totals: tuple[int, ...]):
        self.n: int = n
        self.held: np.ndarray = held
        self.totals: tuple[int, ...] = totals
        ways = np.zeros([total + 1 for total in totals], object)  # whole numbers of any size
        ways[(0,) * ways.ndim] = 1
        self.levels: list[np.ndarray] = [ways]  # in how many ways 0, 1, ..., n sites have each total
        for _ in range(n):
            more = np.zeros_like(ways)
            for state in held:
                rest, reached = shifts(ways.shape, state)
                more[reached] += ways[rest]
            self.levels.append(ways := more)
        self.count: int = int(ways[totals])

    @cached_property
    def starts(self) -> list[np.ndarray]:
        """For each site (totals left, d + 1): in how many ways what is left is completed by a state before each one.

        In whole numbers, or where there are too many in shares of all ways.
        """
        found = []
        for ways in self.levels[-2::-1]:
            starts = np.zeros((*ways.shape, len(self.held) + 1), object)
            for state, held in enumerate(self.held):
                rest, reached = shifts(ways.shape, held)
                starts[(*reached, state + 1)] = ways[rest]
            starts = starts.cumsum(-1).reshape(-1, starts.shape[-1])
            if self.count < COUNTED:
                found.append(np.minimum(starts, COUNTED).astype(np.int64))  # what exceeds that is never reached
            else:
                found.append((starts / np.maximum(starts[:, -1:], 1)).astype(float))
        return found

    def walk(self, count: int, choose: Callable[[int, np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """Basis states (count, n), chosen site by site; `choose` is told the site, its starts, and what is left."""
        strides = np.array([prod(total + 1 for total in self.totals[k + 1 :]) for k in range(len(self.totals))], int)
        left, held = np.full(count, strides @ np.array(self.totals, int)), self.held @ strides
        states = np.empty((self.n, count), np.int8 if len(held) < 128 else np.int16)
        for k, starts in enumerate(self.starts):
            states[k] = choose(k, starts, left)
            left -= held[states[k]]
        return np.ascontiguousarray(states.T)


def shifts(shape: tuple[int, ...], held: np.ndarray) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Of an array by totals, the totals that more may be held with, and those that are reached by it."""
    rest = [slice(max(0, size - of)) for size, of in zip(shape, held, strict=True)]
    return tuple(rest), tuple([slice(of, None) for of in held])
