"""Functions that stand in derivatives, where the plain formula cancels, overflows or leaves its branch.

``1 - tanh(x)^2`` has no digits for x = 20, ``1 / (1 + x^2)`` none near i, and both are NaN at ``1e200 (1 + i)``.  Each
function here is right in the whole plane, and so is its own derivative.  Products of roots keep to the branch that
NumPy took: ``sqrt(1 - z) sqrt(1 + z)`` for arcsin and arccos, ``sqrt(z - 1) sqrt(z + 1)`` for arccosh (Kahan, Branch
cuts for complex elementary functions, 1987).  Constants
are subtracted, never added, because ``-0 + 0`` loses the sign.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import Tensor, primitive, quick_with_metadata, rule, unrecorded

if TYPE_CHECKING:
    from qad.typing import Cotangent, Rule, Value

QUARTER_OF_THE_DIGITS = {np.dtype(kind): np.finfo(kind).eps ** 0.25 for kind in "efdg"}
ONES = {kind: np.ones((), kind) for kind in QUARTER_OF_THE_DIGITS}
_FAR = 20  # from here on exp(-2 x) is small against 1


@primitive(name="sech")
def sech(x: Value) -> Value:
    """``1 / cosh(x)``, without overflow."""
    if x.dtype.kind != "c":
        e = np.exp(-abs(x))
        return 2 * e / (1 + e * e)
    far = abs(x.real) > _FAR
    e = np.exp(np.where(far, np.where(x.real < 0, x, -x), 0))
    return np.where(far, 2 * e / (1 + e * e), 1 / np.cosh(np.where(far, 0, x)))[()]


@primitive(name="tanh")
def slope_of_tanh(x: Value, y: Value) -> Value:
    """``1 - y^2`` for the bare ``y = tanh(x)``; where that would lose a quarter of the digits, from `x`."""
    dtype = y.dtype
    if dtype.kind == "c":
        return sech(x) ** 2
    gap = ONES[dtype] - np.square(y) if type(y) is np.ndarray else 1 - y * y  # Python's 1 takes longer
    if _least(gap) > QUARTER_OF_THE_DIGITS[dtype]:
        return gap
    e = np.exp(-2 * abs(x))
    return 4 * e / (1 + e) / (1 + e)


def _least(x: Value) -> Value:
    """The least entry of real numbers that are at most 1, NaN if one is."""
    if not x.shape:
        return x
    if type(x) is np.ndarray and x.size:
        return x.item(x.argmin())  # a third of the time of x.min()
    return np.minimum.reduce(x, axis=None, initial=1)


@primitive(name="arctanh")
def per_gap(x: Value) -> Value:
    """``1 / (1 - x^2)``, the slope of arctanh."""
    return 1 / (1 - x) / (1 + x)


@primitive(name="arctan")
def per_sum(x: Value) -> Value:
    """``1 / (1 + x^2)`` of real numbers, the slope of arctan."""
    c = 1 / np.hypot(1, x)
    return c * c


@primitive(name="arcsin")
def root_below(x: Value) -> Value:
    """``sqrt(1 - x^2)``, as ``cos(arcsin(x))``."""
    return np.sqrt((1 - x) * (1 + x)) if x.dtype.kind != "c" else np.sqrt(-(x - 1)) * np.sqrt(x - (-1))


@primitive(name="arcsinh")
def root_above(x: Value) -> Value:
    """``sqrt(1 + x^2)``, as ``cosh(arcsinh(x))``: in the right half plane, to which a signed zero may belong."""
    if x.dtype.kind != "c":
        return np.hypot(1, x)
    x = np.where(np.signbit(x.real), -x, x)
    return (np.sqrt(x - 1j) * np.sqrt(x - (-1j)))[()]


@primitive(name="arccosh")
def root_beyond(x: Value) -> Value:
    """``sqrt(x^2 - 1)``, as ``sinh(arccosh(x))``."""
    return np.sqrt(x - 1) * np.sqrt(x - (-1))


@primitive(name="logistic")
def logistic(x: Value) -> Value:
    """``1 / (1 + exp(-x))`` of real numbers, without overflow."""
    return np.exp(np.minimum(x, 0)) / (1 + np.exp(-abs(x)))


def _shares(a: Value, b: Value) -> tuple[Value, Value, Value]:
    """``a / r``, ``b / r`` and ``r = hypot(a, b)``, which is 1 at the origin."""
    r = np.hypot(a, b)
    r = r + (r == 0)
    return a / r, b / r, r


@primitive(name="hypot")
def cosine(a: Value, b: Value) -> Value:
    """``a / hypot(a, b)``, and 0 at the origin."""
    return _shares(a, b)[0]


@primitive(name="arctan2")
def per_square(a: Value, b: Value) -> Value:
    """``a / (a^2 + b^2)``, and 0 at the origin."""
    c, _, r = _shares(a, b)
    return c / r


def _turn(sign: int) -> Rule:
    """The rule of one argument of `cosine`."""

    def rule(g, y, a, b):
        c, s, r = _shares(a, b)
        return g * ((s if sign > 0 else -c) * s / r)

    return rule


def _turn_per_size(along: bool) -> Rule:
    """The rule of one argument of `per_square`: ``(b^2 - a^2) / r^4`` and ``-2 a b / r^4``."""

    def rule(g, y, a, b):
        c, s, r = _shares(a, b)
        return g * ((((b - a) / r) * (b / r + c) if along else -2 * c * s) / r / r)

    return rule


for _function, _rule in (
    (sech, lambda g, y, x: g * (-y * np.tanh(x))),
    (per_gap, lambda g, y, x: g * (2 * x * y * y)),
    (per_sum, lambda g, y, x: g * (-2 * x * y * y)),
    (root_below, lambda g, y, x: g * (-x / y)),
    (root_above, lambda g, y, x: g * (x / y)),
    (root_beyond, lambda g, y, x: g * (x / y)),
    (logistic, lambda g, y, x: g * (y * logistic(-x))),
):
    rule(_function, _rule, elementwise=True, fresh=True)


def _turn_of_tanh(g: Cotangent, ans: Value, x: Value, y: Value) -> Cotangent:
    half = (np.tanh(x) if type(x) is Tensor else y) * ans
    return g * -(half + half)


rule(slope_of_tanh, _turn_of_tanh, None, elementwise=True, fresh=True)
_slope_of_tanh = quick_with_metadata(slope_of_tanh)


def tanh_slope(g: Cotangent, y: Value, x: Value) -> Cotangent:
    """``1 - tanh(x)^2``, given ``y = tanh(x)``."""
    if type(x) is np.ndarray is type(y):  # the usual case: nothing is recorded
        return g * slope_of_tanh.__wrapped__(x, y)
    y = unrecorded(y)
    return g * (_slope_of_tanh if type(x) is Tensor is not type(y) else slope_of_tanh)(x, y)


rule(cosine, _turn(1), _turn(-1), elementwise=True, fresh=True)
rule(per_square, _turn_per_size(True), _turn_per_size(False), elementwise=True, fresh=True)
