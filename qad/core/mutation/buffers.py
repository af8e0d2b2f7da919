"""Writing into Tensors, and into views of them: what goes into a view goes into the whole that it shows."""

from __future__ import annotations

from operator import getitem
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.core.foreign import is_foreign, like
from qad.core.freeze_hook import RECORDINGS
from qad.core.mutation.aliases import (
    FIXED,
    Written,
    bottom,
    handle_of,
    is_number,
    lies_in,
    mark,
    release,
    root_of,
    shadow,
    take_again,
)
from qad.core.mutation.indices import as_view, covers, has_tensors, is_basic, one_each
from qad.core.mutation.view_indices import place_of, spot
from qad.core.mutation.writing import get, handle, put
from qad.core.structured import settle
from qad.core.tape.levels import stopped
from qad.core.tape.node import ANSWER
from qad.core.tape.reverse import TAPE, Reverse
from qad.core.tape.tensor import CONSTANT, Tensor, become, value_of
from qad.core.vmap.batched import outline

if TYPE_CHECKING:
    from qad.core.words import Index, Value

WHOLE = ...
ELSEWHERE: dict[Any, Any] = {}  # "put_item": what writes at an index with Tensors in it, see `qad.rules.gather`


def buffer(array: Any) -> Tensor:
    """A constant Tensor that may be written into and owns `array`."""
    return handle(Tensor(array))


# -- what users do ---------------------------------------------------------------------------------


def write(x: Tensor, index: Any, v: Any, add: bool = False) -> Any:
    """Write `v` at `index` of Tensor `x`, or add it there.

    Raises
    ------
    ArgumentError
        If `x` is an argument of a transform or a leaf, a view of one, or a view that NumPy makes read-only.
    GradientTypeError
        If `v` does not fit in the dtype of `x`.
    """
    settle(x)
    root = open_for_writing(x)
    check_kind(x, v)
    v = handle_of(v) if type(v) is Tensor else v  # it may show what is about to change
    if not has_tensors(index):
        _check_shape(x, index, v)
    if root is not x:
        index, v = spot(x, index, v, add)
    if has_tensors(index):
        adopt(root, ELSEWHERE["put_item"](root, index, v, add))
        return
    if not root.buffer:
        put(root, index, v, add)
        return
    views = release(root, lambda view: _touched(view, root, index))
    try:
        put(root, index, v, add)
    finally:
        take_again(views)


def adopt(x: Tensor, result: Any) -> Any:
    """Make Tensor `x` the array `result`: what ``x += y`` does."""
    settle(x)
    root = open_for_writing(x)
    check_kind(x, result)
    simple = root is x and type(result) is Tensor and result.level.number >= x.level.number
    array, before = value_of(result), value_of(x)
    alike = type(array) is type(before) is ndarray and array.strides == before.strides and array.dtype == x.dtype
    if not simple or not alike or array.shape != x.shape:
        write(x, WHOLE, result)
        return
    views = release(x)
    become(x, result)
    take_again(views)


def read(x: Tensor, index: Any) -> Any:
    """``x[index]`` of what has been written into, or of a view of that: a copy, marked as a view where NumPy's is."""
    out = get(x, index)
    if _shows(x, index):
        mark(out, x, getitem, (index,))
    return out


def read_each(x: Any, index: Any, out: Any) -> Any:
    """What was read at an index with Tensors in it: a view of `x` where there is one integer for each example."""
    index = index if type(index) is tuple else (index,)
    if all(one_each(i) or is_basic(i) for i in index) and (out.shape or any(i is ... for i in index)):
        mark(out, x, getitem, (index,))
    return out


def _shows(x: Tensor, index: Index) -> bool:
    """Whether NumPy gives a view for ``x[index]``."""
    if type(index) is int:
        return x.ndim > 1
    if is_basic(index):
        return isinstance(outline(x)[index], ndarray)
    found = [bottom(i) for i in (index if type(index) is tuple else (index,))]
    if any(axes or is_foreign(i) for i, axes in found):
        return False
    whole = shadow(x)
    return lies_in(whole[tuple([i for i, _ in found])], whole)


def is_parameter(x: Tensor) -> bool:
    """Whether `x` is a leaf of the tape under `qad.no_grad`, or a view of one: it takes a step that is not recorded."""
    root = root_of(x)
    return root.level is TAPE and root.is_leaf and stopped(TAPE)


def renew(x: Tensor, value: Any) -> Any:
    """Make the leaf `x` of the tape another array, and let its views follow."""
    views = release(x)
    x.value = x.node[ANSWER] = value
    take_again(views)


def open_for_writing(x: Tensor) -> Tensor:
    """The Tensor into which goes what is written into `x`, marked for that; raises where there is none."""
    for recording in RECORDINGS:
        recording.wrote = True
    root = root_of(x)
    mark = root.buffer
    if type(mark) is Written:
        return root
    if mark is FIXED or (root.is_leaf and type(root.level) is Reverse and root.level.open):
        raise ArgumentError(
            "an argument of a transform, or a leaf, cannot be written into, nor can a view of one: write x = x + y "
            "instead of x += y, or y = x.copy() and then y[...] = value; a parameter takes a step under "
            "qad.no_grad(): x -= step * x.grad"
        )
    if root is x and is_number(x):
        raise ArgumentError("a number cannot be written into: make an array with x = qad.zeros(shape)")
    root.buffer, root.source = Written(mark or ()), None
    return root


def _touched(view: Tensor, root: Tensor, index: Index) -> bool:
    """Whether a write at `index` of `root` may change what `view` shows."""
    array, place = root.value, place_of(view, WHOLE)
    if place is None:
        return True
    if type(array) is not ndarray or not is_basic(place) or not is_basic(index):
        return True
    return np.may_share_memory(as_view(array, place), as_view(array, index))


def _check_shape(x: Tensor, index: Index, v: Value) -> None:
    """Raise unless `v` fits, before anything is changed; numbers always do."""
    shape = np.shape(v)
    if not shape or (covers(index) and shape == x.shape):
        return
    create = like(*(index if type(index) is tuple else (index,)))
    there = (outline(x) if create is np else create.zeros(x.shape))[index].shape
    if len(shape) > len(there) or any(n not in (1, m) for n, m in zip(shape[::-1], there[::-1], strict=False)):
        raise ShapeError(
            f"a value of shape {shape} does not fit at an index that names shape {there} of a buffer of shape {x.shape}"
            ": an axis of length 1 is stretched, and inserted with value[:, None]"
        )


def check_kind(x: Tensor, v: Value) -> None:
    """Raise unless the dtype of `v` fits into that of `x`."""
    dtype = value_of(v).dtype if hasattr(value_of(v), "dtype") else np.result_type(value_of(v))
    recorded = type(v) is Tensor and v.level is not CONSTANT
    if (dtype.kind == "c" and x.dtype.kind != "c") or (recorded and x.dtype.kind not in "fc"):
        raise GradientTypeError(
            f"a value of dtype {dtype} does not fit in a buffer of dtype {x.dtype}: make it with "
            f"qad.zeros(shape, dtype={'complex' if dtype.kind == 'c' else 'float'}), or write value.real"
        )
