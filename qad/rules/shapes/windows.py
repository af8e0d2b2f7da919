"""Sliding windows, and NumPy's functions that leave the real numbers where they must (``np.emath``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple
from numpy.lib.stride_tricks import sliding_window_view

from qad.core.errors import ArgumentError
from qad.extend import Tensor, implements, like, operand, primitive, rule, shifted, stack_of, unrecorded, value_of

if TYPE_CHECKING:
    from qad.typing import Axes, Function, Shape, Value


@primitive(name="sliding_window_view")
def _windows(x: Value, *, sizes: tuple[int, ...], axes: tuple[int, ...]) -> Value:
    return sliding_window_view(x, sizes, axes)


@primitive(name="overlap_add")
def _overlap_add(g: Value, *, shape: tuple[int, ...], sizes: tuple[int, ...], axes: tuple[int, ...]) -> Value:
    """The adjoint of windows: each entry of an array of this `shape` sums those in which the windows show it."""
    for size, axis in zip(sizes[::-1], axes[::-1], strict=True):
        starts = g.shape[axis]
        total = like(g).zeros((*g.shape[:axis], starts + size - 1, *g.shape[axis + 1 : -1]), g.dtype)
        for k in range(size):
            total[(slice(None),) * axis + (slice(k, k + starts),)] += g[..., k]
        g = total
    return g


rule(
    _windows,
    lambda g, y, x, *, sizes, axes: _overlap_add(g, shape=x.shape, sizes=sizes, axes=axes),
    linear=True,
    batch=lambda batched, x, *, sizes, axes: _windows(x, sizes=sizes, axes=shifted(axes, x.ndim)),
    shows=True,
    fresh=True,
)
rule(
    _overlap_add,
    lambda h, y, g, *, shape, sizes, axes: _windows(h, sizes=sizes, axes=axes),
    linear=True,
    batch=lambda batched, g, *, shape, sizes, axes: _overlap_add(
        g, shape=(len(g), *shape), sizes=sizes, axes=shifted(axes, 1 + len(shape))
    ),
)


@implements(sliding_window_view)
def windows(x: Value, window_shape: Shape, axis: Axes = None, *, subok: bool = False, writeable: bool = False) -> Value:
    """``sliding_window_view``: a read-only view, as NumPy's is."""
    x = operand(x)
    sizes = tuple(np.atleast_1d(value_of(window_shape)).tolist())
    axes = tuple(range(x.ndim)) if axis is None else normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
    if writeable:
        raise ArgumentError(
            "entries stand in several windows: leave writeable=False, and write x[index] = value into the array"
        )
    if len(axes) != len(sizes):
        raise ArgumentError(f"{len(sizes)} window sizes do not fit {len(axes)} axes")
    return _windows(x, sizes=sizes, axes=axes)


# -- np.emath --------------------------------------------------------------------------------------------------
def _widened(x: Value, outside: Function) -> Value:
    """`x`, complex where one of its entries is real and outside of the domain; the same for all examples of a batch."""
    x = operand(x)
    x = x if hasattr(x, "dtype") else np.asarray(x)
    if x.dtype.kind == "c" or not stack_of(outside(unrecorded(x))).any():
        return x
    return np.astype(x, np.result_type(x.dtype, np.complex64))


def _negative(x: Value) -> Value:
    return x < 0


def _beyond_one(x: Value) -> Value:
    return abs(x) > 1


def _of_all_numbers(function: Function, outside: Function) -> Function:
    return lambda x: function(_widened(x, outside))


for _name, _outside in (    ("sqrt", _negative), ("log", _negative), ("log2", _negative), ("log10", _negative),
    ("arccos", _beyond_one), ("arcsin", _beyond_one), ("arctanh", _beyond_one),
):  # fmt: skip
    implements(getattr(np.emath, _name))(_of_all_numbers(getattr(np, _name), _outside))


@implements(np.emath.logn)
def logn(n: Value, x: Value) -> Value:
    """``np.emath.logn``: the logarithm to base `n`."""
    return np.log(_widened(x, _negative)) / np.log(_widened(n, _negative))


@implements(np.emath.power)
def power(x: Value, p: Value) -> Value:
    """``np.emath.power``; an exponent of Python's counts in double precision."""
    p = operand(p)
    return np.power(_widened(x, _negative), p if type(p) is Tensor else like(x).asarray(p))
