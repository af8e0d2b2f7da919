"""Functions of the order of real numbers: extremes, sorting, clipping.

Where several entries are equal they share the derivative equally: that is the mean over the ways to order them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import (
    AXIS,
    attach,
    implements,
    primitive,
    quick_with_metadata,
    refuse_out,
    rule,
    spread_out,
    stack_of,
    unrecorded,
    value_of,
)
from qad.rules.elementwise.functions import refuse_complex
from qad.rules.reductions.axes import of_nothing
from qad.rules.reductions.reduce import spread, weighted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Axes, Cotangent, Function, Tangent, Value


def max_over(x: Value, axis: Axes = None, keepdims: bool = False) -> Value:
    """``x.max(axis, keepdims)``."""
    return np.maximum.reduce(x, axis=axis, keepdims=keepdims)


def min_over(x: Value, axis: Axes = None, keepdims: bool = False) -> Value:
    """``x.min(axis, keepdims)``."""
    return np.minimum.reduce(x, axis=axis, keepdims=keepdims)


def _shares(name: str) -> Function:
    """Where the extreme is attained, and how many entries attain it."""

    def shares(y, x, axis, keepdims):
        refuse_complex(x, name)
        attained = x == spread(y, shape=x.shape, axis=axis, keepdims=keepdims)
        return attained, np.sum(attained, axis=axis, keepdims=keepdims, dtype=x.dtype)

    return shares


weighted(max_over, _shares("max"), "max")
weighted(min_over, _shares("min"), "min")


def _extreme(over: Function, pick: np.ufunc, name: str) -> Function:
    """A handler of the signature of ``np.max``; `pick` is the extreme of two."""
    over = quick_with_metadata(over)

    def handler(a, axis=None, out=None, keepdims=False, initial=None, where=True):
        refuse_out(out, name)
        if where is not True:
            if initial is None:
                raise ArgumentError(f"{name}(..., where=mask) needs initial=, the value of what is left out")
            a = np.where(where, a, initial)
        if initial is None:
            return over(a, axis, keepdims)
        y = of_nothing(a, axis, keepdims, initial)
        return pick(over(a, axis, keepdims), initial) if y is None else y

    return handler


max: Function = implements(np.max)(implements(np.amax)(_extreme(max_over, np.maximum, "np.max")))
min: Function = implements(np.min)(implements(np.amin)(_extreme(min_over, np.minimum, "np.min")))


@implements(np.ptp)
def ptp(a: Value, axis: Axes = None, out: object = None, keepdims: bool = False) -> Value:
    """``np.ptp``: the largest minus the smallest."""
    return max(a, axis, out, keepdims) - min(a, axis, out, keepdims)


# -- sorting -------------------------------------------------------------------------------------------------
@primitive(name="sort")
def sort_along(x: Value, axis: int) -> Value:
    """Sorted along one axis."""
    return np.sort(x, axis=axis)


@primitive(name="sort")
def share_ties(g: Value, groups: Value) -> Value:
    """The mean of `g` over each group of entries; `groups`, of the shape of `g`, numbers them."""
    numbers = np.maximum(np.bincount(groups.ravel()), 1)
    sums = np.bincount(groups.ravel(), weights=g.ravel()).astype(g.dtype)
    return (sums / numbers)[groups].astype(g.dtype)


def _share_ties(batched: Sequence[bool], g: Value, groups: Value) -> Value:
    """Groups of different examples are numbered differently."""
    g, groups = spread_out((*batched, False)[:2], (g, groups))
    first = np.arange(len(groups)).reshape((-1,) + (1,) * (groups.ndim - 1))
    return share_ties(g, groups + first * (groups.max(initial=0) + 1))


rule(share_ties, lambda g, y, x, groups: share_ties(g, groups), linear=True, batch=_share_ties, fresh=True)


def _shared(g: Cotangent, y: Value, axis: int) -> Cotangent:
    """`g` with the mean over equal entries of the sorted `y` in their place."""
    equal = np.diff(np.moveaxis(unrecorded(y), axis, -1)) == 0
    if not stack_of(equal).any():
        return g
    steps = np.concatenate([np.ones_like(equal[..., :1]), ~equal], axis=-1)
    groups = np.cumsum(steps).reshape(steps.shape) - 1
    return share_ties(g, np.moveaxis(groups, -1, axis))


def _sort_rule(g: Cotangent, y: Value, x: Value, axis: int) -> Cotangent:
    refuse_complex(x, "sort")
    places = np.argsort(np.argsort(x, axis=axis), axis=axis)
    return np.take_along_axis(_shared(g, y, axis), places, axis=axis)


def _sort_forward(t: Tangent, y: Value, x: Value, axis: int) -> Tangent:
    refuse_complex(x, "sort")
    return _shared(np.take_along_axis(t, np.argsort(x, axis=axis), axis=axis), y, axis)


rule(sort_along, _sort_rule, forward=_sort_forward, batch=AXIS, fresh=True)


@implements(np.sort)
def sort(
    a: Value, axis: int | None = -1, kind: str | None = None, order: object = None, *, stable: bool | None = None,
    descending: bool | None = None,
) -> Value:  # fmt: skip
    """``np.sort`` of real numbers; `kind` and `stable` make no difference to values, NaNs are last in both orders."""
    a, axis = (a.reshape(-1), 0) if axis is None else (a, axis)
    return -sort_along(-a, axis=axis) if descending else sort_along(a, axis=axis)


@implements(np.partition)
def partition(a: Value, kth: Value, axis: int | None = -1, kind: str = "introselect", order: object = None) -> Value:
    """``np.partition`` of real numbers."""
    refuse_complex(a, "partition")
    if axis is None:
        a, axis = a.reshape(-1), 0
    return np.take_along_axis(a, np.argpartition(unrecorded(a), value_of(kth), axis, kind), axis)


@implements(np.clip)
def clip(
    a: Value, a_min: Value = None, a_max: Value = None, out: object = None, *, min: Value = None,
    max: Value = None,
) -> Value:  # fmt: skip
    """``np.clip``; at a bound the argument and the bound share the derivative."""
    refuse_out(out, "np.clip")
    low, high = min if a_min is None else a_min, max if a_max is None else a_max
    a = a if low is None else np.maximum(a, low)
    return a if high is None else np.minimum(a, high)


attach("max", max)
attach("min", min)
attach("clip", clip)
