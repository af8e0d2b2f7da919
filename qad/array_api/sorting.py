"""Sorting, which the standard has in both directions."""

import numpy as np

from qad.array_api.wrap import as_tensors
from qad.extend import value_of


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """The places of the sorted values."""
    x = np.asarray(value_of(x))
    if not descending:
        return as_tensors(np.argsort(x, axis=axis, stable=stable))
    order = np.flip(np.argsort(np.flip(x, axis), axis=axis, stable=stable), axis)  # equal values stay in their order
    return as_tensors(x.shape[axis] - 1 - order)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """The sorted values."""
    y = np.sort(x, axis=axis, stable=stable)
    return as_tensors(np.flip(y, axis) if descending else y)
