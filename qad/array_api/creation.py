"""Functions that make arrays: Tensors that nothing has recorded yet, and that may be written into."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.array_api.wrap import as_tensors, giving_tensors
from qad.core.errors import ArgumentError
from qad.extend import Tensor
from qad.extend.memory import buffer
from qad.rules.making.creation import empty, empty_like, full, full_like, ones, ones_like, zeros, zeros_like

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.typing import ArrayLike, DTypeLike, Number, RealNumber

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid",
    "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip


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


def arange(
    start: RealNumber, /, stop: RealNumber | None = None, step: RealNumber = 1, *, dtype: DTypeLike | None = None,
    device: str | None = None,
) -> Tensor:  # fmt: skip
    """Evenly spaced numbers, without the end."""
    ends = (0, start) if stop is None else (start, stop)
    return buffer(np.arange(*ends, step, dtype=dtype))


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: DTypeLike | None = None, device: str | None = None
) -> Tensor:
    """Ones on one diagonal."""
    return buffer(np.eye(n_rows, n_cols, k, dtype or float))


def linspace(
    start: Number, stop: Number, /, num: int, *, dtype: DTypeLike | None = None, device: str | None = None,
    endpoint: bool = True,
) -> Tensor:  # fmt: skip
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
