"""Writing into a Tensor: ``x[index] = v`` is recorded, in time and memory that the written part needs.

A write changes the handle: its array in place, and its node to one that knows the index, what was written and the
node before.  So all names of one Tensor see the change, and what was recorded before keeps the node of its own time.
An array is written in place only while nobody else holds it, which CPython's count of references tells; else it is
copied first.  For that reason the tape keeps no array of a buffer, but a `Form`, and reading ``x[index]`` copies.

In the backward pass one cotangent travels down the chain of writes.  Each takes its entries out, puts zeros there,
and hands on the same memory.
"""

from operator import getitem
from sys import getrefcount
from weakref import ref

import numpy as np

from qad.core.errors import ArgumentError, BatchError, GradientTypeError, LeakedTensorError
from qad.core.levels import BATCH, CONSTANT, FORWARD, REVERSE, limit
from qad.core.node import Primitive, next_id
from qad.core.record import record
from qad.core.registry import PRIMITIVES, unbroadcast
from qad.core.tensor import Tensor, value_of
from qad.core.views import composed, covers, repeats

WHOLE = ...


class Form:
    """Shape and dtype of a buffer: what the tape keeps of a state that has been overwritten."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape, dtype):
        self.shape = shape
        self.dtype = dtype

    def copy(self):
        return np.empty(self.shape, self.dtype)


class Buffer:
    """The mark of a Tensor that has been written into: the views of it that somebody may hold."""

    __slots__ = ("form", "views")

    def __init__(self, form):
        self.form = form
        self.views = []


class View:
    """The mark of a Tensor that was read as ``root[index]``; without a root it may not be written into."""

    __slots__ = ("root", "index")

    def __init__(self, root, index):
        self.root = root
        self.index = index


# -- the primitive, as others see it ---------------------------------------------------------------


def _written(before, v, *, index, add):
    """A copy of `before` in which `v` stands at `index` (with `add`, is added there)."""
    out = before.copy()
    (np.add.at if add else np.ndarray.__setitem__)(out, index, v)
    return out


def _unwrite(needed, g, ans, before, v, *, index, add, owned=False):
    """Cotangents of a write; `g` itself, its entries at `index` zeroed, goes on where it is `owned`."""
    if type(g) is Tensor:
        g = g if owned else Tensor(g.value, g.node, g.level)
        g.buffer = g.buffer or Buffer(Form(g.shape, g.dtype))
    elif not owned or not g.flags.writeable:
        g = g.copy()
    parts = {}
    if 1 in needed:
        part = _read(g, index)
        if not add and (last := repeats(index, g.shape)) is not None:
            part = part * last  # of values written to one place the last one stays
        parts[1] = unbroadcast(part, np.shape(v))
    if 0 in needed:
        if not add:
            g[index] = 0
        parts[0] = g
    return [parts[i] for i in needed]


def _dispatched(before, v, **where):
    return record(WRITE, (before, v), where)


WRITE = Primitive(_dispatched, "write", shared=_unwrite, fresh=True, raw=_written)
WRITE.consumes = True


def buffer(array) -> Tensor:
    """A constant Tensor that may be written into and owns `array`."""
    return _handle(Tensor(array))


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
    if (type(v) is Tensor and v.level in BATCH) or x.level in BATCH:
        raise BatchError(
            "under qad.vmap an array cannot be written into: write qad.where(mask, new, x), or collect the parts and "
            "call qad.stack or qad.concatenate"
        )
    mark = x.buffer or open_for_writing(x)
    _check_kind(x, v)
    if type(mark) is Buffer:
        _write(x, index, v, add)
        _refresh(x, index)
        return
    if mark.root is None:
        raise ArgumentError("this view of a view cannot be written into: write into the whole, buffer[index] = value")
    place = composed(mark.index, index, mark.root.shape)
    if place is None:
        _write(x, index, v, add)
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
    out = _read(x, index)
    if isinstance(value_of(out), np.ndarray) and not _selects(index):
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
    bare = value_of(x)
    if x.is_leaf and x.level != CONSTANT:
        raise ArgumentError(
            "an argument of a transform, or a leaf, cannot be written into: write x = x + y instead of x += y, or "
            "y = x.copy() and then y[...] = value; a parameter takes a step under qad.no_grad(): x -= step * x.grad"
        )
    if not isinstance(bare, np.ndarray):
        raise ArgumentError("a number cannot be written into: make an array with x = qad.zeros(shape)")
    if bare.base is not None:
        raise ArgumentError(
            "this Tensor may be a view of another one, and writing into it would not reach that: write into the other "
            "one, y[index] = value, or take a copy first: x = x.copy()"
        )
    x.buffer = Buffer(Form(bare.shape, bare.dtype))
    return x.buffer


# -- writing and reading, level by level -----------------------------------------------------------


def _write(x, index, v, add):
    if type(v) is Tensor and (v.level == CONSTANT or not limit() < v.level):
        v = value_of(v)
    if not add and covers(index):
        x.value, x.node, x.level = np.empty(x.shape, x.dtype), None, CONSTANT  # what was there is gone
    level = v.level if type(v) is Tensor else CONSTANT
    if level > x.level:
        _raise(x, level)
    level = x.level
    if level == CONSTANT:
        _store(x, "value", index, v, add)
    elif level in REVERSE:
        below, parent = (v.value, v.node) if type(v) is Tensor and v.level == level else (v, None)
        form = Form(x.shape, x.dtype)
        args, before = (x.value if x.node is None else form, below), x.node
        _store(x, "value", index, below, add)
        x.node = [next_id(), WRITE, args, {"index": index, "add": add}, form, (before, parent)]
    elif level in FORWARD:
        below, tangent = (v.value, v.node) if type(v) is Tensor and v.level == level else (v, 0)
        _store(x, "node", index, tangent, add)
        _store(x, "value", index, below, add)
    else:
        raise finished()


def _raise(x, level):
    """Lift `x` to a higher level, which has not seen it before."""
    if x.level != CONSTANT:
        if x.level not in REVERSE and x.level not in FORWARD:
            raise finished()
        x.value = _handle(Tensor(x.value, x.node, x.level))
    x.node, x.level = np.zeros(x.shape, x.dtype) if level in FORWARD else None, level


def _store(x, slot, index, v, add):
    """Write into the array, or the Tensor of a lower level, that stands in a slot of `x`; copy it if others hold it."""
    shared = getrefcount(getattr(x, slot)) > ALONE
    target = getattr(x, slot)
    if type(target) is Tensor or type(v) is Tensor:
        if type(target) is not Tensor:
            target = Tensor(target)
        elif shared:
            target = Tensor(target.value, target.node, target.level)
        setattr(x, slot, None)  # the handle alone holds the array
        _write(_handle(target), index, v, add)
    else:
        if shared or not target.flags.writeable:
            target = target.copy()
        if add:
            np.add.at(target, index, v)
        else:
            target[index] = v
    setattr(x, slot, target)


def _handle(x):
    x.buffer = x.buffer or Buffer(Form(x.shape, x.dtype))
    return x


def _read(x, index):
    if type(x) is not Tensor:
        part = x[index]
        return part.copy() if type(part) is np.ndarray and part.base is not None else part
    value, level = _read(x.value, index), x.level
    if level == CONSTANT:
        return Tensor(value)
    if not limit() < level:
        return Tensor(value_of(value))
    if level in REVERSE:
        args = Form(x.shape, x.dtype), index
        return Tensor(value, [next_id(), PRIMITIVES[getitem], args, None, value, (x.node,)], level)
    if level in FORWARD:
        return Tensor(value, _read(x.node, index), level)
    raise finished()


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
        if _selects(index) or np.may_share_memory(array[out.buffer.index], _region(array, index)):
            now = _read(x, out.buffer.index)
            out.value, out.node, out.level = now.value, now.node, now.level
    x.buffer.views = alive


def _region(array, index):
    """``array[index]`` as a view, also where it is a single entry."""
    index = index if type(index) is tuple else (index,)
    return array[index if any(i is ... for i in index) else (*index, ...)]


def _selects(index):
    """Whether `index` has an array in it, so that NumPy would copy."""
    return any(isinstance(i, np.ndarray) for i in (index if type(index) is tuple else (index,)))


def _check_kind(x, v):
    dtype = value_of(v).dtype if hasattr(value_of(v), "dtype") else np.result_type(value_of(v))
    recorded = type(v) is Tensor and v.level != CONSTANT
    if (dtype.kind == "c" and x.dtype.kind != "c") or (recorded and x.dtype.kind not in "fc"):
        raise GradientTypeError(
            f"a value of dtype {dtype} does not fit in a buffer of dtype {x.dtype}: make it with "
            f"qad.zeros(shape, dtype={'complex' if dtype.kind == 'c' else 'float'}), or write value.real"
        )


def finished():
    return LeakedTensorError(
        "a buffer was written inside of a transform that has finished: make it inside of the function, with qad.zeros, "
        "or overwrite all of it first, with buffer[...] = value"
    )


_probe = Tensor(Form((), None))
ALONE = getrefcount(_probe.value)  # of an array that stands in one slot and nowhere else, counted as `_store` does it
