"""Elementwise functions: a line each.

The flag `elementwise` promises that the derivative of one output depends on the inputs at its own index and
that the rule is a multiplication ``g * w``: then forward mode is the same multiplication (and takes the real
part where the answer is real), and broadcasting is added at the door.  `g` may be a batch of cotangents, so it meets
one factor.  A formula is right at all magnitudes and in the whole plane, to second order, or it stands in `slopes`: the
sweeps of ``tests/rules/test_sweep.py`` compare them with mpmath.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import GradientTypeError
from qad.extend import implements, rule, shifted, value_of
from qad.rules.elementwise.constants import DEGREE, LN2, LN10, RADIAN
from qad.rules.elementwise.slopes import (
    logistic,
    per_gap,
    per_square,
    per_sum,
    root_above,
    root_below,
    root_beyond,
    sech,
    tanh_slope,
)

if TYPE_CHECKING:
    from qad.typing import Cotangent, Function, Rule, Value


def table(fn: Function, *rules: Rule | None, fresh: bool = True, **more: Function) -> None:
    """One line: an elementwise function and the rule of each argument; `more` of `rule`."""
    rule(fn, *rules, elementwise=True, fresh=fresh, **more)


def zero(g: Cotangent, y: Value, *args: Value) -> Cotangent:
    """The rule of an argument on which the function depends in steps."""
    return g * 0


def nonzero(x: Value) -> Value:
    """`x` with its zeros made harmless."""
    return x + (x == 0)


def per_size(a: Value, r: Value) -> Value:
    """``a / r``, and constant 0 where r is 0."""
    return a * (r != 0) / nonzero(r)


def apart(a: Value, b: Value, y: Value) -> Value:
    """``a - b``, which gives the share of exp(a) in ``exp(y) = exp(a) + exp(b)``; `a` itself where both terms are 0."""
    return a - np.where(np.isneginf(y), 0, b)


def cbrt_slope(g: Cotangent, y: Value, x: Value) -> Cotangent:
    """``1 / (3 y^2)``, by the reciprocal, whose derivative at 0 is infinite and not NaN."""
    r = np.reciprocal(y)
    return g * (r * r / 3)


def arctan_slope(g: Cotangent, y: Value, x: Value) -> Cotangent:
    """``1 / (1 + x^2)``."""
    return g * (per_gap(1j * x) if x.dtype.kind == "c" else per_sum(x))


def tan_slope(g: Cotangent, y: Value, x: Value) -> Cotangent:
    """``1 / cos(x)^2``: through the answer where that is real, which saves the cosine."""
    return g * sech(1j * x) ** 2 if x.dtype.kind == "c" else g * (1 + y * y)


def refuse_complex(x: Value, name: str) -> None:
    """Order has no derivative among complex numbers."""
    if x.dtype.kind == "c":
        raise GradientTypeError(
            f"{name} of complex numbers has no derivative: write np.{name} of x.real, of abs(x) or of qad.abs2(x)"
        )


def chosen(name: str, i: int) -> Rule:
    """The rule of argument `i` of a maximum or minimum: ties share equally."""

    def rule(g, y, *ab):
        refuse_complex(y, name)
        return g * ((ab[i] == y) - 0.5 * (ab[i] == ab[1 - i]))

    return rule


# -- arithmetic ----------------------------------------------------------------------------------------------
table(np.add, lambda g, y, a, b: g, lambda g, y, a, b: g, fresh=False)
table(np.subtract, lambda g, y, a, b: g, lambda g, y, a, b: -g, fresh=False)
table(np.divide, lambda g, y, a, b: g / b, lambda g, y, a, b: g * (-y / b))
table(np.remainder, lambda g, y, a, b: g, lambda g, y, a, b: -g * (a // b), fresh=False)
table(np.fmod, lambda g, y, a, b: g, lambda g, y, a, b: -g * np.rint((a - y) / b), fresh=False)
table(np.positive, lambda g, y, x: g, fresh=False)
table(np.negative, lambda g, y, x: -g)
table(np.square, lambda g, y, x: g * (2 * x))
table(np.reciprocal, lambda g, y, x: g * -(y * y))
table(np.sqrt, lambda g, y, x: g * (0.5 / y))
table(np.cbrt, cbrt_slope)
table(np.ldexp, lambda g, y, x, n: np.ldexp(g, n), zero)

# -- exponentials and logarithms -----------------------------------------------------------------------------
table(np.exp, lambda g, y, x: g * y)
table(np.exp2, lambda g, y, x: g * (LN2(y) * y))
table(np.expm1, lambda g, y, x: g * np.exp(x))
table(np.log, lambda g, y, x: g / x)
table(np.log2, lambda g, y, x: g / (LN2(x) * x))
table(np.log10, lambda g, y, x: g / (LN10(x) * x))
table(np.log1p, lambda g, y, x: g / (1 + x))
table(np.logaddexp, lambda g, y, a, b: g * logistic(apart(a, b, y)), lambda g, y, a, b: g * logistic(apart(b, a, y)))
table(
    np.logaddexp2,
    lambda g, y, a, b: g * logistic(LN2(y) * apart(a, b, y)),
    lambda g, y, a, b: g * logistic(LN2(y) * apart(b, a, y)),
)

# -- trigonometric and hyperbolic functions ------------------------------------------------------------------
table(np.sin, lambda g, y, x: g * np.cos(x))
table(np.cos, lambda g, y, x: g * -np.sin(x))
table(np.tan, tan_slope)
table(np.arcsin, lambda g, y, x: g / root_below(x))
table(np.arccos, lambda g, y, x: -g / root_below(x))
table(np.arctan, arctan_slope)
table(np.sinh, lambda g, y, x: g * np.cosh(x))
table(np.cosh, lambda g, y, x: g * np.sinh(x))
table(np.tanh, tanh_slope)
table(np.arcsinh, lambda g, y, x: g / root_above(x))
table(np.arccosh, lambda g, y, x: g / root_beyond(x))
table(np.arctanh, lambda g, y, x: g * per_gap(x))
table(np.arctan2, lambda g, y, a, b: g * per_square(b, a), lambda g, y, a, b: g * -per_square(a, b))
table(np.degrees, lambda g, y, x: g * RADIAN(x))
table(np.rad2deg, lambda g, y, x: g * RADIAN(x))
table(np.radians, lambda g, y, x: g * DEGREE(x))
table(np.deg2rad, lambda g, y, x: g * DEGREE(x))

# -- choices and steps, of real numbers ----------------------------------------------------------------------
for _function in (np.maximum, np.minimum, np.fmax, np.fmin):
    table(_function, chosen(_function.__name__, 0), chosen(_function.__name__, 1))
table(np.copysign, lambda g, y, x, s: g * np.sign(x) * np.copysign(1.0, s), zero)
table(np.heaviside, zero, lambda g, y, x, h: g * (x == 0))
table(np.nextafter, lambda g, y, x, towards: g, zero, fresh=False)
rule(
    np.unwrap,
    lambda g, y, p, *options, **more: g,  # whole turns are added, in steps
    elementwise=True,
    batch=lambda batched, p, discont=None, axis=-1, **more: np.unwrap(p, discont, shifted(axis, p.ndim), **more),
)


@implements(np.divmod)
def _divmod(a: Value, b: Value) -> tuple[Value, Value]:
    return np.floor_divide(a, b), np.remainder(a, b)


@implements(np.modf)
def _modf(x: Value) -> tuple[Value, Value]:
    whole = np.trunc(x)
    return x - whole, whole


@implements(np.frexp)
def _frexp(x: Value) -> tuple[Value, Value]:
    exponent = np.frexp(value_of(x))[1]
    return np.ldexp(x, -exponent), exponent
