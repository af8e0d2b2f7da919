"""The axes that a reduction runs over, and how many entries it takes."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from qad.extend import as_array, like

if TYPE_CHECKING:
    from qad.typing import Axes, Value


def axes_of(axis: Axes, ndim: int) -> tuple[int, ...]:
    """`axis` as NumPy's reductions take it, as a tuple of non-negative numbers."""
    if axis is None:
        return tuple(range(ndim))
    return tuple(a + ndim if a < 0 else a for a in (axis if isinstance(axis, tuple) else (axis,)))


def present(axis: Axes, ndim: int) -> tuple[int, ...]:
    """`axes_of`, refused as NumPy does where the array has no such axis."""
    return axes_of(axis, ndim) if axis is None else normalize_axis_tuple(axis, ndim)


def count(shape: tuple[int, ...], axis: Axes) -> int:
    """How many entries are reduced to one."""
    n = 1
    try:
        for a in axes_of(axis, len(shape)):
            n *= shape[a]
    except IndexError:  # NumPy sums a number over an axis 0, and refuses it for a mean
        normalize_axis_tuple(axis, len(shape))
        raise
    return n


def freedom(n: Value, ddof: Value) -> Value:
    """Degrees of freedom: ``n - ddof``, but not below 0, where a variance has no finite value."""
    return max(n - ddof, 0) if type(n) is int else np.maximum(n - ddof, 0)


def of_nothing(a: Value, axis: Axes, keepdims: bool, value: Value) -> Value | None:
    """The reduction of `a` where its axes hold nothing: `value` everywhere; None where they hold something."""
    axes = axes_of(axis, a.ndim)
    if not any(a.shape[i] == 0 for i in axes):
        return None
    shape = tuple([1 if i in axes else n for i, n in enumerate(a.shape) if keepdims or i not in axes])
    return like(a).zeros(shape, a.dtype) + np.astype(as_array(value), a.dtype)


def rows_of(x: Value) -> Value:
    """Every example of a batch as a vector."""
    return x.reshape((len(x), prod(x.shape[1:])))
