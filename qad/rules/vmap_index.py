"""What reading and writing at an index, and diagonals, do to a batch of examples under `qad.vmap`."""

from __future__ import annotations

from operator import getitem
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import defbatch, shifted, spread_out
from qad.rules import diagonal
from qad.rules.structured_cotangents import scatter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import DTypeLike, Function, Index, Value

# -- entries at an index -----------------------------------------------------------------------------------------------


def behind(index: Index) -> int:
    """The number of axes that NumPy puts before those of slices in ``x[index]``: not 0 where arrays stand apart."""
    parts = index if type(index) is tuple else (index,)
    if not any(isinstance(i, np.ndarray) for i in parts):
        return 0
    kinds = [np.ndim(i) if isinstance(i, (np.ndarray, np.generic, int)) else None for i in parts]
    arrays = [n for n, kind in enumerate(kinds) if kind is not None]
    if arrays[-1] - arrays[0] < len(arrays):
        return 0
    return max(1 if parts[n].dtype == bool else kinds[n] for n in arrays if isinstance(parts[n], np.ndarray))


def within(index: Index) -> tuple[Index, ...]:
    """`index` behind the axis of the batch."""
    return (slice(None), *index) if type(index) is tuple else (slice(None), index)


def _getitem(batched: Sequence[bool], x: Value, index: Index) -> Value:
    if type(index) is np.ndarray is type(x) and index.ndim and index.dtype.kind in "iu":
        return np.take(x, index, 1)
    before = behind(index)
    return np.moveaxis(x[within(index)], before, 0) if before else x[within(index)]


def _scatter(
    batched: Sequence[bool], *parts: Value, indices: Sequence[Index], shape: tuple[int, ...], dtype: DTypeLike
) -> Value:
    stacks = spread_out(batched, parts)
    shape = (len(stacks[0]), *shape)
    stacks = [np.moveaxis(p, 0, n) if (n := behind(i)) else p for p, i in zip(stacks, indices, strict=True)]
    return scatter(*stacks, indices=tuple(map(within, indices)), shape=shape, dtype=dtype)


defbatch(getitem, _getitem)
defbatch(scatter, _scatter)

# -- diagonals and triangles -------------------------------------------------------------------------------------------


def _diagonal(batched: Sequence[bool], x: Value, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Value:
    return np.diagonal(x, offset, shifted(axis1, x.ndim), shifted(axis2, x.ndim))


def _on_diagonal(
    batched: Sequence[bool], d: Value, *, shape: tuple[int, ...], offset: int, axis1: int, axis2: int
) -> Value:
    n = len(shape) + 1
    place = {"axis1": shifted(axis1, n), "axis2": shifted(axis2, n)}
    return diagonal.on_diagonal(d, shape=(len(d), *shape), offset=offset, **place)


def _triangle(fn: Function) -> Function:
    """A vector becomes the rows of a matrix."""

    def rule(batched, x, k=0):
        return fn(np.broadcast_to(x[:, None], (len(x), x.shape[1], x.shape[1])) if x.ndim == 2 else x, k)

    return rule


defbatch(np.diagonal, _diagonal)
defbatch(diagonal.on_diagonal, _on_diagonal)
defbatch(np.tril, _triangle(np.tril))
defbatch(np.triu, _triangle(np.triu))
defbatch(diagonal.matrix_trace, lambda batched, x: diagonal.matrix_trace(x))
