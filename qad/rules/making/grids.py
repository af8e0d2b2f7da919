"""Grids of values and of points: `linspace`, `logspace`, `geomspace`, and `meshgrid`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, implements, like, operand
from qad.extend.memory import held

if TYPE_CHECKING:
    from qad.typing import DTypeLike, Value


def _fractions(num: int, endpoint: bool, start: Value, stop: Value) -> Value:
    """0 to 1, along an axis before those of the ends and in their precision."""
    precision = np.finfo(np.result_type(*(getattr(x, "dtype", x) for x in (start, stop)), 0.0)).dtype
    axes = max(np.ndim(start), np.ndim(stop))
    t = np.linspace(0, 1, num, endpoint, dtype=precision).reshape((-1,) + (1,) * axes)
    return like(start, stop).asarray(t)


@implements(np.linspace)
def linspace(
    start: Value, stop: Value, num: int = 50, endpoint: bool = True, retstep: bool = False,
    dtype: DTypeLike | None = None, axis: int = 0, *, device: str | None = None,
) -> Value | tuple[Value, Value]:  # fmt: skip
    """``np.linspace``, differentiable in both ends."""
    start, stop = operand(start), operand(stop)
    t = _fractions(num, endpoint, start, stop)
    y = np.moveaxis(start * (1 - t) + stop * t, 0, axis)
    y = y if dtype is None else np.astype(y, dtype)
    return (y, (stop - start) / (num - bool(endpoint) or np.nan)) if retstep else y


@implements(np.logspace)
def logspace(
    start: Value, stop: Value, num: int = 50, endpoint: bool = True, base: Value = 10.0, dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Value:  # fmt: skip
    """``np.logspace``, differentiable in both ends and the base."""
    exponents = np.linspace(operand(start), operand(stop), num, endpoint, axis=axis)
    base = operand(base)
    base = np.expand_dims(base, axis) if np.ndim(base) else base
    y = np.power(base, exponents)
    return y if dtype is None else np.astype(y, dtype)


@implements(np.geomspace)
def geomspace(
    start: Value, stop: Value, num: int = 50, endpoint: bool = True, dtype: DTypeLike | None = None, axis: int = 0
) -> Value:
    """``np.geomspace``: ``start (stop / start)^t``."""
    start, stop = np.broadcast_arrays(operand(start), operand(stop))
    t = like(start, stop).asarray(np.linspace(0, 1, num, endpoint).reshape((-1,) + (1,) * start.ndim))
    y = np.moveaxis(start * (stop / start) ** t, 0, axis)
    return y if dtype is None else np.astype(y, dtype)


@implements(np.meshgrid)
def meshgrid(*xi: Value, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Value, ...]:
    """``np.meshgrid``."""
    if indexing not in ("xy", "ij"):
        raise ArgumentError(f"indexing is 'xy' or 'ij', not {indexing!r}")
    axes = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        axes[:2] = 1, 0
    n = len(xi)
    grids = [np.reshape(operand(x), (1,) * k + (-1,) + (1,) * (n - k - 1)) for x, k in zip(xi, axes, strict=True)]
    grids = grids if sparse else np.broadcast_arrays(*grids)
    return tuple([grid if not copy else held(grid) if type(grid) is Tensor else grid.copy() for grid in grids])
