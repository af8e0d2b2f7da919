"""`np.pad` in all its modes: axis after axis, as NumPy does it, by functions that have rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, implements, like, operand, value_of
from qad.rules.shapes.index import along
from qad.rules.shapes.repeat import pad_with

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.typing import Function, Value

COPYING = ("edge", "reflect", "symmetric", "wrap")
STATISTICS: dict[str, Function] = {"maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median}
KEYWORDS = {"constant": "constant_values", "linear_ramp": "end_values", **dict.fromkeys(STATISTICS, "stat_length")}


@implements(np.pad)
def pad(array: Value, pad_width: Value, mode: str | Function = "constant", **kwargs: Any) -> Value:
    """``np.pad``; what mode "empty" leaves to chance is 0."""
    if callable(mode):
        raise ArgumentError("np.pad of a Tensor with a function as its mode: write np.concatenate of the parts")
    x, widths = operand(array), _pairs(value_of(pad_width), array.ndim, "pad_width")
    known = {KEYWORDS.get(mode)} | ({"reflect_type"} if mode in ("reflect", "symmetric") else set())
    if mode not in (*KEYWORDS, *COPYING, "empty") or set(kwargs) - known:
        raise ArgumentError(f"np.pad knows no mode {mode!r} with {', '.join(kwargs) or 'no keywords'}")
    if mode in COPYING:
        if kwargs.get("reflect_type", "even") == "even":
            return x.reshape(-1)[np.pad(np.arange(x.size).reshape(x.shape), widths, mode)]
        return _each(x, widths, lambda x, axis, width: _odd(x, axis, width, mode))
    given = kwargs.get(KEYWORDS.get(mode))
    if mode in ("constant", "empty") and type(given) is not Tensor:
        return pad_with(x, widths=widths, value=0 if given is None else given)
    if mode in STATISTICS:
        return _each(x, widths, lambda x, axis, width: _statistics(x, axis, width, STATISTICS[mode], given))
    values = _pairs(operand(0 if given is None else given), x.ndim, KEYWORDS[mode])
    ends = _constants if mode == "constant" else _ramps
    return _each(x, widths, lambda x, axis, width: ends(x, axis, width, values[axis]))


def _pairs(given: Value, ndim: int, name: str) -> Value:
    """What is given for each side of each axis: one pair (before, after) per axis."""
    if isinstance(given, dict):
        table = {axis % ndim: width for axis, width in given.items()}
        given = [np.broadcast_to(table.get(axis, 0), 2) for axis in range(ndim)]
    if type(given) is Tensor:
        return np.broadcast_to(given, (ndim, 2))
    pairs = np.asarray(given)
    if name == "pad_width" and (pairs.dtype.kind not in "iu" or np.any(pairs < 0)):
        raise ArgumentError("np.pad takes widths that are integers of 0 or more")
    return tuple(map(tuple, np.broadcast_to(pairs, (ndim, 2)).tolist()))


def _each(x: Value, widths: Sequence[tuple[int, int]], borders: Function) -> Value:
    """`x` with what `borders` returns for each axis before and after it."""
    for axis, width in enumerate(widths):
        if any(width):
            before, after = borders(x, axis, width)
            x = np.concatenate([before, x, after], axis)
    return x


def _column(numbers: Value, x: Value, axis: int) -> Value:
    """Numbers along one axis of an array like `x`."""
    column = np.asarray(numbers).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    return like(x).asarray(column.astype(x.real.dtype))


def _spread(x: Value, axis: int, n: int) -> Value:
    """`x`, of size 1 along an axis, `n` times."""
    return np.broadcast_to(x, (*x.shape[:axis], n, *x.shape[axis + 1 :]))


def _edges(x: Value, axis: int) -> tuple[Value, Value]:
    n = x.shape[axis]
    if not n:
        raise ArgumentError(f"np.pad cannot extend axis {axis}, which is empty, but with mode='constant'")
    return x[along(axis, slice(0, 1), x.ndim)], x[along(axis, slice(n - 1, n), x.ndim)]


def _constants(x: Value, axis: int, width: tuple[int, int], values: Value) -> list[Value]:
    shapes = [(*x.shape[:axis], n, *x.shape[axis + 1 :]) for n in width]
    return [np.broadcast_to(np.astype(v, x.dtype), shape) for v, shape in zip(values, shapes, strict=True)]


def _ramps(x: Value, axis: int, width: tuple[int, int], values: Value) -> list[Value]:
    """Linear from the end value to the edge."""
    ramps = []
    for edge, end, n in zip(_edges(x, axis), values, width, strict=True):
        weights = _column(np.arange(n) / max(n, 1), x, axis)
        ramps.append(end + (edge - end) * weights)
    return [ramps[0], np.flip(ramps[1], axis)]


def _statistics(x: Value, axis: int, width: tuple[int, int], function: Function, lengths: Value) -> list[Value]:
    lengths = _pairs(lengths, x.ndim, "stat_length")[axis] if lengths is not None else (None, None)
    size, borders = x.shape[axis], []
    _edges(x, axis)
    for i, (n, length) in enumerate(zip(width, lengths, strict=True)):
        length = size if length is None else min(length, size)
        part = x[along(axis, slice(0, length) if i == 0 else slice(size - length, size), x.ndim)]
        borders.append(_spread(function(part, axis=axis, keepdims=True), axis, n))
    return borders


def _odd(x: Value, axis: int, width: tuple[int, int], mode: Any) -> list[Value]:
    """Reflected about the edges: what NumPy makes of the entries along an axis is a matrix times them."""
    _edges(x, axis)
    n = x.shape[axis]
    matrix = np.pad(np.eye(n), [width, (0, 0)], mode, reflect_type="odd").astype(x.real.dtype)
    sides = matrix[: width[0]], matrix[width[0] + n :]
    return [np.moveaxis(np.tensordot(like(x).asarray(side), x, (1, axis)), 0, axis) for side in sides]
