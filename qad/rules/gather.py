"""``x[index]`` where the index differs from example to example under `qad.vmap`.

The arrays of the index are operands then, so that the tape sees their level; `pattern` is the index with a hole in
the place of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import BatchError
from qad.extend import Tensor, as_array, like, primitive, rule, unbroadcast
from qad.extend.batching import outline
from qad.extend.memory import ELSEWHERE, accumulate
from qad.rules.structured_cotangents import scatter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qad.typing import Cotangent, DTypeLike, Index, Tangent, Value

HOLE = object()


def item_at(x: Value, index: Index) -> Value:
    """``x[index]`` for an index that holds Tensors; a Tensor of booleans has no shape that all examples share."""
    index = index if type(index) is tuple else (index,)
    arrays = [i for i in index if type(i) is Tensor]
    if any(i.dtype == bool for i in arrays):
        raise BatchError(
            "under qad.vmap a mask selects another number of entries in each example: write qad.where(mask, x, 0)"
        )
    return gather(x, *arrays, pattern=tuple([HOLE if type(i) is Tensor else i for i in index]))


def filled(pattern: tuple[Index, ...], arrays: Iterable[Value]) -> tuple[Index, ...]:
    """The index: `pattern` with `arrays` in its holes."""
    arrays = iter(arrays)
    return tuple([next(arrays) if i is HOLE else i for i in pattern])


@primitive
def gather(x: Value, *arrays: Value, pattern: tuple[Index, ...]) -> Value:
    """``x[index]``."""
    return x[filled(pattern, arrays)]


@primitive
def gathered_back(
    g: Value, *arrays: Value, pattern: tuple[Index, ...], shape: tuple[int, ...], dtype: DTypeLike
) -> Value:
    """The transpose of `gather`: zeros of this shape, with `g` added at the index."""
    return scatter(g, indices=(filled(pattern, arrays),), shape=shape, dtype=dtype)


def _back(g: Cotangent, y: Value, x: Value, *arrays: Value, pattern: tuple[Index, ...]) -> Cotangent:
    return gathered_back(g, *arrays, pattern=pattern, shape=x.shape, dtype=x.dtype)


# -- writing -----------------------------------------------------------------------------------------------------------


def put_item(x: Value, index: Index, v: Value, add: bool) -> Value:
    """What ``x[index] = v`` makes of `x`, or ``x[index] += v`` with `add`, for an index that holds Tensors."""
    index = index if type(index) is tuple else (index,)
    arrays = [i for i in index if type(i) is Tensor]
    if all(i.dtype != bool for i in arrays):
        return placed_at(x, v, *arrays, pattern=tuple([HOLE if type(i) is Tensor else i for i in index]), add=add)
    (mask,) = index if len(index) == 1 else (None,)
    if mask is None or np.ndim(v) or mask.shape != x.shape:
        raise BatchError(
            "under qad.vmap a mask selects another number of entries in each example: write qad.where(mask, value, x)"
        )
    return np.where(mask, x + v if add else v, x)


@primitive
def placed_at(x: Value, v: Value, *arrays: Value, pattern: tuple[Index, ...], add: bool) -> Value:
    """A copy of `x` in which `v` stands at the index, or is added there."""
    out = x.copy(order="K")
    if add:
        accumulate(out, filled(pattern, arrays), v)
    else:
        out[filled(pattern, arrays)] = v
    return out


def _placed_back(
    needed: Sequence[int], g: Cotangent, y: Value, x: Value, v: Value, *arrays: Value, pattern: tuple[Index, ...],
    add: bool,
) -> list[Cotangent]:  # fmt: skip
    parts = {}
    if 0 in needed:
        parts[0] = g if add else placed_at(g, 0, *arrays, pattern=pattern, add=False)
    if 1 in needed:
        part = gather(g, *arrays, pattern=pattern)
        if not add and _may_meet(filled(pattern, arrays)):  # of values written to one index the last one stays
            numbers = like(g).arange(part.size).reshape(part.shape)
            order = placed_at(like(g).full(g.shape, -1), numbers, *arrays, pattern=pattern, add=False)
            part = np.where(np.equal(gather(order, *arrays, pattern=pattern), numbers), part, 0)
        parts[1] = unbroadcast(part, np.shape(v))
    return [parts[i] for i in needed]


def _may_meet(index: Index) -> bool:
    return any(np.size(i) > 1 and i.dtype != bool for i in index if type(i) is Tensor or isinstance(i, np.ndarray))


def _placed_forward(
    tangents: Sequence[Tangent | None], y: Value, x: Value, v: Value, *arrays: Value, pattern: tuple[Index, ...],
    add: bool,
) -> Tangent:  # fmt: skip
    t = like(y).zeros(y.shape, y.dtype) if tangents[0] is None else np.astype(tangents[0], y.dtype)
    return placed_at(t, 0 if tangents[1] is None else tangents[1], *arrays, pattern=pattern, add=add)


ELSEWHERE["put_item"] = put_item

# -- a batch of indices ------------------------------------------------------------------------------------------------


def _place(pattern: tuple[Index, ...], ndim: int) -> int:
    """The axis of ``x[index]`` at which those of the index arrays stand."""
    arrays = [n for n, i in enumerate(pattern) if i is HOLE or isinstance(i, (int, np.integer, np.ndarray))]
    if arrays[-1] - arrays[0] >= len(arrays):
        return 0
    used = sum(i is not None and i is not ... for i in pattern)
    return sum(ndim - used if i is ... else 1 for i in pattern[: arrays[0]])


def _rows(batched: Sequence[bool], arrays: Sequence[Value], pattern: tuple[Index, ...]) -> tuple[Index, int]:
    """The index of a whole stack, and how many axes its arrays make in one example."""
    arrays = [a if b or type(a) is Tensor else as_array(a) for b, a in zip(batched, arrays, strict=True)]
    fixed = [np.ndim(i) for i in pattern if isinstance(i, np.ndarray)]
    most = max([*fixed, *(a.ndim - b for b, a in zip(batched, arrays, strict=True))])
    size = next((len(a) for b, a in zip(batched, arrays, strict=True) if b), None)
    arrays = [
        a.reshape((size,) + (1,) * (most + 1 - a.ndim) + a.shape[1:]) if b else a
        for b, a in zip(batched, arrays, strict=True)
    ]
    return filled(pattern, arrays), most


def _numbers(size: int, most: int) -> Value:
    return np.arange(size).reshape((size,) + (1,) * most)


def _gather(batched: Sequence[bool], x: Value, *arrays: Value, pattern: tuple[Index, ...]) -> Value:
    index, most = _rows(batched[1:], arrays, pattern)
    if isinstance(x, np.ndarray) and any(type(i) is Tensor for i in index):  # which it does not take for an index
        x = Tensor(x)
    if not batched[0]:
        return np.moveaxis(x[index], _place(pattern, x.ndim), 0)
    place = _place(pattern, x.ndim - 1)
    y = x[(_numbers(len(x), most), *index)]
    return np.moveaxis(y, range(1, 1 + most), range(1 + place, 1 + place + most))


def _gathered_back(
    batched: Sequence[bool], g: Value, *arrays: Value, pattern: tuple[Index, ...], shape: tuple[int, ...],
    dtype: DTypeLike,
) -> Value:  # fmt: skip
    index, most = _rows(batched[1:], arrays, pattern)
    size = next(len(a) for b, a in zip(batched, (g, *arrays), strict=True) if b)
    g = g if batched[0] else np.broadcast_to(g, (size, *g.shape))
    place = _place(pattern, len(shape))
    g = np.moveaxis(g, range(1 + place, 1 + place + most), range(1, 1 + most))
    return _added(g, (_numbers(size, most), *index), (size, *shape), dtype)


def _added(g: Value, index: Index, shape: tuple[int, ...], dtype: DTypeLike) -> Value:
    """Zeros with `g` added at an index; where another `qad.vmap` is around, the index holds Tensors still."""
    arrays = [i for i in index if type(i) is Tensor]
    if not arrays:
        return scatter(g, indices=(index,), shape=shape, dtype=dtype)
    pattern = tuple([HOLE if type(i) is Tensor else i for i in index])
    return gathered_back(g, *arrays, pattern=pattern, shape=shape, dtype=dtype)


rule(gather, _back, linear=True, batch=_gather, fresh=True)
rule(
    gathered_back,
    lambda g, y, x, *arrays, pattern, shape, dtype: gather(g, *arrays, pattern=pattern),
    linear=True,
    batch=_gathered_back,
)


def _placed_at(
    batched: Sequence[bool], x: Value, v: Value, *arrays: Value, pattern: tuple[Index, ...], add: bool
) -> Value:
    """In every example; an index of all examples has their numbers in front, and the axes of its arrays after that."""
    index, most = _rows(batched[2:], arrays, pattern)
    size = next(len(a) for b, a in zip(batched, (x, v, *arrays), strict=True) if b)
    x = x if batched[0] else np.broadcast_to(x, (size, *x.shape))
    shapes = [np.zeros(np.shape(a)[b:], int) for b, a in zip(batched[2:], arrays, strict=True)]
    there = outline(x)[0][filled(pattern, shapes)].shape
    if batched[1]:
        v = v.reshape((size,) + (1,) * (len(there) + 1 - v.ndim) + v.shape[1:])
    place = _place(pattern, x.ndim - 1)
    v = np.moveaxis(np.broadcast_to(v, (size, *there)), range(1 + place, 1 + place + most), range(1, 1 + most))
    index = (_numbers(size, most), *index)
    pattern = tuple([HOLE if type(i) is Tensor else i for i in index])
    return placed_at(x, v, *(i for i in index if type(i) is Tensor), pattern=pattern, add=add)


rule(placed_at, shared=_placed_back, forward_shared=_placed_forward, batch=_placed_at)
