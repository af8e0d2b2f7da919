"""Reductions: sum, mean, var, std, and what follows from them.

A reduction is a small primitive of ``axis`` and ``keepdims``; the handlers of NumPy's signatures bring everything
else (``dtype``, ``where``, ``initial``) to these by functions that have rules of their own.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import (
    AXIS,
    Tensor,
    attach,
    implements,
    like,
    quick_with_metadata,
    refuse_out,
    rule,
    shifted,
    stack_of,
    unrecorded,
)
from qad.rules.elementwise.functions import nonzero
from qad.rules.making.casts import inexact, narrowed
from qad.rules.reductions.axes import axes_of, count, freedom
from qad.rules.reductions.scales import are_ordinary, rounding, scale_along

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Axes, Cotangent, DTypeLike, Function, Value

LARGE, SHORT = 1 << 12, 8  # entries of an array, and of its rows


# -- sum and its adjoint -------------------------------------------------------------------------------------
def spread(g: Value, shape: tuple[int, ...], axis: Axes = None, keepdims: bool = False) -> Value:
    """`g` repeated along the reduced axes, back to `shape`: a read-only view, the adjoint of a sum."""
    if type(g) is Tensor:
        return _spread(g, shape, axis, keepdims)
    if axis is None and isinstance(g, (np.ndarray, np.generic)):
        return np.ndarray(shape, g.dtype, g, 0, (0,) * len(shape))  # a tenth of the price of broadcast_to
    if not keepdims:
        kept = axes_of(axis, len(shape))
        g = g.reshape(tuple(1 if a in kept else n for a, n in enumerate(shape)))
    return np.broadcast_to(g, shape)


def sum_over(x: Value, axis: Axes = None, keepdims: bool = False) -> Value:
    """``x.sum(axis, keepdims)``."""
    if type(x) is Tensor:  # most often of a lower level
        return _sum(x, axis, keepdims)
    return np.add.reduce(x, axis=axis, keepdims=keepdims)


def _sum_rule(g: Cotangent, y: Value, x: Value, axis: Axes = None, keepdims: bool = False) -> Cotangent:
    return spread(g, shape=x.shape, axis=axis, keepdims=keepdims)


def _spread_rule(
    g: Cotangent, y: Value, x: Value, shape: tuple[int, ...], axis: Axes = None, keepdims: bool = False
) -> Cotangent:
    return g.sum(axis, keepdims=keepdims)


def _sum_of_each(batched: Sequence[bool], x: Value, axis: Axes = None, keepdims: bool = False) -> Value:
    """Sums of short rows are products with ones, which take a tenth of the time of NumPy's reduction."""
    axes = shifted(axis, x.ndim)
    place = axes if type(axes) is int else axes[0] if len(axes) == 1 else 0
    if not place or type(x) is Tensor or x.dtype.kind not in "fc" or not x.size:
        return sum_over(x, axes, keepdims)
    before, n, after = x.shape[:place], x.shape[place], x.shape[place + 1 :]
    if after:
        sums = np.matmul(like(x).ones((1, n), x.dtype), x.reshape((prod(before), n, prod(after))))
    else:
        sums = x.reshape((prod(before), n)) @ like(x).ones(n, x.dtype)
    return sums.reshape(before + ((1,) if keepdims else ()) + after)


def _spread_each(
    batched: Sequence[bool], g: Value, shape: tuple[int, ...], axis: Axes = None, keepdims: bool = False
) -> Value:
    return in_full(spread(g, shape=(len(g), *shape), axis=shifted(axis, len(shape) + 1), keepdims=keepdims))


def in_full(x: Value) -> Value:
    """Many short rows, each of one repeated entry, written out: NumPy multiplies such views five times slower."""
    if type(x) is not np.ndarray or x.size < LARGE or not 1 < x.shape[-1] <= SHORT:
        return x
    if x.strides[-1] or not x.strides[-2]:
        return x
    y = np.empty(x.shape, x.dtype)
    for k in range(x.shape[-1]):
        y[..., k] = x[..., 0]
    return y


rule(sum_over, _sum_rule, linear=True, batch=_sum_of_each, name="sum")
rule(spread, _spread_rule, linear=True, batch=_spread_each, shows=True, fresh=True, name="broadcast_to")
_spread = quick_with_metadata(spread)
_sum = quick_with_metadata(sum_over)


@implements(np.sum)
def sum(
    a: Value, axis: Axes = None, dtype: DTypeLike | None = None, out: object = None, keepdims: bool = False,
    initial: Value = None, where: Value = True,
) -> Value:  # fmt: skip
    """``np.sum``; without options straight to the recorder."""
    if dtype is None and out is None and initial is None and where is True:
        return _sum(a, axis, keepdims)
    refuse_out(out, "np.sum")
    a = a if dtype is None else np.astype(a, dtype)
    y = np.add.reduce(a if where is True else np.where(where, a, 0), axis=axis, keepdims=keepdims)
    return narrowed(y if initial is None else y + initial, dtype)


# -- mean, variance, deviation -------------------------------------------------------------------------------
@implements(np.mean)
def mean(
    a: Value, axis: Axes = None, dtype: DTypeLike | None = None, out: object = None, keepdims: bool = False,
    where: Value = True,
) -> Value:  # fmt: skip
    """``np.mean``."""
    y = sum(a, axis, dtype, out, keepdims, where=where)
    return narrowed(y / _number(a, axis, keepdims, where), dtype)


def _number(x: Value, axis: Axes, keepdims: bool, where: Value) -> Value:
    """Over how many entries each mean is taken: an integer, or an array of them under a mask."""
    if where is True:
        return count(x.shape, axis)
    mask = np.broadcast_to(unrecorded(where), x.shape)
    return np.sum(mask, axis=axis, keepdims=keepdims, dtype=x.real.dtype)


# -- reductions that weigh every entry -----------------------------------------------------------------------
def weighted(fn: Function, weights: Function, name: str | None = None) -> None:
    """The rules of a reduction ``fn(x, axis, keepdims, ...)`` of which an entry moves a share.

    ``weights(y, x, axis, keepdims, ...)`` returns the derivative as an array like `x` and what divides it, like `y`.
    """

    def back(g, y, x, axis=None, keepdims=False, *more):
        parts, whole = weights(y, x, axis, keepdims, *more)
        return spread(g / whole, shape=x.shape, axis=axis, keepdims=keepdims) * parts

    def forward(t, y, x, axis=None, keepdims=False, *more):
        parts, whole = weights(y, x, axis, keepdims, *more)
        return np.sum(t * parts, axis=axis, keepdims=keepdims) / whole

    rule(fn, back, forward=forward, batch=AXIS, fresh=True, name=name)


def var_over(x: Value, axis: Axes = None, keepdims: bool = False, ddof: float = 0) -> Value:
    """The variance, real also of complex numbers: the mean of ``|x - mean|^2``."""
    return np.var(x, axis=axis, ddof=ddof, keepdims=keepdims)


def std_over(x: Value, axis: Axes = None, keepdims: bool = False, ddof: float = 0) -> Value:
    """The standard deviation; its derivative is taken to be 0 where it is 0, up to rounding.

    Where squares overflow or lose digits the deviations are scaled before.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        y = np.std(x, axis=axis, ddof=ddof, keepdims=keepdims)
    if not x.size or are_ordinary(stack_of(y)):
        return y
    d = x - np.mean(x, axis=axis, keepdims=True)
    scale = scale_along(d, axis)
    y = np.std(d / scale, axis=axis, ddof=ddof, keepdims=True) * scale
    return y if keepdims else y.reshape([n for i, n in enumerate(x.shape) if i not in axes_of(axis, x.ndim)])[()]


def _deviation(y: Value, x: Value, axis: Axes, keepdims: bool, ddof: float) -> tuple[Value, Value]:
    """``2 conj(x - mean) / (n - ddof)``."""
    return (x - mean(x, axis, keepdims=True)).conj(), freedom(count(x.shape, axis), ddof) / 2


def _direction(y: Value, x: Value, axis: Axes, keepdims: bool, ddof: float) -> tuple[Value, Value]:
    """``conj(x - mean) / std / (n - ddof)``, of the size of 1 / n at all scales; 0 where the entries are equal."""
    n, y = freedom(count(x.shape, axis), ddof), spread(y, shape=x.shape, axis=axis, keepdims=keepdims)
    center = mean(x, axis, keepdims=True)
    apart = unrecorded(y) > rounding(x.dtype) * np.absolute(unrecorded(center))  # by more than rounding
    deviation = (x - center).conj()
    if type(apart) is np.ndarray and apart.all():  # the usual case
        return deviation / y, n
    return deviation / np.where(apart, y, 1) * apart, n


weighted(var_over, _deviation, "var")
weighted(std_over, _direction, "std")
_var, _std = quick_with_metadata(var_over), quick_with_metadata(std_over)


@implements(np.var)
def var(
    a: Value, axis: Axes = None, dtype: DTypeLike | None = None, out: object = None, ddof: float = 0,
    keepdims: bool = False, *, where: Value = True, mean: Value = None, correction: float = 0,
) -> Value:  # fmt: skip
    """``np.var``; `correction` is the array API's name of `ddof`."""
    refuse_out(out, "np.var")
    a = inexact(a, dtype, "np.var")
    ddof = ddof or correction
    if where is True and mean is None:
        return _var(a, axis, keepdims, ddof)
    d = a - (np.mean(a, axis, keepdims=True, where=where) if mean is None else mean)
    squares = sum((d * d.conj()).real, axis, keepdims=keepdims, where=where)
    return squares / freedom(_number(a, axis, keepdims, where), ddof)


@implements(np.std)
def std(
    a: Value, axis: Axes = None, dtype: DTypeLike | None = None, out: object = None, ddof: float = 0,
    keepdims: bool = False, *, where: Value = True, mean: Value = None, correction: float = 0,
) -> Value:  # fmt: skip
    """``np.std``; `correction` is the array API's name of `ddof`."""
    if where is not True or mean is not None:
        y = var(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
        return np.sqrt(nonzero(y)) * (unrecorded(y) != 0)  # no slope where all entries are equal, as `_direction`
    refuse_out(out, "np.std")
    a = inexact(a, dtype, "np.std")
    return _std(a, axis, keepdims, ddof or correction)


attach("sum", sum)
attach("mean", mean)
attach("var", var)
attach("std", std)
