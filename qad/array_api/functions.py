"""The standard's functions that NumPy has under the same name and signature."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.array_api.creation import asarray
from qad.array_api.wrap import giving_tensors, names_of
from qad.rules.reductions import scan
from qad.rules.shapes import join

if TYPE_CHECKING:
    from qad.extend import Tensor
    from qad.typing import Array, ArrayLike

ELEMENTWISE = """
    abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or
    bitwise_right_shift bitwise_xor ceil conj copysign cos cosh divide equal exp expm1 floor floor_divide greater
    greater_equal hypot imag isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp logical_and logical_not
    logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive pow real reciprocal remainder
    round sign signbit sin sinh square sqrt subtract tan tanh trunc
"""
REDUCTIONS = """
    all any argmax argmin count_nonzero diff max mean min prod std sum var
"""
PRODUCTS = "matmul matrix_transpose tensordot"
PLACES = """
    isin nonzero searchsorted take take_along_axis unique_all unique_counts unique_inverse unique_values where
"""
SHAPES = """
    broadcast_arrays broadcast_shapes broadcast_to concat expand_dims flip moveaxis permute_dims repeat roll squeeze
    stack tile
"""

NAMES = ELEMENTWISE + REDUCTIONS + PRODUCTS + PLACES + SHAPES

globals().update(names_of(np, NAMES))
cumulative_sum, cumulative_prod = map(giving_tensors, (scan.cumulative_sum, scan.cumulative_prod))  # NumPy 2.1 has them
unstack = giving_tensors(join.unstack)
vecdot = giving_tensors(np.linalg.vecdot)  # with `axis` in its signature


def clip(x: Array, /, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Tensor:
    """The entries of `x` between `min` and `max`, in the dtype of `x`."""
    return asarray(np.clip(asarray(x), min, max), dtype=x.dtype)


def reshape(x: ArrayLike, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """The entries of `x` in another shape."""
    return asarray(x).reshape(shape, copy=copy)


OWN = "clip cumulative_prod cumulative_sum reshape unstack vecdot"

__all__ = [*NAMES.split(), *OWN.split()]
