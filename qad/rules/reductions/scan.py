"""Sums and products along an axis, and differences.

The derivative of a product leaves one factor out.  It is formed from the products before and after each entry,
never by division, so that it is right at zeros, and being built of functions with rules, to every order.  Forward mode
divides where there are no zeros.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qad.core.errors import ArgumentError
from qad.extend import (
    AXIS,
    attach,
    implements,
    operand,
    primitive,
    refuse_out,
    rule,
    stack_of,
    unrecorded,
    value_of,
)
from qad.rules.making.casts import narrowed
from qad.rules.reductions.axes import count, present

if TYPE_CHECKING:
    from qad.typing import Axes, Cotangent, DTypeLike, Function, Tangent, Value


@primitive(name="cumsum")
def cumsum_over(x: Value, axis: int) -> Value:
    """Cumulative sum along one axis."""
    return np.cumsum(x, axis=axis)


@primitive(name="cumprod")
def cumprod_over(x: Value, axis: int) -> Value:
    """Cumulative product along one axis."""
    return np.cumprod(x, axis=axis)


@primitive(name="prod")
def prod_over(x: Value, axis: int) -> Value:
    """Product over one axis."""
    return np.multiply.reduce(x, axis=axis)


def _shifted(x: Value, fill: float, forward: bool) -> Value:
    """`x` shifted by one along its first axis, with `fill` where nothing comes in."""
    edge = np.full_like(x[:1], fill)
    return np.concatenate([edge, x[:-1]] if forward else [x[1:], edge])


def _before(x: Value) -> Value:
    """The product of all entries before each, along the first axis."""
    return cumprod_over(_shifted(x, 1, True), axis=0)


def _others(x: Value, axis: int) -> Value:
    """The products of all entries but each, along an axis."""
    x = np.moveaxis(x, axis, 0)
    after = np.flip(_before(np.flip(x, 0)), 0)
    return np.moveaxis(_before(x) * after, 0, axis)


def _recurrence(r: Value, a: Value) -> Value:
    """``r_i = g_i + a_i r_{i+1}``, by doubling: after step k each r_i has 2^k terms, each a_i 2^k factors."""
    n = 1
    while n < len(a):
        r = np.concatenate([r[:-n] + a[:-n] * r[n:], r[-n:]])
        a = np.concatenate([a[:-n] * a[n:], a[-n:]])
        n *= 2
    return r


def _cumprod_rule(g: Cotangent, y: Value, x: Value, axis: int) -> Cotangent:
    """``sum_{k >= i} g_k y_k / x_i`` without the division."""
    g, x = np.moveaxis(g, axis, 0), np.moveaxis(x, axis, 0)
    return np.moveaxis(_before(x) * _recurrence(g, _shifted(x, 0, False)), 0, axis)


def _divisible(x: Value) -> bool:
    """Whether no entry is so small that a quotient by it could overflow."""
    return bool(np.all(np.absolute(stack_of(x)) > np.sqrt(np.finfo(x.dtype).tiny)))


def _cumprod_forward(t: Tangent, y: Value, x: Value, axis: int) -> Tangent:
    """``t_k = x_k t_{k-1} + t_k y_{k-1}``: without zeros ``y cumsum(t / x)``."""
    if _divisible(x) and _divisible(y):
        return y * np.cumsum(t / x, axis)
    t, x = (np.flip(np.moveaxis(a, axis, 0), 0) for a in (t, x))
    moved = _recurrence(t * np.flip(_before(np.flip(x, 0)), 0), x)
    return np.moveaxis(np.flip(moved, 0), 0, axis)


def _prod_rule(g: Cotangent, y: Value, x: Value, axis: int) -> Cotangent:
    return np.expand_dims(g, axis) * _others(x, axis)


def _prod_forward(t: Tangent, y: Value, x: Value, axis: int) -> Tangent:
    if _divisible(x) and _divisible(y):
        return y * np.sum(t / x, axis)
    return np.sum(t * _others(x, axis), axis)


def _cumsum_rule(g: Cotangent, y: Value, x: Value, axis: int) -> Cotangent:
    return np.flip(cumsum_over(np.flip(g, axis), axis=axis), axis)


rule(cumsum_over, _cumsum_rule, linear=True, batch=AXIS)
rule(cumprod_over, _cumprod_rule, forward=_cumprod_forward, batch=AXIS, fresh=True)
rule(prod_over, _prod_rule, forward=_prod_forward, batch=AXIS, fresh=True)


@implements(np.prod)
def prod(
    a: Value, axis: Axes = None, dtype: DTypeLike | None = None, out: object = None, keepdims: bool = False,
    initial: Value = None, where: Value = True,
) -> Value:  # fmt: skip
    """``np.prod``."""
    refuse_out(out, "np.prod")
    a = a if dtype is None else np.astype(a, dtype)
    a = a if where is True else np.where(where, a, 1)
    axis = None if not a.ndim and axis in (0, -1) else axis  # NumPy lets a number have an axis here
    axes = present(axis, a.ndim)
    kept = tuple(n for i, n in enumerate(a.shape) if i not in axes)
    a = np.moveaxis(a, axes, range(-len(axes), 0)).reshape((*kept, count(a.shape, axis)))
    y = prod_over(a, axis=-1)
    if keepdims:
        y = np.expand_dims(y, axes)
    return narrowed(y if initial is None else y * initial, dtype)


def _cumulative(over: Function, name: str) -> Function:
    """A handler of the signature of ``np.cumsum``: without an axis the array is flattened."""

    def handler(a, axis=None, dtype=None, out=None):
        refuse_out(out, name)
        a = a if dtype is None else np.astype(a, dtype)
        flat = axis is None or (not a.ndim and axis in (0, -1))
        y = over(a.reshape(-1), axis=0) if flat else over(a, axis=axis)
        return narrowed(y, dtype)

    return handler


def _standard(over: Function, name: str, first: int) -> Function:
    """A handler of the array API's signature, that of ``np.cumulative_sum``."""

    def handler(
        a: Value, /, *, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None,
        include_initial: bool = False,
    ) -> Value:  # fmt: skip
        if axis is None and a.ndim > 1:
            raise ArgumentError(f"{name} of an array of {a.ndim} axes: say along which, axis=...")
        y = _cumulative(over, name)(a, axis, dtype, out)
        if not include_initial:
            return y
        axis = normalize_axis_index(axis or 0, y.ndim)
        start = np.full_like(unrecorded(y), first, shape=(*y.shape[:axis], 1, *y.shape[axis + 1 :]))
        return np.concatenate([start, y], axis)

    return handler


cumsum: Function = implements(np.cumsum)(_cumulative(cumsum_over, "np.cumsum"))
cumprod: Function = implements(np.cumprod)(_cumulative(cumprod_over, "np.cumprod"))
cumulative_sum: Function = _standard(cumsum_over, "np.cumulative_sum", 0)
cumulative_prod: Function = _standard(cumprod_over, "np.cumulative_prod", 1)
if hasattr(np, "cumulative_sum"):  # NumPy 2.1
    implements(np.cumulative_sum)(cumulative_sum)
    implements(np.cumulative_prod)(cumulative_prod)


def _pairs(x: Value, axis: int) -> tuple[Value, Value]:
    """All entries but the first along an axis, and all but the last."""
    x = np.moveaxis(x, axis, -1)
    return x[..., 1:], x[..., :-1]


@implements(np.diff)
def diff(a: Value, n: int = 1, axis: int = -1, prepend: Value = None, append: Value = None) -> Value:
    """``np.diff``; what is prepended or appended may be a number, or an array that fits."""
    if n == 0:  # as it is, without what was to stand around it
        return a
    if n < 0:
        raise ArgumentError(f"np.diff takes an order of 0 or more, not {n}")
    edges = [_edge(e, a, axis) for e in (prepend, append)]
    if prepend is not None or append is not None:
        a = np.concatenate([e for e in (edges[0], a, edges[1]) if e is not None], axis)
    for _ in range(n):
        later, earlier = _pairs(a, axis)
        a = np.moveaxis(later - earlier if a.dtype != bool else later != earlier, -1, axis)
    return a


def _edge(e: Value | None, a: Value, axis: int) -> Value | None:
    if e is None or np.ndim(value_of(e)):
        return e
    shape = list(a.shape)
    shape[axis] = 1
    return np.zeros_like(unrecorded(a), shape=tuple(shape)) + e


@implements(np.trapezoid)
def trapezoid(y: Value, x: Value = None, dx: Value = 1.0, axis: int = -1) -> Value:
    """``np.trapezoid``."""
    y = operand(y)
    if x is not None:
        x = operand(x)
        dx = np.diff(x) if x.ndim == 1 else np.moveaxis(np.diff(x, axis=axis), axis, -1)
    later, earlier = _pairs(y, axis)
    return np.sum((later + earlier) * dx * 0.5, axis=-1)


if hasattr(np, "trapz"):  # its name before NumPy 2.0, which some versions after that still have
    implements(np.trapz)(trapezoid)  # noqa: NPY201


attach("prod", prod)
attach("cumsum", cumsum)
attach("cumprod", cumprod)
