"""Whether sums of squares, and differences from a mean, keep their digits in a dtype."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.linalg when it is first used

if TYPE_CHECKING:
    from qad.typing import Axes, DTypeLike, Value

LENGTHS = {"f": "snrm2", "d": "dnrm2", "F": "scnrm2", "D": "dznrm2"}  # in BLAS


@cache
def least_root(dtype: DTypeLike) -> float:
    """The least root of a sum of squares that has all its digits."""
    return np.sqrt(np.finfo(dtype).tiny / np.finfo(dtype).eps)


@cache
def rounding(dtype: DTypeLike) -> float:
    """How far, relatively, the mean of equal entries may be from them by rounding."""
    return 4 * np.finfo(dtype).eps


def are_ordinary(roots: Value) -> bool:
    """Whether no sum of squares, of which these bare `roots` are, has overflowed or lost digits."""
    least = least_root(roots.dtype)
    if not roots.shape:
        return bool(least < roots < np.inf)
    if type(roots) is np.ndarray and roots.size:  # less time than comparisons; a NaN comes first
        return least < roots.item(roots.argmin()) and roots.item(roots.argmax()) < np.inf
    return bool(((roots > least) & (roots < np.inf)).all())


def scale_along(x: Value, axis: Axes) -> Value:
    """The largest absolute value along `axis`, kept, to divide by before squaring; 1 where it is 0 or infinite."""
    largest = np.max(np.absolute(x), axis=axis, keepdims=True)
    return np.where((largest > 0) & np.isfinite(largest), largest, 1)


def length_along(x: Value, axis: tuple[int, ...]) -> Value:
    """Euclidean length along `axis`, kept; the entries are scaled where their squares overflow or lose digits."""
    if type(x) is np.ndarray and len(axis) == x.ndim and (name := LENGTHS.get(x.dtype.char)) is not None:
        n = getattr(scipy.linalg.blas, name)(x.ravel())  # a quarter of the time of a sum of squares, without warnings
        if least_root(x.real.dtype) < n < np.inf:
            return np.full((1,) * x.ndim, n, x.real.dtype)
    with np.errstate(over="ignore"):
        n = _root_of_squares(x, axis)
        if are_ordinary(n):
            return n
    scale = scale_along(x, axis)
    return scale * _root_of_squares(over(x, scale), axis)


def over(x: Value, n: Value) -> Value:
    """``x / n`` for positive `n`: where these are subnormal NumPy's complex division, by a reciprocal, overflows."""
    least = 4 * np.finfo(n.dtype).tiny
    if x.dtype.kind != "c" or not (n < least).any():
        return x / n
    factor = np.where(n < least, 2.0 ** (np.finfo(n.dtype).nmant + 5), 1.0).astype(n.dtype)
    return (x * factor) / (n * factor)


def _root_of_squares(x: Value, axis: tuple[int, ...]) -> Value:
    square = x.real**2 + x.imag**2 if x.dtype.kind == "c" else x**2
    return np.sqrt(square.sum(axis=axis, keepdims=True))
