"""The gamma function and its relatives."""

from __future__ import annotations

from math import factorial, pi
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import as_array, primitive, rule, unrecorded
from qad.rules.elementwise.functions import table
from qad.special import scipys as special
from qad.special.orders import every_order, inexact

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike, Value

_LARGE = 16  # from here on the asymptotic series has all digits
_TAYLOR = 24  # terms of a series in 1/5
_TERMS = special.bernoulli(32)[2::2]


@every_order("polygamma")
def polygamma_of(x: Value, order: int) -> Value:
    """The derivative of ``digamma`` of the given order, of real and complex numbers, also far out."""
    if order == 0:
        return _beside_poles(x, special.digamma(x))
    far = (x.real < -_LARGE) & (abs(x.imag) < _LARGE + order) & (x != np.rint(x))
    right = np.where(far, 1 - x, x)
    y = _of_complex(right, order) if x.dtype.kind == "c" else special.polygamma(order, right)
    if np.any(far):  # by psi_n(1 - x) - (-1)^n psi_n(x) = (-1)^n d^n/dx^n pi cot(pi x), DLMF 5.15.6
        y = np.where(far, (-1) ** order * y - _turns(np.where(far, x, 0.25), order), y)
    return y


def _of_complex(x: Value, order: int) -> Value:
    """``psi_n(z) = psi_n(z + 1) - (-1)^n n! / z^(n+1)`` until z is large, and from there the series of Stirling.

    That is Abramowitz and Stegun 6.4.11, which holds off the negative axis; powers of ``1 / z`` do not overflow.
    """
    z, total, sign = as_array(x).astype(complex), 0.0, (-1) ** order
    large = _LARGE + order
    while np.any(small := (z.real < large) & (abs(z.imag) < large)):
        total = total - np.where(small, sign * factorial(order) * (1 / np.where(small, z, 1)) ** (order + 1), 0)
        z = np.where(small, z + 1, z)
    u, series = 1 / z, 0.0
    for k, b in reversed(list(enumerate(_TERMS, 1))):
        series = (series + b * (factorial(2 * k + order - 1) / factorial(2 * k))) * u * u
    series = (factorial(order - 1) + factorial(order) / 2 * u + series) * u**order
    return total - sign * series


def _turns(x: Value, order: int) -> Value:
    """The derivative of ``pi cot(pi x)`` of this order, by ``sum_k k^n q^k`` in ``q = exp(2 pi i x)``."""
    up = np.where(x.imag < 0, -1, 1)
    turn = 2j * pi * up * (x - np.rint(x.real))
    q, rest, total, counts = np.exp(turn), -np.expm1(turn), 0.0, [1]
    for n in range(2, order + 1):  # the numbers of Euler
        counts = [(k + 1) * a + (n - k) * b for k, (a, b) in enumerate(zip([*counts, 0], [0, *counts], strict=True))]
    for count in counts:
        total = total * q + count
    return -2j * pi * up * (2j * pi * up) ** order * total * (q / rest) * (1 / rest) ** order


def _beside_poles(x: Value, y: Value) -> Value:
    """``y = digamma(x)``, of real negative `x` near an integer by reflection, where SciPy's has no digits left.

    ``psi(x) = psi(1 - x) - pi / tan(pi (x - k))`` for every integer k (Abramowitz and Stegun 6.3.7).
    """
    if np.iscomplexobj(x) or not np.any(beside := (x < -0.5) & (np.abs(x - np.rint(x)) < 0.1) & (x != np.rint(x))):
        return y
    at = np.where(beside, x, -0.75)
    return np.where(beside, special.digamma(1 - at) - pi / np.tan(pi * (at - np.rint(at))), y)


def polygamma(n: int, x: ArrayLike) -> Array:
    """The derivative of order `n` of ``digamma``, of real and complex numbers.

    Parameters
    ----------
    n : int
        The order, 0 or more.
    x : array_like
        Real or complex, of any shape.

    Returns
    -------
    ndarray or scalar of the dtype of `x`

    Raises
    ------
    ArgumentError
        If `n` is not one integer of 0 or more.

    Notes
    -----
    Of complex numbers by the recurrence ``psi_n(z) = psi_n(z + 1) - (-1)^n n! / z^(n+1)`` and the asymptotic series
    6.4.11 of Abramowitz and Stegun; far to the left by reflection.

    Examples
    --------
    >>> import numpy as np, qad
    >>> round(float(qad.special.polygamma(1, 1.0)), 12) == round(np.pi**2 / 6, 12)
    True
    """
    if not isinstance(n, (int, np.integer)) or n < 0:
        raise ArgumentError(f"the order of polygamma is one integer of 0 or more, not {n!r}")
    return polygamma_of(inexact(x), order=int(n))


def digamma(x: Value) -> Value:
    return polygamma_of(x, order=0)


def _beta(a: Value, b: Value, p: Value, q: Value) -> Value:
    """``a^(p-1) b^(q-1) / B(p, q)``, the density of betainc."""
    return np.exp(special.xlogy(p - 1, a) + special.xlogy(q - 1, b) - special.betaln(p, q))


def _gamma_density(a: Value, x: Value) -> Value:
    """``x^(a-1) exp(-x) / Gamma(a)``, the density of gammainc."""
    return np.exp(special.xlogy(a - 1, x) - x - special.gammaln(a))


def _rgamma_slope(y: Value, x: Value) -> Value:
    """``-y digamma(x)``, and to the left, where that has poles, the slope of ``sin(pi x) Gamma(1 - x) / pi``."""
    left = unrecorded(x).real < 0.5
    z = np.where(left, x, 0.0)
    turn = pi * (z - 2 * np.rint(0.5 * unrecorded(z).real))
    reflected = special.gamma(1 - z) * (np.cos(turn) - np.sin(turn) * digamma(1 - z) / pi)
    return np.where(left, reflected, -y * digamma(np.where(left, 1.0, x)))


table(special.gamma, lambda g, y, x: g * (y * digamma(x)))
table(special.rgamma, lambda g, y, x: g * _rgamma_slope(y, x))
table(special.gammaln, lambda g, y, x: g * digamma(x))
table(special.loggamma, lambda g, y, x: g * digamma(x))
table(special.digamma, lambda g, y, x: g * polygamma_of(x, order=1))


@primitive(name="digamma")
def polygamma_gap(a: Value, b: Value, *, order: int) -> Value:
    """``psi_n(a) - psi_n(a + b)`` of real numbers, for small b by Taylor's series, off the pole at 0."""
    near = (a > 0) & (a < 1)
    first = np.where(near, a + 1, a)
    small = (first > 0) & (abs(b) < 0.2 * first)
    total, power = 0.0, 1.0
    h, at = np.where(small, b, 0.0), np.where(small, first, 1.0)
    for k in range(1, _TAYLOR):
        power = power * h / k
        total = total - power * polygamma_of(at, order=order + k)
    y = np.where(small, total, polygamma_of(first, order=order) - polygamma_of(first + b, order=order))
    u, v, poles = 1 / np.where(near, a, 1.0), 1 / np.where(near, a + b, 1.0), 0.0
    for k in range(order + 1):
        poles = poles + u**k * v ** (order - k)
    return (y - np.where(near, (-1) ** order * factorial(order) * (b * v) * u * poles, 0))[()]


rule(
    polygamma_gap,
    lambda g, y, a, b, order: g * polygamma_gap(a, b, order=order + 1),
    lambda g, y, a, b, order: -g * polygamma_of(a + b, order=order + 1),
    elementwise=True,
    fresh=True,
)


def _gap(a: Value, b: Value) -> Value:
    """The slope of ``log B(a, b)`` by `a`."""
    return polygamma_gap(a, b, order=0)


table(special.beta, lambda g, y, a, b: g * (y * _gap(a, b)), lambda g, y, a, b: g * (y * _gap(b, a)))
table(special.betaln, lambda g, y, a, b: g * _gap(a, b), lambda g, y, a, b: g * _gap(b, a))
table(special.gammainc, None, lambda g, y, a, x: g * _gamma_density(a, x))
table(special.gammaincc, None, lambda g, y, a, x: -g * _gamma_density(a, x))
table(special.betainc, None, None, lambda g, y, a, b, x: g * _beta(x, 1 - x, a, b))
