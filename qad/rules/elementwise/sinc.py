"""``sinc`` and its derivatives of every order, exact at zero; ``i0``."""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import primitive, rule
from qad.rules.elementwise.constants import PI

if TYPE_CHECKING:
    from qad.typing import Cotangent, Value

_TERMS = 16  # of the series, which serves up to |x| = 1; 22 give the digits of long doubles


@primitive(name="sinc")
def sinc_derivative(x: Value, order: int) -> Value:
    r"""The derivative of ``np.sinc`` of the given order.

    From ``x sinc(x) = sin(pi x) / pi``, differentiated n times: ``x s_n + n s_{n-1} = pi^{n-1} sin(pi x + n pi/2)``.
    That recursion loses its digits below ``|x| = 1``, where the power series is summed instead.
    """
    small, pi = abs(x) <= 1, PI(x)
    far = np.where(small, 2.0, x)
    waves = _waves(far, pi)
    s = waves[0] / (pi * far)
    for n in range(1, order + 1):
        s = (pi ** (n - 1) * waves[n % 4] - n * s) / far
    return np.where(small, _series(np.where(small, x, 0.0), order), s)[()]


def _waves(x: Value, pi: Value) -> tuple[Value, Value, Value, Value]:
    """``sin(pi x + n pi/2)`` for n = 0 to 3; whole turns are taken off before pi is rounded."""
    turn = pi * (np.fmod(x.real, 2) + 1j * x.imag if x.dtype.kind == "c" else np.fmod(x, 2))
    sine, cosine = np.sin(turn), np.cos(turn)
    return sine, cosine, -sine, -cosine


def _series(x: Value, order: int) -> Value:
    """``sum_k (-pi^2)^k / (2k+1)! d^order x^2k``, by Horner's rule in x^2."""
    first, pi = (order + 1) // 2, PI(x)
    x2, total = x * x, 0.0
    for k in reversed(range(first, first + _TERMS + (6 if type(pi) is not float else 0))):
        coefficient = (-(pi**2)) ** k / factorial(2 * k + 1) * (factorial(2 * k) // factorial(2 * k - order))
        total = total * x2 + coefficient
    return total * x if order % 2 else total


rule(
    sinc_derivative,
    lambda g, y, x, order: g * sinc_derivative(x, order=order + 1),
    elementwise=True,
    fresh=True,
)
rule(np.sinc, lambda g, y, x: g * sinc_derivative(x, order=1), elementwise=True, fresh=True)


def _i0_rule(g: Cotangent, y: Value, x: Value) -> Cotangent:
    from scipy import special  # loaded where it is needed

    return g * special.i1(x)


rule(np.i0, _i0_rule, elementwise=True, fresh=True)
