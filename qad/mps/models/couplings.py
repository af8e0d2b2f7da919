"""Couplings of models: one number for all bonds or sites, or one for each, recorded or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor, as_array, stack_of

if TYPE_CHECKING:
    from qad.typing import ArrayLike, RealNumber


def real_number(x: RealNumber, name: str) -> RealNumber:
    """`x` if it is a finite real number, Tensors included."""
    value = as_array(stack_of(x))
    if np.ndim(x) or value.dtype.kind not in "fiu" or not np.isfinite(value).all():
        raise ArgumentError(f"{name} must be a finite real number, so that H is Hermitian, but got {x!r}")
    return x


def couplings(x: RealNumber | ArrayLike, name: str, count: int, of: str) -> list[Any]:
    """A real number for each of `count` bonds or sites, from one for all of them or an array with one for each."""
    if type(x) is not Tensor and not hasattr(x, "dtype"):
        x = np.asarray(x)
    if np.ndim(x) == 0:
        return [real_number(x, name)] * count
    if np.shape(x) != (count,):
        raise ShapeError(f"{name} is one number, or one for each of the {count} {of}; it has shape {np.shape(x)}")
    return [real_number(x[i], f"{name}[{i}]") for i in range(count)]
