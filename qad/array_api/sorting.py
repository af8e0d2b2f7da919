"""Sorting, which the standard has in both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.array_api.wrap import as_tensors
from qad.extend import value_of

if TYPE_CHECKING:
    from qad.extend import Tensor
    from qad.typing import ArrayLike


def argsort(x: ArrayLike, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The places of the sorted values."""
    x = np.asarray(value_of(x))
    if not descending:
        return as_tensors(np.argsort(x, axis=axis, stable=stable))
    order = np.flip(np.argsort(np.flip(x, axis), axis=axis, stable=stable), axis)  # equal values stay in their order
    return as_tensors(x.shape[axis] - 1 - order)


def sort(x: ArrayLike, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The sorted values."""
    y = np.sort(x, axis=axis, stable=stable)
    return as_tensors(np.flip(y, axis) if descending else y)
