"""Functions that join arrays into one and cut one into several."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qad.core.errors import ArgumentError
from qad.extend import implements, operand, primitive, refuse_out, rule, shifted, spread_out, value_of
from qad.rules.shapes.index import along

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Cotangent, DTypeLike, Function, Rule, Value

# -- joining ---------------------------------------------------------------------------------------


@primitive(name="concatenate")
def joined(*arrays: Value, axis: int) -> Value:
    """Arrays joined along an existing axis."""
    return np.concatenate(arrays, axis)


def _pieces(needed: Sequence[int], g: Cotangent, y: Value, *arrays: Value, axis: int) -> list[Cotangent]:
    ends = list(accumulate(a.shape[axis] for a in arrays))
    return [g[along(axis, slice(ends[i] - arrays[i].shape[axis], ends[i]), g.ndim)] for i in needed]


@primitive(name="stack")
def stacked(*arrays: Value, axis: int) -> Value:
    """Arrays of equal shape joined along a new axis."""
    return np.stack(arrays, axis)


def _together(join: Function) -> Rule:
    """The forward rule: constant arguments have zero tangents."""

    def rule(tangents, y, *arrays, axis):
        pairs = zip(tangents, arrays, strict=True)
        return join(*[np.zeros_like(a) if t is None else t for t, a in pairs], axis=axis)

    return rule


def _joining(join: Function, more: int) -> Function:
    """The rule of a function that joins arrays, of which the result has `more` axes; each example lies by itself."""

    def rule(batched, *xs, axis):
        xs = [x if b else x.copy() for b, x in zip(batched, spread_out(batched, xs), strict=True)]
        return join(*xs, axis=shifted(axis, xs[0].ndim + more))

    return rule


rule(joined, shared=_pieces, forward_shared=_together(joined), batch=_joining(joined, 0))
rule(
    stacked,
    shared=lambda needed, g, y, *arrays, axis: [g[along(axis, i, g.ndim)] for i in needed],
    forward_shared=_together(stacked),
    batch=_joining(stacked, 1),
)


def plain_only(function: str, out: object, dtype: DTypeLike | None, casting: str) -> None:
    """Raise for the keywords that make no sense on the tape."""
    refuse_out(out, f"np.{function}")
    if dtype is not None or casting != "same_kind":
        raise ArgumentError(f"np.{function}(..., dtype=, casting=) of Tensors: write np.{function}(...).astype(dtype)")


@implements(np.concatenate)
def concatenate(
    arrays: Sequence[Value], axis: int | None = 0, out: object = None, *, dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Value:  # fmt: skip
    plain_only("concatenate", out, dtype, casting)
    arrays = [operand(a) for a in arrays]
    if axis is None:
        arrays, axis = [np.reshape(a, -1) for a in arrays], 0
    return joined(*arrays, axis=axis)


@implements(np.stack)
def stack(
    arrays: Sequence[Value], axis: int = 0, out: object = None, *, dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Value:  # fmt: skip
    plain_only("stack", out, dtype, casting)
    return stacked(*map(operand, arrays), axis=axis)


@implements(np.column_stack)
def column_stack(tup: Sequence[Value]) -> Value:
    arrays = [operand(a) for a in tup]
    return concatenate([a if np.ndim(a) > 1 else np.atleast_2d(a).T for a in arrays], 1)


@implements(np.append)
def append(arr: Value, values: Value, axis: int | None = None) -> Value:
    return concatenate([arr, values], axis)


@implements(np.block)
def block(arrays: Value) -> Value:
    """Innermost lists are joined along the last axis, the lists around them along the one before, and so on."""
    depth = _depth(arrays)
    ndim = max(depth, _most_axes(arrays))
    return _joined_block(arrays, depth, ndim)


def _depth(arrays: Value) -> int:
    return 1 + _depth(arrays[0]) if isinstance(arrays, list) else 0


def _most_axes(arrays: Value) -> int:
    return max(map(_most_axes, arrays)) if isinstance(arrays, list) else np.ndim(value_of(arrays))


def _joined_block(arrays: Value, depth: int, ndim: int) -> Value:
    if isinstance(arrays, list) != (depth > 0):
        raise ArgumentError("the lists given to np.block are not all nested to the same depth")
    if depth:
        return concatenate([_joined_block(a, depth - 1, ndim) for a in arrays], -depth)
    array = operand(arrays)
    shape = np.shape(value_of(array))
    return np.reshape(array, (1,) * (ndim - len(shape)) + shape)


# -- cutting ---------------------------------------------------------------------------------------


def _cutting(function: Function) -> Function:
    """A handler for a function that cuts `n` entries into runs: it is asked where, on ``arange(n)``."""

    def handler(ary, indices_or_sections, axis=0):
        runs = function(np.arange(ary.shape[normalize_axis_index(axis, ary.ndim)]), indices_or_sections)
        return [ary[along(axis, slice(run[0], run[-1] + 1) if run.size else slice(0, 0), ary.ndim)] for run in runs]

    return handler


split: Function = implements(np.split)(_cutting(np.split))
array_split: Function = implements(np.array_split)(_cutting(np.array_split))


for _function in (np.hstack, np.vstack, np.dstack, np.hsplit, np.vsplit, np.dsplit):
    implements(_function)(_function.__wrapped__)  # NumPy writes them in functions that have handlers


def unstack(x: Value, /, *, axis: int = 0) -> tuple[Value, ...]:
    axis = normalize_axis_index(axis, x.ndim)
    return tuple([x[along(axis, i, x.ndim)] for i in range(x.shape[axis])])


if hasattr(np, "unstack"):  # NumPy 2.1
    implements(np.unstack)(unstack)
