"""Writing and reading entries of a Tensor, level by level; the primitive that remembers a write.

A write changes the handle: its array in place, and its node to one that knows the index, what was written and the
node before.  So all names of one Tensor see the change, and what was recorded before keeps the node of its own time.
An array is written in place only while nobody else holds it, which `references` tells; else it is copied first, with
its order of axes, and so is one that is a view itself, of which the count says nothing.  For that reason the tape
keeps no array of what is written into, but a `Form`, and reading ``x[index]`` copies.

In the backward pass one cotangent travels down the chain of writes.  Each takes its entries out, puts zeros there,
and hands on the same memory.
"""

from __future__ import annotations

from operator import getitem
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.define import PRIMITIVES, unbroadcast
from qad.core.errors import LeakedTensorError
from qad.core.foreign import is_foreign, like
from qad.core.mutation.aliases import Written, bottom, copied, shadow
from qad.core.mutation.indices import accumulate, covers, in_stack, repeats
from qad.core.mutation.references import shared
from qad.core.structured import settle, settled
from qad.core.tape.forward import Forward
from qad.core.tape.levels import stopped, unrecorded
from qad.core.tape.node import Primitive, next_id
from qad.core.tape.operands import PYTHON_NUMBERS
from qad.core.tape.record import record
from qad.core.tape.reverse import Reverse
from qad.core.tape.tensor import CONSTANT, Tensor, become, handle_of
from qad.core.vmap.batched import GIVEN, Batched, outline
from qad.core.vmap.layouts import is_vouched
from qad.core.vmap.rules import Batch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from qad.core.tape.levels import Level
    from qad.core.words import Cotangent, Index, Value


class Form:
    """Shape and dtype of a buffer: what the tape keeps of a state that has been overwritten."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape: tuple[int, ...] = shape
        self.dtype: Any = dtype

    def copy(self) -> NDArray[Any]:
        return np.empty(self.shape, self.dtype)


# -- the primitive, as others see it ---------------------------------------------------------------


def _written(before: Value, v: Value, *, index: Index, add: bool) -> Value:
    """A copy of `before` in which `v` stands at `index` (with `add`, is added there)."""
    out = before.copy()
    (accumulate if add else np.ndarray.__setitem__)(out, index, v)
    return out


def _unwrite(
    needed: Sequence[int],
    g: Cotangent,
    ans: Value,
    before: Value,
    v: Value,
    *,
    index: Index,
    add: bool,
    owned: bool = False,
) -> list[Cotangent]:
    """Cotangents of a write; `g` itself, its entries at `index` zeroed, goes on where it is `owned`."""
    if type(g) is Tensor:
        g = g if owned and type(g.buffer) is Written else handle(handle_of(g))
    elif not owned or type(g) is not np.ndarray:
        g = g.copy()
    parts = {}
    if 1 in needed:
        part = get(g, index) if type(g) is Tensor else entries(g, index)
        if not add and (last := repeats(index, g.shape)) is not None:
            part = part * like(part).asarray(last)  # of values written to one place the last one stays
        parts[1] = unbroadcast(part, np.shape(v))
    if 0 in needed:
        if not add and not g.shape:
            g = g if _names_nothing(index) else g * 0
        elif not add:
            g[index] = 0
        parts[0] = g
    return [parts[i] for i in needed]


def _names_nothing(index: Index) -> bool:
    """Whether `index` names no entry of an array without axes: a mask that is false does."""
    return index is not ... and not np.zeros(())[index].size


def _dispatched(before: Value, v: Value, **where: Any) -> Value:
    return record(WRITE, (before, v), where)


WRITE = Primitive(_dispatched, "write", shared=_unwrite, fresh=True, raw=_written)
WRITE.consumes = True


# -- writing and reading ---------------------------------------------------------------------------


def put(x: Tensor, index: Index, v: Value, add: bool) -> None:
    """Write `v` at `index` of Tensor `x`, or add it there, on whichever level the two are."""
    settle(x)
    v = settled(v)
    if type(v) is Tensor and (v.level is CONSTANT or stopped(v.level)):
        v = unrecorded(v)
    gone = not add and covers(index) and is_vouched(x)  # what was there; its layout stays
    if gone:
        become(x, Tensor(like(x).asarray(np.empty_like(shadow(x)))))
    level = v.level if type(v) is Tensor else CONSTANT
    if level.number > x.level.number:
        _raise(x, level, v)
    level = x.level
    if not level.open:
        raise finished()
    if level is CONSTANT:
        _store(x, "value", index, v, add)
    elif type(level) is Reverse:
        below, parent = (v.value, v.node) if type(v) is Tensor and v.level is level else (v, None)
        form = Form(x.shape, x.dtype)
        args, before = (form if gone or x.node is not None else x.value, below), x.node
        _store(x, "value", index, below, add)
        x.node = [next_id(), WRITE, args, {"index": index, "add": add}, form, (before, parent)]
    elif type(level) is Forward:
        below, tangent = (v.value, v.tangent) if type(v) is Tensor and v.level is level else (v, 0)
        if x.tangent.dtype != x.dtype:  # that of a complex array may be real
            x.tangent = x.tangent.astype(x.dtype)
        _store(x, "tangent", index, tangent, add)
        _store(x, "value", index, below, add)
    else:
        _write_batch(x, index, v, add)


def _write_batch(x: Tensor, index: Index, v: Value, add: bool) -> None:
    """Write into every example of `x`."""
    if type(v) is Tensor and v.level is x.level:
        v = v.value.array
        gap = outline(x)[index].ndim + 1 - v.ndim
        v = v if gap <= 0 else v.reshape(v.shape[:1] + (1,) * gap + v.shape[1:])
    if shared(x, "value") or x.value.frame is not None:
        x.value = Batched(x.value.array, x.level, x.value.layout)
    _store(x.value, "array", in_stack(index), v, add)


def _raise(x: Tensor, level: Level, v: Value) -> None:
    """Lift `x` to a higher level, which has not seen it before."""
    if x.level is not CONSTANT:
        if not x.level.open:
            raise finished()
        x.value = handle(handle_of(x))
    if type(level) is Batch:
        x.value = Batched(_stack(x, v.value.array.shape[0]), level, GIVEN)
    x.node, x.level, x.tangent = None, level, like(x).zeros(x.shape, x.dtype) if type(level) is Forward else None


def _stack(x: Tensor, size: int) -> Value:
    """The value of `x` so many times, each with the layout that it has."""
    order = _slowest_first(shadow(x))
    if order == sorted(order):
        return np.broadcast_to(x.value, (size, *x.shape)).copy()
    value = x.value.transpose(order)
    return np.broadcast_to(value, (size, *value.shape)).copy().transpose((0, *(1 + np.argsort(order)).tolist()))


def _slowest_first(array: NDArray[Any]) -> list[int]:
    """The axes of an array, the one with the widest steps in memory first."""
    return sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))


def _store(x: Any, slot: str, index: Index, v: Value, add: bool) -> None:
    """Write into the array, or the Tensor of a lower level, that stands in a slot of `x`; copy it if others hold it."""
    held = shared(x, slot)
    target = getattr(x, slot)
    if type(target) is Tensor or type(v) is Tensor:
        if type(target) is not Tensor:
            target = Tensor(target)
        elif held:
            target = handle_of(target)
        setattr(x, slot, None)  # only the handle holds the array
        try:
            put(handle(target), index, v, add)
        finally:
            setattr(x, slot, target)
    else:
        foreign = type(v if type(target) is np.ndarray else target)
        if issubclass(foreign, (np.ndarray, np.generic, *PYTHON_NUMBERS)):
            own = not held and target.base is None and target.flags.writeable
            target = target if own else np.array(target)  # of a number an array without axes
        else:  # of another kind, whose views do not count as references
            target = _copied(target) if type(target) is foreign else moved(target, v)
        if add:
            accumulate(target, index, v)
        else:
            target[index] = v
        setattr(x, slot, target)


def _copied(value: Value) -> Value:
    """A copy of an array of another kind; of a number an array without axes."""
    return np.copy(value) if isinstance(bottom(value)[0], np.generic) else value.copy(order="K")


def moved(array: Any, kin: Any) -> Any:
    """`array` as a new one of the kind of `kin`, on its device or in its program."""
    if is_foreign(kin):
        return like(kin).array(array)
    order = _slowest_first(array)
    out = np.zeros([array.shape[axis] for axis in order], array.dtype, like=kin)
    out = out if order == sorted(order) else out.transpose(np.argsort(order).tolist())
    out[...] = array
    return out


def handle(x: Tensor) -> Any:
    """Tensor `x`, marked as one that is written into."""
    if type(x.buffer) is not Written:
        x.buffer = Written()
    return x


def spread_out(part: Value, strides: Sequence[int]) -> Value:
    """A copy, spread out along the axes where `strides` are 0, so that what is made of it lies as NumPy's."""
    spread = [k for k, step in enumerate(strides) if step == 0]
    own = in_order(part[tuple([slice(None) if step else 0 for step in strides])])
    whole = np.broadcast_to(own, (*[part.shape[k] for k in spread], *own.shape))
    order = [*spread, *[k for k, step in enumerate(strides) if step]]
    return whole.transpose(sorted(range(len(order)), key=order.__getitem__))


def in_order(part: Value) -> Value:
    """A copy whose axes, those of length one too, have the order in memory that NumPy gives them."""
    own = copied(part)
    order = _slowest_first(bottom(part)[0])
    if 1 not in part.shape or order == _slowest_first(bottom(own)[0]):
        return own
    view = part.transpose(order)  # in C order axes of length one would tie with others: they are cut from longer ones
    longer = np.broadcast_to(view, [max(n, 2) if n else 0 for n in view.shape]).copy()
    return longer[tuple([slice(0, n) for n in view.shape])].transpose(np.argsort(order).tolist())


def as_it_lies(part: Value) -> Value:
    """A copy of a part of an array, which lies as NumPy's does."""
    strides = bottom(part)[0].strides
    if type(part) is Batched:
        return copied(part)
    return spread_out(part, strides) if 0 in strides and part.size else in_order(part)


def entries(x: Value, index: Index, copy: Callable[[Value], Value] = copied) -> Value:
    """``x[index]`` of an array, in memory of its own."""
    part = x[index]
    array = part if type(part) is np.ndarray else bottom(part)[0]
    if is_foreign(array):
        return part.copy()
    return part if not isinstance(array, np.ndarray) or array.base is None else copy(part)


def get(x: Value, index: Index) -> Value:
    """``x[index]`` of an array or Tensor, in memory of its own, which lies as NumPy's does."""
    if type(x) is not Tensor:
        return entries(x, index, as_it_lies)
    level = x.level
    if not level.open and not stopped(level):
        raise finished()
    if type(level) is Batch:
        return Tensor(Batched(get(x.value.array, in_stack(index)), level), None, level)
    value = get(x.value, index)
    if level is CONSTANT:
        return Tensor(value)
    if stopped(level):
        return Tensor(unrecorded(value))
    if type(level) is Reverse:
        args = Form(x.shape, x.dtype), index
        return Tensor(value, [next_id(), PRIMITIVES[getitem], args, None, value, (x.node,)], level)
    return Tensor(value, None, level, get(x.tangent, index))


def finished() -> LeakedTensorError:
    return LeakedTensorError(
        "a buffer was written inside of a transform that has finished: make it inside of the function, with qad.zeros, "
        "or overwrite all of it first, with buffer[...] = value"
    )
