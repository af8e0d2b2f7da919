"""The standard's functions that NumPy has not, or with another signature."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.array_api.creation import asarray
from qad.array_api.wrap import as_tensors, giving_tensors
from qad.extend import value_of
from qad.rules.reductions import scan
from qad.rules.shapes import join

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.extend import Tensor
    from qad.typing import Array, ArrayLike

cumulative_prod: Callable[..., Tensor]
cumulative_sum: Callable[..., Tensor]
cumulative_prod, cumulative_sum = map(giving_tensors, (scan.cumulative_prod, scan.cumulative_sum))  # NumPy 2.1 has them


def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The parts of `x` along an axis."""
    return as_tensors(join.unstack(x, axis=axis))


def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Tensor:
    """Products ``x1^H x2`` of vectors along an axis."""
    return as_tensors(np.linalg.vecdot(x1, x2, axis=axis))


def clip(x: Array, /, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Tensor:
    """The entries of `x` between `min` and `max`, in the dtype of `x`."""
    return asarray(np.clip(asarray(x), min, max), dtype=x.dtype)


def reshape(x: ArrayLike, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """The entries of `x` in another shape."""
    return asarray(x).reshape(shape, copy=copy)


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
