"""Medians, quantiles and percentiles, with and without NaN.

Each is a mean of two neighbours in the sorted array: at index ``v = n q + m(q) - 1``, with NumPy's name for every m.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, implements, like, operand, refuse_out, stack_of, unrecorded
from qad.rules.reductions.axes import present

if TYPE_CHECKING:
    from qad.typing import Axes, Function, Value

# m(q) = alpha + q (1 - alpha - beta): Hyndman and Fan, The American Statistician 50, 361 (1996)
CONTINUOUS: dict[str, tuple[float, float]] = {
    "linear": (1, 1), "weibull": (0, 0), "hazen": (0.5, 0.5), "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8), "interpolated_inverted_cdf": (0, 1),
}  # fmt: skip
STEPS: dict[str, Function] = {
    "lower": np.floor, "higher": np.ceil, "nearest": np.rint, "midpoint": lambda v: (np.floor(v) + np.ceil(v)) / 2,
}  # fmt: skip


def _places(q: Value, n: Value, method: str) -> Value:
    """The index, counted from 0 and real, of quantile `q` among `n` sorted entries; recorded as `q` is."""
    if method in STEPS:
        return STEPS[method](unrecorded((n - 1) * q))
    if method not in CONTINUOUS:
        raise ArgumentError(
            f"np.quantile of a Tensor with method={method!r} has no derivative rule: write np.quantile(x, q), "
            f"which has method='linear', or choose from {', '.join(map(repr, (*CONTINUOUS, *STEPS)))}"
        )
    alpha, beta = CONTINUOUS[method]
    return np.clip(n * q + (alpha + q * (1 - alpha - beta)) - 1, 0, np.maximum(n - 1, 0))


def _rows(a: Value, axis: Axes) -> tuple[Value, tuple[int, ...]]:
    """`a` with the axes that are reduced flattened into the last one, and the shape that keeps them."""
    axes = present(axis, a.ndim)
    kept = tuple(1 if i in axes else n for i, n in enumerate(a.shape))
    others = [n for i, n in enumerate(a.shape) if i not in axes]
    count = prod([a.shape[i] for i in axes])
    return np.moveaxis(a, axes, range(-len(axes), 0)).reshape((*others, count)), kept


def _quantile(
    a: Value, q: Value, axis: Axes, method: str, keepdims: bool, skip_nan: bool, of_none: bool = True
) -> Value:
    a, q = operand(a), operand(q)
    q = q if type(q) is Tensor or like(a) is np else like(a).asarray(q)
    if np.any(stack_of(q) < 0) or np.any(stack_of(q) > 1):
        raise ArgumentError("quantiles lie in the range from 0 to 1, percentiles from 0 to 100")
    rows, kept = _rows(a, axis)
    if of_none and not rows.shape[-1]:
        rows = np.concatenate([rows, like(rows).full((*rows.shape[:-1], 1), np.nan)], -1)
    ordered = np.sort(rows, axis=-1)  # NaN comes last
    nan = np.isnan(unrecorded(ordered))
    n = np.sum(~nan, axis=-1, keepdims=True) if skip_nan and stack_of(nan).any() else ordered.shape[-1]
    v = np.broadcast_to(_places(np.reshape(q, -1), n, method), (*ordered.shape[:-1], np.size(q)))
    lower = np.floor(unrecorded(v)).astype(int)
    upper = np.minimum(lower + 1, np.maximum(n - 1, 0))
    low, high = (np.take_along_axis(ordered, i, -1) for i in (lower, upper))
    y = low + (v - lower) * (high - low)
    lost = np.all(nan, axis=-1) if skip_nan else np.any(nan, axis=-1)
    if stack_of(lost).any():
        y = np.where(lost[..., None], np.nan, y)
    return np.moveaxis(y, -1, 0).reshape(np.shape(q) + (kept if keepdims else ordered.shape[:-1]))


def _handler(name: str, scale: int, skip_nan: bool) -> Function:
    """A handler of the signature of ``np.quantile``."""

    def handler(
        a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None,
        interpolation=None,
    ):  # fmt: skip
        refuse_out(out, name)
        if weights is not None:
            raise ArgumentError(f"{name} of a Tensor takes no weights: repeat entries with np.repeat")
        q = operand(q) if scale == 1 else np.true_divide(operand(q), scale)
        return _quantile(a, q, axis, interpolation or method, keepdims, skip_nan, of_none=skip_nan)

    return handler


def _median(name: str, skip_nan: bool) -> Function:
    def handler(a, axis=None, out=None, overwrite_input=False, keepdims=False):
        refuse_out(out, name)
        return _quantile(a, 0.5, axis, "linear", keepdims, skip_nan)

    return handler


quantile: Function = implements(np.quantile)(_handler("np.quantile", 1, False))
percentile: Function = implements(np.percentile)(_handler("np.percentile", 100, False))
nanquantile: Function = implements(np.nanquantile)(_handler("np.nanquantile", 1, True))
nanpercentile: Function = implements(np.nanpercentile)(_handler("np.nanpercentile", 100, True))
median: Function = implements(np.median)(_median("np.median", False))
nanmedian: Function = implements(np.nanmedian)(_median("np.nanmedian", True))
