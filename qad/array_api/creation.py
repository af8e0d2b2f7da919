"""Functions that make arrays: Tensors that nothing has recorded yet, and that may be written into."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

import numpy as np

from qad.array_api.wrap import as_tensors, giving_tensors
from qad.core.errors import ArgumentError
from qad.extend import Tensor, value_of
from qad.extend.memory import buffer

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.typing import Array, ArrayLike, DTypeLike, Number, P, RealNumber, Shape


def asarray(
    obj: ArrayLike, /, *, dtype: DTypeLike | None = None, device: str | None = None, copy: bool | None = None
) -> Tensor:
    """`obj` as a Tensor: an array, a number, or nested lists of numbers and Tensors."""
    if isinstance(obj, (list, tuple)) and any(isinstance(x, (Tensor, list, tuple)) for x in obj):
        obj = np.stack([asarray(x) for x in obj])
    if type(obj) is not Tensor:
        return buffer(np.array(obj, dtype=dtype, copy=copy))
    if dtype is not None and np.dtype(dtype) != obj.dtype:
        if copy is False:
            raise ArgumentError(f"a change from {obj.dtype} to {dtype} takes a copy: leave copy=False out")
        return as_tensors(np.astype(obj, dtype))
    return np.copy(obj) if copy else obj


def _new(fn: Callable[P, Any]) -> Callable[P, Tensor]:
    """`fn` with its array in a Tensor that may be written into."""

    @wraps(fn)
    def call(*args, **kwargs):
        return buffer(fn(*args, **kwargs))

    return call


@_new
def arange(
    start: RealNumber,
    /,
    stop: RealNumber | None = None,
    step: RealNumber = 1,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
) -> Tensor:
    """Evenly spaced numbers, without the end."""
    return np.arange(0, start, step, dtype=dtype) if stop is None else np.arange(start, stop, step, dtype=dtype)


@_new
def empty(shape: Shape, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """An array of this shape, of any content."""
    return np.empty(shape, dtype or float)


@_new
def zeros(shape: Shape, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Zeros of this shape."""
    return np.zeros(shape, dtype or float)


@_new
def ones(shape: Shape, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Ones of this shape."""
    return np.ones(shape, dtype or float)


def full(shape: Shape, fill_value: Number, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """One number everywhere; a Tensor is recorded on."""
    if type(fill_value) is not Tensor:
        return buffer(np.full(shape, fill_value, dtype))
    y = np.broadcast_to(fill_value, shape)
    return y.copy() if dtype is None else as_tensors(np.astype(y, dtype))


@_new
def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: DTypeLike | None = None, device: str | None = None
) -> Tensor:
    """Ones on one diagonal."""
    return np.eye(n_rows, n_cols, k, dtype or float)


@_new
def empty_like(x: ArrayLike, /, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """An array of the shape of `x`, of any content."""
    return np.empty_like(value_of(x), dtype=dtype)


@_new
def zeros_like(x: ArrayLike, /, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Zeros of the shape of `x`."""
    return np.zeros_like(value_of(x), dtype=dtype)


@_new
def ones_like(x: ArrayLike, /, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Ones of the shape of `x`."""
    return np.ones_like(value_of(x), dtype=dtype)


def full_like(x: Array, /, fill_value: Number, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """One number everywhere, in the shape and dtype of `x`."""
    return full(x.shape, fill_value, dtype=dtype or x.dtype)


def linspace(
    start: Number,
    stop: Number,
    /,
    num: int,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    endpoint: bool = True,
) -> Tensor:
    """Evenly spaced numbers; recorded in the ends."""
    return as_tensors(np.linspace(start, stop, num, endpoint, dtype=dtype))


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Tensor:
    """Another package's array as a Tensor."""
    if type(x) is Tensor:
        return np.copy(x) if copy else x
    return buffer(np.from_dlpack(x).copy() if copy else np.from_dlpack(x))


meshgrid: Callable[..., tuple[Tensor, ...]]
tril: Callable[..., Tensor]
triu: Callable[..., Tensor]
meshgrid, tril, triu = map(giving_tensors, (np.meshgrid, np.tril, np.triu))
