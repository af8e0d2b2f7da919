"""How many states an environment keeps: the cut lies in a gap, for one through a near-multiplet is never at rest."""

from __future__ import annotations

import numpy as np

FEWEST, MOST = 0.75, 1.25  # of what is asked for
NOTHING = 1e-10  # relative: smaller values are rounding, or too small to divide by


def kept(values: np.ndarray, chi: int, nothing: float = NOTHING) -> int:
    """The number of states, near `chi`, after which descending `values` fall most steeply."""
    some = int(np.count_nonzero(values > nothing * values[0]))
    most = min(int(MOST * chi), some)
    if some <= most:
        return max(some, 1)
    fewest = min(max(int(np.ceil(FEWEST * chi)), 1), most)
    return fewest + int(np.argmax(values[fewest - 1 : most] / values[fewest : most + 1]))


def is_about(size: int, chi: int) -> bool:
    """Whether an environment of `size` states may stand for one of `chi`."""
    return FEWEST * chi <= size <= MOST * chi
