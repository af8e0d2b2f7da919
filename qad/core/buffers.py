"""Tensors that are written into: which may be, and views of them, which follow what is written into the whole."""

from sys import getrefcount
from weakref import ref

import numpy as np

from qad.core.batch import outline, stack_of
from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.core.levels import CONSTANT, REVERSE
from qad.core.tensor import Tensor, value_of
from qad.core.views import composed, covers
from qad.core.writing import Buffer, Form, get, handle, put

WHOLE = ...


class View:
    """The mark of a Tensor that was read as ``root[index]``; without a root it may not be written into."""

    __slots__ = ("root", "index")

    def __init__(self, root, index):
        self.root = root
        self.index = index


def buffer(array) -> Tensor:
    """A constant Tensor that may be written into and owns `array`."""
    return handle(Tensor(array))


# -- what users do ---------------------------------------------------------------------------------


def write(x, index, v, add=False):
    """Write `v` at `index` of Tensor `x`, or add it there.

    Raises
    ------
    ArgumentError
        If `x` is an argument of a transform or a leaf, or may be a view of something else.
    GradientTypeError
        If `v` does not fit in the dtype of `x`.
    """
    mark = x.buffer or open_for_writing(x)
    _check_kind(x, v)
    v = Tensor(v.value, v.node, v.level) if v is x else v
    if type(mark) is Buffer:
        _check_shape(x, index, v)
        put(x, index, v, add)
        _refresh(x, index)
        return
    if mark.root is None:
        raise ArgumentError("this view of a view cannot be written into: write into the whole, buffer[index] = value")
    place = composed(mark.index, index, mark.root.shape)
    if place is None:
        put(x, index, v, add)
        place, v, add = mark.index, Tensor(x.value, x.node, x.level), False
    write(mark.root, place, v, add)


def adopt(x, result):
    """Make Tensor `x` the array `result`: what ``x += y`` does."""
    mark = x.buffer or open_for_writing(x)
    _check_kind(x, result)
    simple = type(mark) is Buffer and type(result) is Tensor and result.level >= x.level
    if not simple or result.shape != x.shape or result.dtype != x.dtype or type(value_of(result)) is not np.ndarray:
        write(x, WHOLE, result)
        return
    x.value, x.node, x.level = result.value, result.node, result.level
    _refresh(x, WHOLE)


def read(x, index):
    """``x[index]`` of a buffer: a copy, which follows later writes where NumPy's view would."""
    out = get(x, index)
    if out.shape and not _selects(index):
        mark = x.buffer
        if type(mark) is Buffer:
            out.buffer = View(x, index)
            mark.views.append(ref(out))
        else:
            place = composed(mark.index, index, mark.root.shape) if mark.root is not None else None
            out.buffer = View(mark.root if place is not None else None, place)
            if place is not None:
                mark.root.buffer.views.append(ref(out))
    return out


def open_for_writing(x):
    """Mark Tensor `x` as a buffer; raises where writing into it could change something else."""
    bare = stack_of(x)
    if x.is_leaf and x.level in REVERSE:
        raise ArgumentError(
            "an argument of a transform, or a leaf, cannot be written into: write x = x + y instead of x += y, or "
            "y = x.copy() and then y[...] = value; a parameter takes a step under qad.no_grad(): x -= step * x.grad"
        )
    if not x.shape and not isinstance(bare, np.ndarray):
        raise ArgumentError("a number cannot be written into: make an array with x = qad.zeros(shape)")
    if getattr(bare, "base", None) is not None and not (x.level == CONSTANT and _lone(bare)):
        raise ArgumentError(
            "this Tensor may be a view of another one, and writing into it would not reach that: write into the other "
            "one, y[index] = value, or take a copy first: x = x.copy()"
        )
    x.buffer = Buffer(Form(x.shape, x.dtype))
    return x.buffer


def _lone(view) -> bool:
    """Whether nobody but `view` holds the memory that it shows, so that writing into it changes nothing else."""
    distinct = view.flags.forc and view.flags.writeable  # else one entry may stand in several places
    return distinct and _owner(view.base) and getrefcount(view.base) <= LONE


def _owner(array) -> bool:
    return type(array) is np.ndarray and array.flags.owndata


_probe = np.empty(2)[:1]
LONE = getrefcount(_probe.base)  # of memory that one view shows, counted as `_lone` does it


def _refresh(x, index):
    """Bring the views of a buffer up to date, which somebody holds and a write at `index` may have changed."""
    views = x.buffer.views
    if not views:
        return
    array, alive = value_of(x), []
    for view in views:
        out = view()
        if out is None:
            continue
        alive.append(view)
        if _overlap(array, out.buffer.index, index):
            now = get(x, out.buffer.index)
            out.value, out.node, out.level = now.value, now.node, now.level
    x.buffer.views = alive


def _overlap(array, one, two) -> bool:
    """Whether ``array[one]``, a view, and ``array[two]`` may have entries in common."""
    if type(array) is not np.ndarray or _selects(two):
        return True
    two = two if type(two) is tuple else (two,)
    return np.may_share_memory(array[one], array[two if any(i is ... for i in two) else (*two, ...)])


def _selects(index):
    """Whether `index` has an array in it, so that NumPy would copy."""
    return any(isinstance(i, np.ndarray) for i in (index if type(index) is tuple else (index,)))


def _check_shape(x, index, v):
    """Raise unless `v` fits, before anything is changed; numbers always do."""
    shape = np.shape(v)
    if not shape or (covers(index) and shape == x.shape):
        return
    there = outline(x)[index].shape
    if len(shape) > len(there) or any(n not in (1, m) for n, m in zip(shape[::-1], there[::-1], strict=False)):
        raise ShapeError(
            f"a value of shape {shape} does not fit at an index that names shape {there} of a buffer of shape {x.shape}"
            ": an axis of length 1 is stretched, and inserted with value[:, None]"
        )


def _check_kind(x, v):
    dtype = value_of(v).dtype if hasattr(value_of(v), "dtype") else np.result_type(value_of(v))
    recorded = type(v) is Tensor and v.level != CONSTANT
    if (dtype.kind == "c" and x.dtype.kind != "c") or (recorded and x.dtype.kind not in "fc"):
        raise GradientTypeError(
            f"a value of dtype {dtype} does not fit in a buffer of dtype {x.dtype}: make it with "
            f"qad.zeros(shape, dtype={'complex' if dtype.kind == 'c' else 'float'}), or write value.real"
        )
