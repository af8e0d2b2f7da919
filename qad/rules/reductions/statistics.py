"""Averages with weights, covariances, and counts with weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor, as_array, implements, like, operand, value_of
from qad.extend.recording import values_in
from qad.rules.protocol.structured_cotangents import scatter
from qad.rules.reductions.axes import axes_of, count, freedom
from qad.rules.reductions.reduce import mean

if TYPE_CHECKING:
    from qad.typing import Axes, DTypeLike, Function, Value


@implements(np.average)
def average(
    a: Value, axis: Axes = None, weights: Value = None, returned: bool = False, *, keepdims: bool = False
) -> Value | tuple[Value, Value]:
    """``np.average``; the weights have the shape of `a`, or of the axes averaged over, in their order."""
    a = operand(a)
    if weights is None:
        y, norm = mean(a, axis, keepdims=keepdims), count(a.shape, axis)
    else:
        axes, weights = axes_of(axis, a.ndim), operand(weights)
        if weights.shape != a.shape:
            if weights.shape != tuple(a.shape[i] for i in axes) or list(axes) != sorted(axes):
                raise ShapeError(
                    f"weights of shape {weights.shape} do not fit axis {axis} of an array of shape {a.shape}"
                )
            weights = weights.reshape(tuple(n if i in axes else 1 for i, n in enumerate(a.shape)))
        norm = np.sum(weights + like(a).zeros(a.shape, weights.dtype), axis=axis, keepdims=keepdims)
        y = np.sum(a * weights, axis=axis, keepdims=keepdims) / norm
    return (y, norm + like(y).zeros(y.shape, y.dtype)) if returned else y


@implements(np.cov)
def cov(
    m: Value, y: Value = None, rowvar: bool = True, bias: bool = False, ddof: float | None = None,
    fweights: Value = None, aweights: Value = None, *, dtype: DTypeLike | None = None,
) -> Value:  # fmt: skip
    """``np.cov``: one variable per row (per column without `rowvar`)."""
    x = _variables(m, rowvar)
    if not len(x):
        return like(x).zeros((0, 0))  # as NumPy, whatever `y` is
    if y is not None:
        x = np.concatenate([x, _variables(y, rowvar)])
    if dtype is not None:
        x = np.astype(x, dtype)
    ddof = (0 if bias else 1) if ddof is None else ddof
    if fweights is None and aweights is None:
        d = x - np.mean(x, axis=1, keepdims=True)
        return np.squeeze(d @ np.matrix_transpose(d).conj() / freedom(x.shape[1], ddof))
    f, a = (1 if w is None else operand(w) for w in (fweights, aweights))
    w = f * a
    total = np.sum(w)
    d = x - np.sum(x * w, axis=1, keepdims=True) / total
    norm = freedom(total, ddof * (np.sum(w * a) / total if aweights is not None else 1))
    return np.squeeze((d * w) @ np.matrix_transpose(d).conj() / norm)


def _variables(m: Value, rowvar: bool) -> Value:
    m = operand(m)
    if m.ndim > 2:
        raise ArgumentError(f"np.cov takes one or two axes, not shape {m.shape}")
    return np.atleast_2d(m) if rowvar or m.ndim < 2 else m.T


@implements(np.corrcoef)
def corrcoef(x: Value, y: Value = None, rowvar: bool = True, *, dtype: DTypeLike | None = None) -> Value:
    """``np.corrcoef``, not cut off at 1 where rounding exceeds it."""
    c = cov(x, y, rowvar, dtype=dtype)
    if not c.ndim:
        return c / c
    size = np.sqrt(np.diagonal(c).real)
    return c / size[:, None] / size


@implements(np.bincount)
def bincount(x: Value, /, weights: Value = None, minlength: int = 0) -> Value:
    """``np.bincount``, differentiable in the weights; plain counts without them."""
    x = as_array(value_of(x))
    if type(weights) is not Tensor:
        return np.bincount(x, weights, minlength)
    x = x.copy()  # its owner may change it before the backward pass
    return scatter(weights, indices=(x,), shape=(len(np.bincount(x, minlength=minlength)),), dtype=weights.dtype)


@implements(np.histogram)
def histogram(
    a: Value, bins: Value = 10, range: tuple[float, float] | None = None, density: bool | None = None,
    weights: Value = None,
) -> tuple[Value, Value]:  # fmt: skip
    """``np.histogram``, differentiable in the weights; counts and edges are plain."""
    a = as_array(value_of(a))
    if type(weights) is not Tensor:
        return np.histogram(a, value_of(bins), range, density, weights)
    edges = np.histogram_bin_edges(a, value_of(bins), range)
    inside = (edges[0] <= a) & (a <= edges[-1])
    place = np.minimum(np.searchsorted(edges, a[inside], side="right") - 1, len(edges) - 2)
    y = bincount(place, weights[inside], minlength=len(edges) - 1)
    return (y / (np.sum(y) * np.diff(edges)) if density else y), edges


def _counts(function: Function) -> Function:
    """A handler for histograms of several variables: only the counts."""

    def handler(*args, **kwargs):
        if type(kwargs.get("weights")) is Tensor:
            raise ArgumentError(
                f"np.{function.__name__} is not differentiated in its weights: number the bins with np.digitize, and "
                "write np.bincount(numbers, weights)"
            )
        return function(*map(values_in, args), **{k: values_in(v) for k, v in kwargs.items()})

    handler.passes = True
    return handler


for _function in (np.histogram2d, np.histogramdd):
    implements(_function)(_counts(_function))
