"""Indexing of every kind, and the functions that select entries; all but `where` rest on ``x[index]``."""

from __future__ import annotations

from operator import getitem
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qad.core.errors import ArgumentError
from qad.extend import (
    ARRAY_TYPES,
    ENTRIES,
    Tensor,
    as_array,
    attach,
    implements,
    operand,
    primitive,
    quick_with_metadata,
    refuse_out,
    rule,
    unbroadcast,
    unrecorded,
    value_of,
)
from qad.extend.memory import ArrayForm, held
from qad.rules.protocol.structured_cotangents import Scatter, behind, may_repeat, within
from qad.rules.shapes.gather import item_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Cotangent, Index, Value

# -- x[index] --------------------------------------------------------------------------------------


def _add_entries(total: Value, g: Cotangent, x: Value, index: Index) -> bool:
    """Add the cotangent of ``x[index]`` to an array of the shape of `x`, if dtypes agree and no entry repeats."""
    if g.dtype is not total.dtype or type(g) not in ARRAY_TYPES or (type(index) is not int and may_repeat(index)):
        return False
    total[index] += g
    return True


def _item_of_each(batched: Sequence[bool], x: Value, index: Index) -> Value:
    if type(index) is np.ndarray is type(x) and index.ndim and index.dtype.kind in "iu":
        return np.take(x, index, 1)
    before = behind(index)
    return np.moveaxis(x[within(index)], before, 0) if before else x[within(index)]


rule(
    getitem,
    lambda g, y, x, index: Scatter(x.shape, x.dtype, [(index, g)]),
    linear=True,
    batch=_item_of_each,
    shows=True,
    fresh=True,
    adds=_add_entries,
    root="moved",
)
_getitem = quick_with_metadata(getitem)
SETTLED = frozenset((int, np.int64, np.int32, slice, type(None), type(...)))


def item(x: Tensor, index: Index) -> Value:
    """``x[index]``; the index may hold Tensors, which serve as integers or masks."""
    kind, own = type(index), type(x.value) is not ArrayForm
    if kind is int and own:
        return _getitem(x, index)
    if kind not in SETTLED and not (kind is tuple and SETTLED.issuperset(map(type, index))):
        index = settled(index)
        if type(index) is Tensor or (type(index) is tuple and Tensor in map(type, index)):
            return item_at(x, index) if own else x.level.read(x, index)
    return _getitem(x, index) if own else x.level.read(x, index)


def settled(index: Index) -> Index:
    """`index` as the tape may keep it: Tensors as values, arrays as copies that nobody changes later.

    A batch of indices (`qad.vmap`) stays a Tensor.
    """
    return tuple([_settled(i) for i in index]) if isinstance(index, tuple) else _settled(index)


def _settled(index: Index) -> Index:
    """One part of an index, in which NumPy takes a tuple for a list."""
    index = unrecorded(index)
    if isinstance(index, (list, tuple)):
        entries = [unrecorded(i) for i in index]
        return (
            np.stack(entries) if Tensor in map(type, entries) else np.array(entries, dtype=None if index else np.intp)
        )
    if isinstance(index, np.ndarray):
        return index.copy()
    kind = type(index)
    if kind in SETTLED or hasattr(kind, "__array_function__") or isinstance(index, np.generic):
        return index
    if hasattr(kind, "__array__"):  # an array of JAX, for example
        return np.asarray(index).copy()
    return np.array(index, dtype=None if len(index) else np.intp) if hasattr(kind, "__len__") else index


attach("__getitem__", item)


def entries(x: Value, index: Index) -> Value:
    """``x[index]`` of a Tensor or a plain array, for a tuple with Tensors or plain arrays in it."""
    if type(x) is Tensor:
        return item(x, index)
    return item_at(x, index) if Tensor in map(type, index) else x[index]


# -- selection along an axis -----------------------------------------------------------------------


def along(axis: int, index: Index, ndim: int) -> tuple[Index, ...]:
    """The index that takes `index` on one axis and everything on the others."""
    return (slice(None),) * normalize_axis_index(axis, ndim) + (index,)


def bounded(indices: Value, size: int, mode: str) -> Value:
    """Integer array `indices` brought into the range of an axis as NumPy's `mode` says."""
    indices = unrecorded(indices)
    indices = indices if type(indices) is Tensor else as_array(indices)
    if mode == "wrap":
        return indices % size
    if mode == "clip":
        return np.clip(indices, 0, size - 1)
    if mode != "raise":
        raise ArgumentError(f"mode is 'raise', 'wrap' or 'clip', not {mode!r}")
    return indices


@implements(np.take)
def take(a: Value, indices: Value, axis: int | None = None, out: object = None, mode: str = "raise") -> Value:
    refuse_out(out, "np.take")
    a = operand(a)
    if axis is None:
        a, axis = a.reshape(-1), 0
    index = along(axis, ..., a.ndim)[:-1]
    place = len(index)
    picked = bounded(indices, a.shape[place] or 1, mode)
    if picked.dtype.kind == "b" or (not picked.size and isinstance(indices, list | tuple)):
        picked = picked.astype(np.intp)  # a mask is one of zeros and ones here
    shape = (*a.shape[:place], *picked.shape, *a.shape[place + 1 :])
    if 0 in a.shape[: place + 1] and 0 in shape:
        return a.reshape(shape).copy()  # of nothing NumPy takes nothing, whatever the indices
    out = entries(a, (*index, picked))
    return held(out) if type(out) is Tensor else out


@implements(np.take_along_axis)
def take_along_axis(arr: Value, indices: Value, axis: int | None = -1) -> Value:
    arr, indices = operand(arr), bounded(indices, 0, "raise")
    if axis is None:
        return entries(arr.reshape(-1), (indices,))
    if indices.ndim != arr.ndim:
        raise ArgumentError(f"the indices have {indices.ndim} axes, the array {arr.ndim}: they need as many")
    index = list(np.ogrid[tuple(slice(n) for n in arr.shape)])
    index[normalize_axis_index(axis, arr.ndim)] = indices
    return entries(arr, tuple(index))


@implements(np.compress)
def compress(condition: Value, a: Value, axis: int | None = None, out: object = None) -> Value:
    return take(a, np.flatnonzero(value_of(condition)), axis, out)


@implements(np.extract)
def extract(condition: Value, arr: Value) -> Value:
    return take(arr, np.flatnonzero(value_of(condition)))


@implements(np.delete)
def delete(arr: Value, obj: Index, axis: int | None = None) -> Value:
    arr = operand(arr)
    size = arr.size if axis is None else arr.shape[axis]
    return take(arr, np.delete(np.arange(size), value_of(obj)), axis)


# -- choice between arrays -------------------------------------------------------------------------


@primitive(name="where")
def chosen(x: Value, y: Value, condition: Value) -> Value:
    """Entries of `x` where the condition holds, of `y` elsewhere."""
    return np.where(condition, x, y)


rule(
    chosen,
    lambda g, ans, x, y, condition: unbroadcast(np.where(condition, g, 0), x.shape),
    lambda g, ans, x, y, condition: unbroadcast(np.where(condition, 0, g), y.shape),
    forward=(  # NaN, as the cotangent, where 0 meets an infinite slope
        lambda t, ans, x, y, condition: t * np.where(condition, True, False),
        lambda t, ans, x, y, condition: t * np.where(condition, False, True),
    ),
    batch=ENTRIES,
    fresh=True,
)


@implements(np.where)
def where(condition: Value, *branches: Value) -> Value:
    condition = unrecorded(condition)
    if len(branches) != 2:
        return np.where(condition, *branches)
    return chosen(*map(operand, branches), condition)


@implements(np.select)
def select(condlist: Sequence[Value], choicelist: Sequence[Value], default: Value = 0) -> Value:
    if len(condlist) != len(choicelist):
        raise ArgumentError(
            f"np.select needs as many choices as conditions: {len(choicelist)} for {len(condlist)} were given"
        )
    result = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = where(condition, choice, result)
    return result


@implements(np.choose)
def choose(a: Value, choices: Sequence[Value], out: object = None, mode: str = "raise") -> Value:
    refuse_out(out, "np.choose")
    choices = np.broadcast_arrays(*map(operand, choices), bounded(a, 0, "raise"))
    *choices, a = choices
    a = bounded(a, len(choices), mode)
    return take_along_axis(np.stack(choices), np.expand_dims(a, 0), 0)[0]


attach("take", take)
attach("compress", lambda x, condition, axis=None, out=None: compress(condition, x, axis, out))
attach("choose", choose)
