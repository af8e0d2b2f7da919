"""The axes that a reduction runs over, and how many entries it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import as_array, like

if TYPE_CHECKING:
    from qad.typing import Axes, Value


def axes_of(axis: Axes, ndim: int) -> tuple[int, ...]:
    """`axis` as NumPy's reductions take it, as a tuple of non-negative numbers."""
    if axis is None:
        return tuple(range(ndim))
    return tuple(a + ndim if a < 0 else a for a in (axis if isinstance(axis, tuple) else (axis,)))


def count(shape: tuple[int, ...], axis: Axes) -> int:
    """How many entries are reduced to one."""
    n = 1
    for a in axes_of(axis, len(shape)):
        n *= shape[a]
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
