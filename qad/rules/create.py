"""Arrays made of others' values: grids of numbers and of points, and what is inserted, resized or trimmed."""

from functools import partial, reduce

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qad.core.errors import ArgumentError
from qad.extend import Tensor, implements, operand, stack_of, unrecorded, value_of
from qad.rules.lazy import scatter

# -- grids ---------------------------------------------------------------------------------------------------


@implements(np.linspace)
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """``np.linspace``, differentiable in both ends."""
    start, stop = np.broadcast_arrays(operand(start), operand(stop))
    t = np.linspace(0, 1, num, endpoint).reshape((-1,) + (1,) * start.ndim)
    y = np.moveaxis(start * (1 - t) + stop * t, 0, axis)
    y = y if dtype is None else np.astype(y, dtype)
    return (y, (stop - start) / (num - bool(endpoint) or np.nan)) if retstep else y


@implements(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """``np.logspace``, differentiable in both ends and the base."""
    exponents = np.linspace(operand(start), operand(stop), num, endpoint, axis=axis)
    base = operand(base)
    base = np.expand_dims(base, axis) if np.ndim(base) else base
    y = np.power(base, exponents)
    return y if dtype is None else np.astype(y, dtype)


@implements(np.geomspace)
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """``np.geomspace``: ``start (stop / start)^t``."""
    start, stop = np.broadcast_arrays(operand(start), operand(stop))
    t = np.linspace(0, 1, num, endpoint).reshape((-1,) + (1,) * start.ndim)
    y = np.moveaxis(start * (stop / start) ** t, 0, axis)
    return y if dtype is None else np.astype(y, dtype)


@implements(np.meshgrid)
def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """``np.meshgrid``."""
    if indexing not in ("xy", "ij"):
        raise ArgumentError(f"indexing is 'xy' or 'ij', not {indexing!r}")
    axes = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        axes[:2] = 1, 0
    n = len(xi)
    grids = [np.reshape(operand(x), (1,) * k + (-1,) + (1,) * (n - k - 1)) for x, k in zip(xi, axes, strict=True)]
    return tuple(grids) if sparse else np.broadcast_arrays(*grids)


# -- other sizes ---------------------------------------------------------------------------------------------


@implements(np.insert)
def insert(arr, obj, values, axis=None):
    """``np.insert``: the places are taken from NumPy, on numbers of places."""
    arr, values = operand(arr), operand(values)
    if axis is None:
        arr, axis = np.reshape(arr, -1), 0
    axis, n = normalize_axis_index(axis, arr.ndim), arr.shape[axis]
    obj = value_of(obj)
    obj = np.arange(n)[obj] if isinstance(obj, slice) else np.asarray(obj)
    values = np.reshape(values, (1,) * (arr.ndim - np.ndim(values)) + np.shape(values))
    values = np.moveaxis(values, 0, axis) if obj.ndim == 0 else values
    count = values.shape[axis] if obj.size == 1 else np.insert(np.zeros(n), obj, 0).size - n
    shape = (*arr.shape[:axis], count, *arr.shape[axis + 1 :])
    order = np.insert(np.arange(n), obj if obj.ndim else int(obj), n + np.arange(count))
    return np.take(np.concatenate([arr, np.broadcast_to(values, shape)], axis), order, axis)


@implements(np.resize)
def resize(a, new_shape):
    """``np.resize``: the entries again and again, as often as it takes."""
    a = np.reshape(operand(a), -1)
    places = np.arange(np.prod(new_shape, dtype=int)).reshape(new_shape)
    return a[places % a.size] if a.size else np.zeros(new_shape, a.dtype)


def within_zeros(vector) -> tuple:
    """Where a vector starts and ends when the zeros around it are left out; the same in all examples of a batch."""
    entries = stack_of(vector).reshape(-1, len(vector)) != 0
    if not entries.any():
        return len(vector), len(vector)
    ends = {(int(np.flatnonzero(row)[0]), int(np.flatnonzero(row)[-1]) + 1) if row.any() else None for row in entries}
    if len(ends) > 1:
        raise ArgumentError("the examples of the batch have other zeros at their ends: write a loop over them")
    return ends.pop()


@implements(np.trim_zeros)
def trim_zeros(filt, trim="fb", axis=None):
    """``np.trim_zeros`` of a vector; which entries are zero is a matter of values."""
    if filt.ndim != 1:
        raise ArgumentError(f"np.trim_zeros of a Tensor takes one axis, not shape {filt.shape}: write a slice")
    start, stop = within_zeros(filt)
    return filt[start if "f" in trim.lower() else None : stop if "b" in trim.lower() else None]


# -- functions of parts --------------------------------------------------------------------------------------


@implements(np.piecewise)
def piecewise(x, condlist, funclist, *args, **kw):
    """``np.piecewise``: each function sees the entries where its condition is the last one to hold."""
    x = operand(x)
    masks = [np.broadcast_to(unrecorded(c), x.shape) for c in _conditions(condlist)]
    if len(funclist) == len(masks) + 1:
        masks.append(~reduce(np.logical_or, masks))
    if len(funclist) != len(masks):
        raise ArgumentError(f"{len(masks)} conditions take {len(masks)} functions or one more, not {len(funclist)}")
    functions = [partial(f, *args, **kw) if callable(f) else partial(_constant, f) for f in funclist]
    if any(type(mask) is Tensor for mask in masks):  # of a batch: every function sees all entries
        return np.select(masks[::-1], [f(x) for f in functions[::-1]], 0 * x)
    parts, taken = [], np.zeros(x.shape, bool)
    for i in reversed(range(len(masks))):
        masks[i] = masks[i] & ~taken
        taken = taken | masks[i]
        entries = x[masks[i]]
        parts.append(np.astype(np.broadcast_to(functions[i](entries), entries.shape), x.dtype))
    return scatter(*parts, indices=tuple(masks[::-1]), shape=x.shape, dtype=x.dtype)


def _constant(value, entries):
    return operand(value)


def _conditions(condlist):
    """One condition need not stand in a list."""
    if isinstance(condlist, (list, tuple)) and isinstance(condlist[0], (list, np.ndarray, Tensor)):
        return condlist
    return list(condlist) if np.ndim(condlist) > 1 else [condlist]


@implements(np.apply_along_axis)
def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """``np.apply_along_axis``: a Python loop over vectors; `qad.vmap` has none."""
    arr = operand(arr)
    axis = normalize_axis_index(axis, arr.ndim)
    rows = np.moveaxis(arr, axis, -1)
    others = rows.shape[:-1]
    results = [operand(func1d(rows[i], *args, **kwargs)) for i in np.ndindex(others)]
    y = np.stack(results).reshape(others + np.shape(results[0]))
    k = y.ndim - len(others)
    return np.moveaxis(y, range(len(others), y.ndim), range(axis, axis + k))


@implements(np.apply_over_axes)
def apply_over_axes(func, a, axes):
    """``np.apply_over_axes``."""
    for axis in np.atleast_1d(axes).tolist():
        y = func(a, axis)
        a = y if np.ndim(y) == np.ndim(a) else np.expand_dims(y, axis)
    return a
