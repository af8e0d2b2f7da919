"""Orthogonal polynomials: the derivative of one family is another, of one degree less (Abramowitz and Stegun 22.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.extend import value_of
from qad.rules.elementwise.functions import table
from qad.special import scipys as special

if TYPE_CHECKING:
    from qad.typing import Function, Value


def _less(f: Function, n: Value, *args: Value) -> Value:
    """The function of degree n - 1, and 0 where n is 0; degrees between 0 and 1 have one less, too."""
    n = value_of(n)
    return f(n - (n != 0), *args) * (n != 0)


def _positive(n: Value) -> Value:
    """The degree at least -1/2 of the same Legendre function: ``P_n = P_{-n-1}``."""
    n = value_of(n)
    return n + (n < -0.5) * (-1 - 2 * n)


def _chebyu_slope(n: Value, x: Value) -> Value:
    """``2 C_{n-1}^(2)``, and ``U_n = -U_{-n-2}`` to the left of -1."""
    left = n < -1
    return (2 - 4 * left) * _less(special.eval_gegenbauer, n - left * (2 * n + 2), 2, x)


def _of_last(f: Function, slope: Function) -> None:
    """The rule of the last argument, of a ufunc whose degree and shape parameters are constants."""
    table(f, *[None] * (f.nin - 1), lambda g, y, *args: g * slope(*args))


_of_last(special.eval_legendre, lambda n, x: _less(special.eval_gegenbauer, _positive(n), 1.5, x))
_of_last(special.eval_chebyt, lambda n, x: abs(value_of(n)) * _less(special.eval_chebyu, abs(value_of(n)), x))
_of_last(special.eval_chebyu, lambda n, x: _chebyu_slope(value_of(n), x))
_of_last(special.eval_hermite, lambda n, x: 2 * n * _less(special.eval_hermite, n, x))
_of_last(special.eval_hermitenorm, lambda n, x: n * _less(special.eval_hermitenorm, n, x))
_of_last(special.eval_laguerre, lambda n, x: -_less(special.eval_genlaguerre, n, 1, x))
_of_last(special.eval_genlaguerre, lambda n, a, x: -_less(special.eval_genlaguerre, n, a + 1, x))
_of_last(special.eval_gegenbauer, lambda n, a, x: 2 * a * _less(special.eval_gegenbauer, n, a + 1, x))
_of_last(
    special.eval_jacobi,
    lambda n, a, b, x: 0.5 * (n + a + b + 1) * _less(special.eval_jacobi, n, a + 1, b + 1, x),
)
