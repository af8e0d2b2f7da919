"""Arrays of which few entries are not zero, filled at run time: see `qad.frozen.passes.sparsity`."""

from __future__ import annotations

from typing import Any

import numpy as np


def placed(start: np.ndarray, *terms: Any, out: np.ndarray | None = None) -> np.ndarray:
    """A copy of `start`, in C order, with vectors written or added at given flat indices.

    Parameters
    ----------
    start : array
    *terms : vector, index, whether to overwrite, and so on
        An index is a slice or an array of distinct flat indices; a vector that does not overwrite is added.
    out : array, optional
        In C order.
    """
    if out is None:
        out = start.copy()
    else:
        np.copyto(out, start)
    flat = out.reshape(-1)
    for i in range(0, len(terms), 3):
        vector, index, overwrite = terms[i : i + 3]
        if overwrite:
            flat[index] = vector
        else:
            flat[index] += vector
    return out
