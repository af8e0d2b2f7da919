"""Arrays of which few entries are not zero, filled at run time: see `qad.frozen.passes.sparsity`."""

import numpy as np

__all__ = ["placed"]


def placed(start, *terms, out=None):
    """A copy of `start` with vectors at places of its flat order, as an array in C order.

    Parameters
    ----------
    start : array
    *terms : vector, place, alone, and so on
        A place is a slice or an array of numbers, each once; a vector that is not `alone` there is added.
    out : array, optional
        In C order.
    """
    if out is None:
        out = start.copy()
    else:
        np.copyto(out, start)
    flat = out.reshape(-1)
    for i in range(0, len(terms), 3):
        vector, place, alone = terms[i : i + 3]
        if alone:
            flat[place] = vector
        else:
            flat[place] += vector
    return out
