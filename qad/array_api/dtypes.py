"""Data types, and questions about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qad.array_api.wrap import as_tensors
from qad.extend import value_of

if TYPE_CHECKING:
    from typing import Any

    from qad.extend import Tensor
    from qad.typing import Array, ArrayLike, DTypeLike


def astype(x: ArrayLike, dtype: DTypeLike, /, *, copy: bool = True, device: str | None = None) -> Tensor:
    """The entries of `x` in another dtype."""
    return as_tensors(np.astype(x, dtype, copy=copy))


@dataclass(frozen=True)
class FloatInfo:
    """What `finfo` says, in Python's numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype


def _dtype_of(x: Any) -> np.dtype[Any]:
    return x.dtype if hasattr(x, "shape") and not isinstance(x, (type, np.dtype)) else np.dtype(x)


def finfo(type: DTypeLike | Array, /) -> FloatInfo:
    """The limits of a floating-point dtype, or of an array's."""
    info = np.finfo(_dtype_of(type))
    limits = (float(getattr(info, name)) for name in ("eps", "max", "min", "smallest_normal"))
    return FloatInfo(int(info.bits), *limits, info.dtype)


def iinfo(type: DTypeLike | Array, /) -> np.iinfo[Any]:
    """The limits of an integer dtype, or of an array's."""
    return np.iinfo(_dtype_of(type))


def can_cast(from_: DTypeLike | Array, to: DTypeLike, /) -> bool:
    """Whether the promotion rules lead from one dtype (or that of an array) to another."""
    old, new = _dtype_of(from_), _dtype_of(to)
    exact = "biu"
    return np.can_cast(old, new) and (old == new or old.kind != "b") and (old.kind in exact) == (new.kind in exact)


def result_type(*arrays_and_dtypes: ArrayLike | DTypeLike) -> np.dtype[Any]:
    """The dtype to which arrays, dtypes and Python's numbers are promoted."""
    return np.result_type(*map(value_of, arrays_and_dtypes))
