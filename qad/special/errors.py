"""The error function and its relatives, on the real line and in the complex plane: a line each."""

from __future__ import annotations

from math import pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import primitive, rule
from qad.rules.elementwise.functions import table
from qad.special import scipys as special
from qad.special.faddeeva import dawsn_derivative, erfcx_derivative, gauss

if TYPE_CHECKING:
    from qad.typing import Cotangent, Value

_C = 2 / sqrt(pi)
_ROOT = sqrt(0.5)
_FAR = 1e8  # from here on the slope of the inverse Mills ratio is -1

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
    plain, far = _plain(x), abs(x) > _FAR
    slope = np.where(far, 1.0, m) * erfcx_derivative(np.where(plain & ~far, -_ROOT * x, 1.0), order=1)
    left = np.where(far, -1.0, m * slope / _C)
    return g * np.where(plain, left, -m * (m + x))


rule(inverse_mills, _inverse_mills_rule, elementwise=True, fresh=True)
