"""Powers ``x ** p``, of real and complex bases and exponents.

    d(x^p) = p x^(p-1) dx + x^p log(x) dp

The first term is 0 where p = 0, the second where x = 0 < p; at ``0 ** 0``, where the power falls from 1 to 0, it is
-inf, the limit of the slope of ``x ** x``.  Real exponents of a negative real base have no
derivative: the second term is then NumPy's nan, with its warning; make the base complex.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import Tensor, attach, implements, quick, rule, square_of_root, unrecorded
from qad.rules.elementwise.complex import square

if TYPE_CHECKING:
    from qad.typing import Cotangent, Function, Rule, Value

_TINY = 1e-5  # an exponent below this may make up for a power that overflows


def base_rule(power: Function) -> Rule:
    """The rule of the base of `power`; of a tiny exponent by ``x^p / x``, whose derivatives do not overflow."""

    def rule(g, y, x, p):
        if type(p) in (int, float, complex) and (p == 0 or abs(p) > _TINY):
            return g * (p * power(x, p - 1.0)) if p else g * 0
        tiny = abs(unrecorded(p)) < _TINY
        if tiny is np.False_ or (type(tiny) is np.ndarray and not tiny.any()):  # the usual case
            return g * (p * power(x + ((x == 0) & (p == 0)), p - 1.0))
        tiny = tiny & (unrecorded(x) != 0)
        far = power(np.where(tiny, 1.0, x + ((x == 0) & (p == 0))), p - 1.0)
        return g * np.where(tiny, p * y / np.where(tiny, x, 1.0), p * far)

    return rule


def _exponent_rule(g: Cotangent, y: Value, x: Value, p: Value) -> Cotangent:
    x = x + ((x == 0) & (p.real > 0))
    if not isinstance(x, (int, float, complex)):
        x = x.astype(y.dtype, copy=False)  # as `power` read it: a single in double precision, a negative as complex
    elif y.dtype.kind == "c":
        x = complex(x)
    return g * (y * np.log(x))


def _raised(x: Value, p: Value) -> Value:
    """``x ** p``, whose square root of -inf is NaN, as NumPy has it for arrays but not for numbers."""
    return np.sqrt(x) if type(p) in (float, np.float64) and p == 0.5 else x**p


rule(np.power, base_rule(_raised), _exponent_rule, elementwise=True, fresh=True)
rule(np.float_power, base_rule(np.float_power), _exponent_rule, elementwise=True, fresh=True)

_general = quick(np.power, operator=operator.pow)
_quick = {2: square, 0.5: quick(np.sqrt)}
_double = quick(np.float_power)


def _power(x: Value, p: Value) -> Value:
    special = _quick.get(p) if type(p) in (int, float) else None
    if special:
        return special(x)
    root = _even(x, p)
    return _general(x, p) if root is None else _power(root, np.asarray(p)[()] // 2)


@implements(np.float_power)
def _float_power(x: Value, p: Value) -> Value:
    root = _even(x, p)
    return _double(x, p) if root is None else _double(root, np.asarray(p) // 2)


def _even(x: Value, p: Value) -> Value | None:
    """The square of `x` where it is a root, such as an absolute value, and `p` an even number; None elsewhere."""
    if type(p) is int or type(p) is float:
        return None if p % 2 or p == 0 or type(x) is not Tensor else square_of_root(x)
    if type(x) is not Tensor or not isinstance(p, (np.number, np.ndarray)) or not np.size(p):
        return None
    number = p if np.ndim(p) == 0 else p.flat[0]
    if np.iscomplexobj(number) or number == 0 or number % 2 or not np.all(p == number):
        return None
    return square_of_root(x)


attach("__pow__", _power)
attach("__rpow__", lambda p, x: _general(x, p))
implements(np.power)(_power)
