"""Convolutions, differences on grids, and interpolation: all of one variable, all made of other functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import implements, like, operand, primitive, rule, unrecorded
from qad.rules.shapes.index import take

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Axes, Cotangent, Value

# -- convolutions --------------------------------------------------------------------------------------------


@primitive(name="convolve")
def convolved(a: Value, v: Value) -> Value:
    """``y_k = sum_i a_i v_{k-i}``, wherever there is a term."""
    return np.convolve(a, v)


def _back(g: Cotangent, other: Value) -> Cotangent:
    """``sum_k g_k other_{k-i}``: the middle of the convolution with `other` turned round."""
    n = len(other) - 1
    return np.convolve(g, np.flip(other))[n : len(g)]


def _convolved_each(batched: Sequence[bool], a: Value, v: Value) -> Value:
    """The product of the shorter one and a matrix, whose rows are the longer one, each shifted one column further."""
    if a.shape[-1] > v.shape[-1]:
        batched, a, v = batched[::-1], v, a
    n, m = a.shape[-1], v.shape[-1]
    before = v.shape[:-1]
    rows = np.pad(np.broadcast_to(v[..., None, :], (*before, n, m)), [(0, 0)] * len(before) + [(0, 0), (0, n)])
    moved = rows.reshape((*before, n * (m + n)))[..., : n * (m + n - 1)].reshape((*before, n, m + n - 1))
    return np.matmul(a[:, None, :], moved)[:, 0] if all(batched) else np.matmul(a, moved)


rule(convolved, lambda g, y, a, v: _back(g, v), lambda g, y, a, v: _back(g, a), linear=True, batch=_convolved_each)


@implements(np.convolve)
def convolve(a: Value, v: Value, mode: str = "full") -> Value:
    """``np.convolve``; the other modes are cut out of the full one."""
    a, v = np.atleast_1d(operand(a)), np.atleast_1d(operand(v))
    if a.ndim != 1 or v.ndim != 1 or not (a.size and v.size):
        raise ShapeError(f"np.convolve takes two vectors that are not empty, not shapes {a.shape} and {v.shape}")
    long, short = max(len(a), len(v)), min(len(a), len(v))
    starts = {"full": (0, long + short - 1), "same": ((short - 1) // 2, long), "valid": (short - 1, long - short + 1)}
    if mode not in starts:
        raise ArgumentError(f"mode is 'full', 'same' or 'valid', not {mode!r}")
    start, size = starts[mode]
    y = convolved(a, v)
    return y if mode == "full" else y[start : start + size]


@implements(np.correlate)
def correlate(a: Value, v: Value, mode: str = "valid") -> Value:
    """``np.correlate``: ``c_k = sum_n a_{n+k} conj(v_n)``."""
    a, v = np.atleast_1d(operand(a)), np.atleast_1d(operand(v))
    if mode == "same" and len(v) > len(a):  # NumPy exchanges the two, and centres the other way round
        return np.flip(convolve(np.flip(a), v.conj(), mode)).copy()
    return convolve(a, np.flip(v.conj()), mode)


# -- differences ---------------------------------------------------------------------------------------------


@implements(np.ediff1d)
def ediff1d(ary: Value, to_end: Value = None, to_begin: Value = None) -> Value:
    """``np.ediff1d``."""
    parts = [to_begin, np.diff(np.reshape(operand(ary), -1)), to_end]
    return np.concatenate([np.reshape(operand(p), -1) for p in parts if p is not None])


@implements(np.gradient)
def gradient(f: Value, *varargs: Value, axis: Axes = None, edge_order: int = 1) -> Value | tuple[Value, ...]:
    """``np.gradient``: differences of second order, on even and uneven grids."""
    f = operand(f)
    axes = tuple(range(f.ndim)) if axis is None else normalize_axis_tuple(axis, f.ndim)
    spacings = varargs * len(axes) if len(varargs) == 1 else varargs or (1.0,) * len(axes)
    if len(spacings) != len(axes) or edge_order not in (1, 2):
        raise ArgumentError("np.gradient takes one spacing for all axes or one each, and edge_order 1 or 2")
    if any(f.shape[k] < edge_order + 1 for k in axes):
        raise ShapeError(f"np.gradient needs {edge_order + 1} points or more on every axis, not shape {f.shape}")
    slopes = tuple([_slope(f, k, operand(h), edge_order) for k, h in zip(axes, spacings, strict=True)])
    return slopes[0] if (axis is not None and np.ndim(axis) == 0) or len(axes) == 1 else slopes


def _slope(f: Value, axis: int, h: Value, edge_order: int) -> Value:
    """The derivative along one axis; `h` is the distance of the points, or their coordinates."""
    f = np.moveaxis(f, axis, -1)
    n = f.shape[-1]
    h = np.diff(h) if np.ndim(h) else h * like(f).ones(n - 1)
    if np.shape(h) != (n - 1,):
        raise ShapeError(f"the coordinates of an axis of length {n} are {np.size(h) + 1} points")
    steps = (f[..., 1:] - f[..., :-1]) / h
    before, after = h[:-1], h[1:]
    inner = (after * steps[..., :-1] + before * steps[..., 1:]) / (before + after)
    first, last = steps[..., :1], steps[..., -1:]
    if edge_order == 2:  # linear extrapolation of the two slopes next to the edge
        first = first + (first - steps[..., 1:2]) * (h[0] / (h[0] + h[1]))
        last = last + (last - steps[..., -2:-1]) * (h[-1] / (h[-1] + h[-2]))
    return np.moveaxis(np.concatenate([first, inner, last], axis=-1), -1, axis)


# -- interpolation -------------------------------------------------------------------------------------------


@implements(np.interp)
def interp(x: Value, xp: Value, fp: Value, left: Value = None, right: Value = None, period: Value = None) -> Value:
    """``np.interp``, differentiable in the points, the grid and the values; at a point of the grid from the right."""
    x, xp, fp = operand(x), operand(xp), operand(fp)
    if period is not None:
        x, xp, fp = _periodic(x, xp, fp, abs(period))
        left = right = None
    at, grid = unrecorded(x), unrecorded(xp)
    i = np.clip(np.searchsorted(grid, at, side="right") - 1, 0, max(len(grid) - 2, 0))
    j = np.minimum(i + 1, len(grid) - 1)
    (x0, x1), (y0, y1) = ([take(a, k) for k in (i, j)] for a in (xp, fp))
    y = y0 + (x - x0) * ((y1 - y0) / np.where(unrecorded(x0) == unrecorded(x1), 1, x1 - x0))
    y = np.where(at < grid[0], fp[0] if left is None else left, y)
    return np.where(at > grid[-1], fp[-1] if right is None else right, y)


def _periodic(x: Value, xp: Value, fp: Value, period: Value) -> tuple[Value, Value, Value]:
    x, xp = np.remainder(x, period), np.remainder(xp, period)
    order = np.argsort(unrecorded(xp))
    xp, fp = xp[order], fp[order]
    xp = np.concatenate([xp[-1:] - period, xp, xp[:1] + period])
    return x, xp, np.concatenate([fp[-1:], fp, fp[:1]])
