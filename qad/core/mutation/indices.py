"""Indices: an index into a view as one into the whole, entries that are named twice, what NumPy gives a view for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import BatchError
from qad.core.foreign import is_foreign, like
from qad.core.tape.tensor import Tensor
from qad.core.vmap.batched import stack_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from qad.core.words import Index, Value

SLICE = slice(None)
BASIC: frozenset[type] = frozenset((int, np.int64, np.int32, np.intp, slice, type(None), type(...)))


def covers(index: Index) -> bool:
    """Whether `index` is ``...``, ``:`` or a tuple of these: all of the array."""
    return all(i is ... or (type(i) is slice and i == SLICE) for i in (index if type(index) is tuple else (index,)))


def composed(outer: Index, inner: Index, shape: Sequence[int]) -> Index:
    """The index that takes from an array of this `shape` what `inner` takes from ``array[outer]``.

    Both are made of integers, slices and ``...``; None is returned where they are not.  An integer may be a Tensor,
    which holds one for each example of `qad.vmap`.
    """
    ranges = [range(n) for n in shape]
    axes = _spread(outer, ranges)
    if axes is None:
        return None
    kept = [axis for axis in axes if type(axis) is range]
    inside = _spread(inner, kept)
    if inside is None:
        return None
    left = iter(inside)
    chosen = [next(left) if type(axis) is range else axis for axis in axes]
    return tuple([_slice(axis) if type(axis) is range else axis for axis in chosen])


def _spread(index: Index, ranges: Sequence[range]) -> list[Any] | None:
    """`index` applied to a range per axis: what remains of each, an integer or a range."""
    index = index if type(index) is tuple else (index,)
    if not all(i is ... or isinstance(i, (slice, int, np.integer)) or one_each(i) for i in index):
        return None
    if bool in map(type, index):
        return None
    gaps = [k for k, i in enumerate(index) if i is ...]
    if not gaps:
        index, gaps = (*index, ...), [len(index)]
    head, tail = index[: gaps[0]], index[gaps[0] + 1 :]
    middle = (SLICE,) * (len(ranges) - len(head) - len(tail))
    chosen = zip(ranges, head + middle + tail, strict=True)
    return [_each(axis, i) if type(i) is Tensor else axis[i] for axis, i in chosen]


def one_each(i: Index) -> bool:
    """Whether `i` holds one integer for each example of `qad.vmap`."""
    return type(i) is Tensor and not i.shape and i.dtype.kind in "iu"


def _each(axis: range, i: Tensor) -> Value:
    """The entry `i` of a range, in each example."""
    places = stack_of(i)
    if np.any((places < -len(axis)) | (places >= len(axis))):
        raise IndexError(f"an index is out of bounds for an axis of size {len(axis)}")
    return (i % len(axis)) * axis.step + axis.start


def _slice(axis: range) -> slice:
    stop = axis.stop if axis.stop >= 0 else None
    return slice(axis.start, stop, axis.step) if len(axis) else slice(0, 0)


def in_stack(index: Index) -> Index:
    """`index` for every array of a stack."""
    index = index if type(index) is tuple else (index,)
    arrays = [k for k, i in enumerate(index) if isinstance(i, np.ndarray)]
    apart = [i for i in index[arrays[0] : arrays[-1]] if i is None or i is ... or type(i) is slice] if arrays else ()
    if apart:
        raise BatchError("under qad.vmap the arrays of an index stand side by side: write x[:, i, j], not x[i, :, j]")
    return (SLICE, *index)


def repeats(index: Index, shape: tuple[int, ...]) -> Value:
    """None if `index` names no entry twice, else a mask of what it selects: where the last of equals stands."""
    arrays = [i for i in (index if type(index) is tuple else (index,)) if isinstance(i, np.ndarray) or is_foreign(i)]
    if not any(i.dtype != bool and i.size > 1 for i in arrays):
        return None
    if type(index) is not tuple and np.unique(index % shape[0]).size == index.size:
        return None
    create = like(*arrays)
    order = create.full(shape, -1)
    numbers = create.arange(order[index].size).reshape(order[index].shape)
    order[index] = numbers
    last = order[index] == numbers
    return None if last.all() else last


def is_basic(index: Index) -> bool:
    """Whether `index` is made of integers, slices, ``...`` and None, so that NumPy gives a view."""
    return BASIC.issuperset(map(type, index)) if type(index) is tuple else type(index) in BASIC


def as_view(array: NDArray[Any], index: Index) -> NDArray[Any]:
    """``array[index]`` for a basic index: a view, without axes where NumPy would give a number."""
    index = index if type(index) is tuple else (index,)
    return array[index if any(i is ... for i in index) else (*index, ...)]


def accumulate(array: Any, index: Any, v: Any) -> Any:
    """Add `v` to ``array[index]``, in place; entries that are named several times add up.

    NumPy stretches a value of one axis wrongly, past its end, for an array of one axis and an index of several.
    """
    if np.ndim(v) == array.ndim == 1:
        several = [np.shape(i) for i in (index if type(index) is tuple else (index,)) if np.ndim(i) > 1]
        v = np.broadcast_to(v, several[0]) if several else v
    np.add.at(array, index, v)


def has_tensors(index: Index) -> bool:
    """Whether `index` has a Tensor in it, which `qad.vmap` makes of indices that differ from example to example."""
    return type(index) is Tensor or (type(index) is tuple and Tensor in map(type, index))
