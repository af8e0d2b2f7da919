"""Arrays of another size: entries inserted, repeated or trimmed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qad.core.errors import ArgumentError
from qad.extend import as_array, implements, operand, stack_of, value_of

if TYPE_CHECKING:
    from typing import Any

    from qad.typing import Index, Shape, Value


@implements(np.insert)
def insert(arr: Value, obj: Index, values: Value, axis: int | None = None) -> Value:
    """``np.insert``: NumPy itself inserts into the array of indices, which tells where every entry goes."""
    arr, values = operand(arr), operand(values)
    if axis is None:
        arr, axis = np.reshape(arr, -1), 0
    axis, n = normalize_axis_index(axis, arr.ndim), arr.shape[axis]
    obj = value_of(obj)
    obj = np.arange(n)[obj] if isinstance(obj, slice) else as_array(obj)
    values = np.reshape(values, (1,) * (arr.ndim - np.ndim(values)) + np.shape(values))
    values = np.moveaxis(values, 0, axis) if obj.ndim == 0 else values
    count = values.shape[axis] if obj.size == 1 else np.insert(np.zeros(n), obj, 0).size - n
    shape = (*arr.shape[:axis], count, *arr.shape[axis + 1 :])
    order = np.insert(np.arange(n), obj if obj.ndim else int(obj), n + np.arange(count))
    return np.take(np.concatenate([arr, np.broadcast_to(values, shape)], axis), order, axis)


@implements(np.resize)
def resize(a: Value, new_shape: Shape) -> Value:
    """``np.resize``: the entries again and again, as often as it takes."""
    a = np.reshape(operand(a), -1)
    places = np.arange(np.prod(new_shape, dtype=int)).reshape(new_shape)
    return a[places % a.size] if a.size else np.zeros(new_shape, a.dtype)


def within_zeros(vector: Value) -> tuple[int, int]:
    """Where a vector starts and ends when the zeros around it are left out; the same in all examples of a batch."""
    entries = stack_of(vector).reshape(-1, len(vector)) != 0
    if not entries.any():
        return len(vector), len(vector)
    ends: set[Any] = {
        (int(np.flatnonzero(row)[0]), int(np.flatnonzero(row)[-1]) + 1) if row.any() else None for row in entries
    }
    if len(ends) > 1:
        raise ArgumentError("the examples of the batch have other zeros at their ends: write a loop over them")
    return ends.pop()


@implements(np.trim_zeros)
def trim_zeros(filt: Value, trim: str = "fb", axis: int | None = None) -> Value:
    """``np.trim_zeros`` of a vector; which entries are zero is a matter of values."""
    if filt.ndim != 1:
        raise ArgumentError(f"np.trim_zeros of a Tensor takes one axis, not shape {filt.shape}: write a slice")
    start, stop = within_zeros(filt)
    return filt[start if "f" in trim.lower() else None : stop if "b" in trim.lower() else None]
