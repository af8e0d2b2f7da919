"""NumPy's functions that leave NaN out; what is left out has derivative 0."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import implements, operand, refuse_out, stack_of, unrecorded
from qad.rules.reductions.axes import freedom
from qad.rules.reductions.reduce import _number

if TYPE_CHECKING:
    from qad.typing import Axes, DTypeLike, Function, Value


def without(a: Value, fill: float) -> tuple[Value, Value]:
    """`a` with `fill` for every NaN, and the mask of what is not NaN."""
    a = operand(a)
    kept = ~np.isnan(unrecorded(a))
    return (a if stack_of(kept).all() else np.where(kept, a, fill)), kept


def _filling(function: Function, fill: float) -> Function:
    """A handler: `function` of the array with NaN replaced by a neutral number."""

    def handler(a, *args, **kwargs):
        return function(without(a, fill)[0], *args, **kwargs)

    return handler


for _nan, _function, _fill in (
    (np.nansum, np.sum, 0), (np.nanprod, np.prod, 1), (np.nancumsum, np.cumsum, 0), (np.nancumprod, np.cumprod, 1),
):  # fmt: skip
    implements(_nan)(_filling(_function, _fill))


def _extreme(function: Function, fill: float) -> Function:
    """A handler like ``np.nanmax``; of nothing but NaN it is NaN, with NumPy's warning."""

    def handler(a, axis=None, out=None, keepdims=False, initial=None, where=True):
        a, kept = without(a, fill)
        y = function(a, axis, out, keepdims, initial, where)
        empty = ~np.any(kept, axis=axis, keepdims=keepdims)
        if initial is not None or not stack_of(empty).any():
            return y
        warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=2)
        return np.where(empty, np.nan, y)

    return handler


nanmax: Function = implements(np.nanmax)(_extreme(np.max, -np.inf))
nanmin: Function = implements(np.nanmin)(_extreme(np.min, np.inf))


@implements(np.nanmean)
def nanmean(
    a: Value, axis: Axes = None, dtype: DTypeLike | None = None, out: object = None, keepdims: bool = False, *,
    where: Value = True,
) -> Value:  # fmt: skip
    """``np.nanmean``."""
    refuse_out(out, "np.nanmean")
    a, kept = without(a, 0)
    kept = kept & unrecorded(where)
    return np.sum(a, axis, dtype=dtype, keepdims=keepdims, where=kept) / _number(a, axis, keepdims, kept)


def _moment(function: Function) -> Function:
    def handler(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=0):
        a, kept = without(a, 0)
        kept = kept & unrecorded(where)
        y = function(a, axis, dtype, out, ddof, keepdims, where=kept, mean=mean, correction=correction)
        free = freedom(_number(a, axis, keepdims, kept), ddof or correction) > 0
        return y if np.all(stack_of(free)) else np.where(free, y, np.nan)

    return handler


nanvar: Function = implements(np.nanvar)(_moment(np.var))
nanstd: Function = implements(np.nanstd)(_moment(np.std))
