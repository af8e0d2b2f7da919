"""Functions of parts of an array: `piecewise`, and functions applied along axes."""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qad.core.errors import ArgumentError
from qad.extend import Tensor, implements, is_foreign, like, operand, unrecorded
from qad.rules.protocol.structured_cotangents import scatter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.typing import Axis, Function, Value


@implements(np.piecewise)
def piecewise(x: Value, condlist: Value, funclist: Sequence[Any], *args: Any, **kw: Any) -> Value:
    """``np.piecewise``: each function sees the entries where its condition is the last one to hold."""
    x = operand(x)
    masks = [np.broadcast_to(unrecorded(c), x.shape) for c in _conditions(condlist)]
    if len(funclist) == len(masks) + 1:
        masks.append(~reduce(np.logical_or, masks))
    if len(funclist) != len(masks):
        raise ArgumentError(f"{len(masks)} conditions take {len(masks)} functions or one more, not {len(funclist)}")
    functions: list[Function] = [partial(f, *args, **kw) if callable(f) else partial(_constant, f) for f in funclist]
    if any(type(mask) is Tensor for mask in masks):  # of a batch: every function sees all entries
        return np.select(masks[::-1], [f(x) for f in functions[::-1]], 0 * x)
    parts, taken = [], like(x).zeros(x.shape, bool)
    for i in reversed(range(len(masks))):
        masks[i] = masks[i] & ~taken
        taken = taken | masks[i]
        entries = x[masks[i]]
        y = functions[i](entries)
        y = y if type(y) is Tensor else like(x).asarray(y)
        parts.append(np.astype(np.broadcast_to(y, entries.shape), x.dtype))
    return scatter(*parts, indices=tuple(masks[::-1]), shape=x.shape, dtype=x.dtype)


def _constant(value: Value, entries: Value) -> Value:
    return operand(value)


def _conditions(condlist: Value) -> Sequence[Value]:
    """One condition need not stand in a list."""
    if isinstance(condlist, (list, tuple)) and (
        isinstance(condlist[0], (list, np.ndarray, Tensor)) or is_foreign(condlist[0])
    ):
        return condlist
    return list(condlist) if np.ndim(condlist) > 1 or isinstance(condlist, (list, tuple)) else [condlist]


@implements(np.apply_along_axis)
def apply_along_axis(func1d: Function, axis: int, arr: Value, *args: Any, **kwargs: Any) -> Value:
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
def apply_over_axes(func: Function, a: Value, axes: Axis) -> Value:
    """``np.apply_over_axes``."""
    for axis in np.atleast_1d(axes).tolist():
        y = func(a, axis)
        a = y if np.ndim(y) == np.ndim(a) else np.expand_dims(y, axis)
    return a
