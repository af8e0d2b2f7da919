"""The error function and its relatives, on the real line and in the complex plane: their derivatives of every order.

    w(z) = exp(-z^2) erfc(-iz),  w' = 2i/sqrt(pi) - 2 z w,  w^(n+1) = -2 z w^(n) - 2 n w^(n-1)

That recursion loses ``|z|^2`` in digits at every step where w is not large.  From ``|z| = 10`` on the asymptotic series
is differentiated instead (Abramowitz and Stegun 7.1.23, DLMF 7.12.1).
"""

from __future__ import annotations

from math import pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import primitive, rule
from qad.rules.elementwise.functions import table
from qad.special import scipys as special
from qad.special.orders import every_order

if TYPE_CHECKING:
    from qad.typing import Cotangent, Value

_C = 2 / sqrt(pi)
_ROOT = sqrt(0.5)
_FAR, _TERMS = 10, 20
_EDGE = 40  # from here on exp(-x^2) is 0
_FLAT = 1e8  # from here on the slope of the inverse Mills ratio is -1


@primitive(name="exp")
def gauss(x: Value) -> Value:
    """``exp(-x^2)``; of complex numbers ``|exp(-x^2)|`` and the phase apart, for the square overflows or cancels."""
    if x.dtype.kind != "c":
        x = np.minimum(abs(x), _EDGE)
        return np.exp(-x * x)
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.exp((x.imag - x.real) * (x.imag + x.real))
        turn = np.where(size == 0, 0.0, -2 * x.real * x.imag)
        return np.where(turn == 0, size, size * np.exp(1j * turn)).astype(x.dtype)[()]


rule(gauss, lambda g, y, x: g * (-2 * x * y), elementwise=True, fresh=True)


@every_order("erfcx")
def erfcx_derivative(x: Value, order: int) -> Value:
    """The derivative of ``erfcx(x) = w(ix)`` of this order."""
    left = x.real < 0
    with np.errstate(over="ignore", invalid="ignore"):
        y = np.where(left, (-1) ** order, 1) * _of_the_right(np.where(left, -x, x), order)
        if np.any(left):  # erfcx(x) = 2 exp(x^2) - erfcx(-x); 1j * x of a number is Python's
            y = np.where(left, 2 * _recursion(x, order, 1.0, 2) * gauss(x * 1j) - y, y)
    return y


def _of_the_right(x: Value, order: int) -> Value:
    """`erfcx_derivative` in the right half plane: by the recursion, and far out by the series."""
    far = abs(x) >= _FAR
    near = np.where(far, 1.0, x)
    y = _recursion(near, order, special.erfcx(near), 2, -_C)
    return np.where(far, _series(np.where(far, x, _FAR), order), y)


def _recursion(x: Value, order: int, y: Value, slope: int, start: float = 0.0) -> Value:
    """The derivative of this order of the function of value `y` at `x` that obeys ``y' = slope x y + start``."""
    before = 0.0
    for n in range(order):
        before, y = y, slope * (x * y + n * before) + (start if n == 0 else 0)
    return y


def _series(x: Value, order: int, first: float = 0.5 * _C, sign: int = -1) -> Value:
    """``first sum_k sign^k (1/2)_k x^-(2k+1)``, differentiated."""
    u, total, factors = 1 / x, 0.0, [first]
    for k in range(_TERMS):
        factors.append(sign * factors[-1] * (k + 0.5))
    for k in reversed(range(_TERMS)):
        total = total * u * u + factors[k] * np.prod(np.arange(2 * k + 1.0, 2 * k + 1 + order))
    for _ in range(order + 1):
        total = total * u
    return (-1) ** order * total


@every_order("dawsn")
def dawsn_derivative(x: Value, order: int) -> Value:
    """The derivative of ``dawsn`` of this order: ``F = i sqrt(pi)/2 (exp(-x^2) - w(x))``, ``F' = 1 - 2 x F``."""
    far = abs(x) >= _FAR
    near = np.where(far, 1.0, x)
    y = _recursion(near, order, special.dawsn(near), -2, 1.0)
    if x.dtype.kind != "c":
        return np.where(far, _series(np.where(far, x, _FAR), order, 0.5, 1), y)
    if np.any(far):  # by the upper half plane, for it is odd
        sign = np.where(x.imag < 0, -1.0, 1.0)
        z = np.where(far, sign * x, _FAR)
        with np.errstate(over="ignore", invalid="ignore"):
            w = (-1j) ** order * _of_the_right(-1j * z, order)
            growth = 1j**order * _recursion(1j * z, order, 1.0, 2) * gauss(z)
            y = np.where(far, sign ** (order + 1) * (1j / _C * (growth - w)), y)
    return y


table(special.erf, lambda g, y, x: g * (_C * gauss(x)))
table(special.erfc, lambda g, y, x: g * (-_C * gauss(x)))
table(special.erfcx, lambda g, y, x: g * erfcx_derivative(x, order=1))
table(special.erfi, lambda g, y, x: g * (_C * np.exp(x * x)))
table(special.erfinv, lambda g, y, x: g * (np.exp(y * y) / _C))
table(special.erfcinv, lambda g, y, x: -g * (np.exp(y * y) / _C))
table(special.dawsn, lambda g, y, x: g * dawsn_derivative(x, order=1))
table(special.wofz, lambda g, y, z: g * (-1j * erfcx_derivative(z * -1j, order=1)))
table(special.ndtr, lambda g, y, x: g * (0.5 * _C * _ROOT * gauss(_ROOT * x)))
table(special.log_ndtr, lambda g, y, x: g * inverse_mills(x))
table(special.ndtri, lambda g, y, p: g * (sqrt(2 * pi) * np.exp(0.5 * y * y)))


@primitive(name="log_ndtr")
def inverse_mills(x: Value) -> Value:
    """The density of the normal distribution over its integral: ``sqrt(2/pi) / erfcx(-x / sqrt(2))``.

    In the right half plane erfcx overflows, and is written as ``2 exp(x^2/2) - erfcx(x / sqrt(2))``.
    """
    plain, e = _plain(x), gauss(_ROOT * x)
    left = _C * _ROOT / special.erfcx(np.where(plain, -_ROOT * x, 1.0))
    right = _C * _ROOT * e / (2 - e * special.erfcx(np.where(plain, 1.0, _ROOT * x)))
    return np.where(plain, left, right).astype(x.dtype)[()]


def _plain(x: Value) -> Value:
    """Where erfcx(-x / sqrt(2)) is not large."""
    return (x.real <= 0) | (abs(x.imag) > x.real) if x.dtype.kind == "c" else x <= 0


def _inverse_mills_rule(g: Cotangent, m: Value, x: Value) -> Cotangent:
    """``m' = -m (m + x)``, to the left by the derivative of erfcx, for there the sum cancels; far out it is -1."""
    plain, far = _plain(x), abs(x) > _FLAT
    slope = np.where(far, 1.0, m) * erfcx_derivative(np.where(plain & ~far, -_ROOT * x, 1.0), order=1)
    left = np.where(far, -1.0, m * slope / _C)
    return g * np.where(plain, left, -m * (m + x))


rule(inverse_mills, _inverse_mills_rule, elementwise=True, fresh=True)
