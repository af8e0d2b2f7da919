"""Indexing of every kind, and the functions that select entries; all but `where` rest on ``x[index]``."""

from operator import getitem

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qad.core.errors import ArgumentError
from qad.extend import (
    as_array,
    attach,
    defjvp,
    defvjp,
    implements,
    operand,
    primitive,
    quick,
    refuse_out,
    unbroadcast,
    value_of,
)
from qad.rules.lazy import Scatter

# -- x[index] --------------------------------------------------------------------------------------

defvjp(getitem, lambda g, y, x, index: Scatter(x.shape, x.dtype, [(index, g)]), linear=True, fresh=True)
_getitem = quick(getitem, metadata=True)
SETTLED = frozenset((int, slice, type(None), type(...)))


def item(x, index):
    """``x[index]``; the index may hold Tensors, which serve as integers or masks."""
    kind = type(index)
    if kind not in SETTLED and not (kind is tuple and SETTLED.issuperset(map(type, index))):
        index = settled(index)
    return _getitem(x, index)


def settled(index):
    """`index` as the tape may keep it: Tensors as values, arrays as copies that nobody changes later."""
    if type(index) is tuple:
        return tuple([settled(i) for i in index])
    index = value_of(index)
    if isinstance(index, list):
        return np.array([value_of(i) for i in index], dtype=None if index else np.intp)
    return index.copy() if isinstance(index, np.ndarray) else index


attach("__getitem__", item)


# -- selection along an axis -----------------------------------------------------------------------


def along(axis, index, ndim):
    """The index that takes `index` on one axis and everything on the others."""
    return (slice(None),) * normalize_axis_index(axis, ndim) + (index,)


def bounded(indices, size, mode):
    """Integer array `indices` brought into the range of an axis as NumPy's `mode` says."""
    indices = as_array(value_of(indices))
    if mode == "wrap":
        return indices % size
    if mode == "clip":
        return np.clip(indices, 0, size - 1)
    if mode != "raise":
        raise ArgumentError(f"mode is 'raise', 'wrap' or 'clip', not {mode!r}")
    return indices


@implements(np.take)
def take(a, indices, axis=None, out=None, mode="raise"):
    refuse_out(out, "np.take")
    a = operand(a)
    if axis is None:
        a, axis = a.reshape(-1), 0
    index = along(axis, ..., a.ndim)[:-1]
    return a[(*index, bounded(indices, a.shape[len(index)], mode))]


@implements(np.take_along_axis)
def take_along_axis(arr, indices, axis=-1):
    arr, indices = operand(arr), as_array(value_of(indices))
    if axis is None:
        return arr.reshape(-1)[indices]
    if indices.ndim != arr.ndim:
        raise ArgumentError(f"the indices have {indices.ndim} axes, the array {arr.ndim}: they need as many")
    index = list(np.ogrid[tuple(slice(n) for n in arr.shape)])
    index[normalize_axis_index(axis, arr.ndim)] = indices
    return arr[tuple(index)]


@implements(np.compress)
def compress(condition, a, axis=None, out=None):
    return take(a, np.flatnonzero(value_of(condition)), axis, out)


@implements(np.extract)
def extract(condition, arr):
    return take(arr, np.flatnonzero(value_of(condition)))


@implements(np.delete)
def delete(arr, obj, axis=None):
    arr = operand(arr)
    size = arr.size if axis is None else arr.shape[axis]
    return take(arr, np.delete(np.arange(size), value_of(obj)), axis)


# -- choice between arrays -------------------------------------------------------------------------


@primitive
def chosen(x, y, *, condition):
    """Entries of `x` where the condition holds, of `y` elsewhere."""
    return np.where(condition, x, y)


defvjp(
    chosen,
    lambda g, ans, x, y, *, condition: unbroadcast(np.where(condition, g, 0), x.shape),
    lambda g, ans, x, y, *, condition: unbroadcast(np.where(condition, 0, g), y.shape),
    fresh=True,
)
defjvp(
    chosen,
    lambda t, ans, x, y, *, condition: np.where(condition, t, 0),
    lambda t, ans, x, y, *, condition: np.where(condition, 0, t),
)


@implements(np.where)
def where(condition, *branches):
    condition = value_of(condition)
    if len(branches) != 2:
        return np.where(condition, *branches)
    return chosen(*map(operand, branches), condition=condition)


@implements(np.select)
def select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ArgumentError(
            f"np.select needs as many choices as conditions: {len(choicelist)} for {len(condlist)} were given"
        )
    result = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = where(condition, choice, result)
    return result


@implements(np.choose)
def choose(a, choices, out=None, mode="raise"):
    refuse_out(out, "np.choose")
    choices = np.broadcast_arrays(*map(operand, choices), as_array(value_of(a)))
    *choices, a = choices
    a = bounded(a, len(choices), mode)
    return take_along_axis(np.stack(choices), a[None], 0)[0]


def _writes(function):
    def refuse(*args, **kwargs):
        raise ArgumentError(
            f"np.{function.__name__} writes into its argument, which a Tensor does not allow: write "
            "qad.where(mask, new, x), or collect the parts and call qad.stack or qad.concatenate"
        )

    return refuse


for _function in (np.put, np.put_along_axis, np.place, np.putmask, np.fill_diagonal, np.copyto):
    implements(_function)(_writes(_function))

attach("take", take)
attach("compress", lambda x, condition, axis=None, out=None: compress(condition, x, axis, out))
attach("choose", choose)
