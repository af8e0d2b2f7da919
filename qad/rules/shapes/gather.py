"""``x[index]`` where the index differs from example to example under `qad.vmap`.

The arrays of the index are operands then, so that the tape sees their level; `pattern` is the index with a hole in
the place of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import BatchError
from qad.extend import Tensor, primitive, rule, spread_out
from qad.extend.batching import aligned
from qad.rules.protocol.structured_cotangents import scatter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qad.typing import Cotangent, DTypeLike, Index, Value

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


def is_mask(index: Index) -> bool:
    """Whether `index` is a Tensor of booleans, or has one in it."""
    return any(type(i) is Tensor and i.dtype == bool for i in (index if type(index) is tuple else (index,)))


def masked(x: Value, index: Index, v: Value, add: bool) -> Value:
    """`x` with the number `v` where a mask is true that differs from example to example, or with `v` added there."""
    mask = index[0] if type(index) is tuple and len(index) == 1 else index
    if type(mask) is tuple or np.ndim(v) or mask.shape != x.shape:
        raise BatchError(
            "under qad.vmap a mask selects another number of entries in each example: write qad.where(mask, value, x)"
        )
    return np.where(mask, x + v if add else v, x)


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
    fixed = [i for i in pattern if isinstance(i, np.ndarray)]
    batched, arrays = (*batched, *[False] * len(fixed)), (*arrays, *fixed)
    most = max(a.ndim - b for b, a in zip(batched, arrays, strict=True))
    return filled(pattern, aligned(batched, arrays)), most


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
    g = spread_out(batched, (g, *arrays))[0]
    size = len(g)
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
