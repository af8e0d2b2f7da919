"""Orthogonal polynomials: the derivative of one family is another, of one degree less (Abramowitz and Stegun 22.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.extend import value_of
from qad.rules.elementwise import table
from qad.special.scipys import (
    eval_chebyt,
    eval_chebyu,
    eval_gegenbauer,
    eval_genlaguerre,
    eval_hermite,
    eval_hermitenorm,
    eval_jacobi,
    eval_laguerre,
    eval_legendre,
)  # fmt: skip

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
    return (2 - 4 * left) * _less(eval_gegenbauer, n - left * (2 * n + 2), 2, x)


table(eval_legendre, None, lambda g, y, n, x: g * _less(eval_gegenbauer, _positive(n), 1.5, x))
table(eval_chebyt, None, lambda g, y, n, x: g * (abs(value_of(n)) * _less(eval_chebyu, abs(value_of(n)), x)))
table(eval_chebyu, None, lambda g, y, n, x: g * _chebyu_slope(value_of(n), x))
table(eval_hermite, None, lambda g, y, n, x: g * (2 * n * _less(eval_hermite, n, x)))
table(eval_hermitenorm, None, lambda g, y, n, x: g * (n * _less(eval_hermitenorm, n, x)))
table(eval_laguerre, None, lambda g, y, n, x: -g * _less(eval_genlaguerre, n, 1, x))
table(eval_genlaguerre, None, None, lambda g, y, n, a, x: -g * _less(eval_genlaguerre, n, a + 1, x))
table(eval_gegenbauer, None, None, lambda g, y, n, a, x: g * (2 * a * _less(eval_gegenbauer, n, a + 1, x)))
table(
    eval_jacobi,
    None,
    None,
    None,
    lambda g, y, n, a, b, x: g * (0.5 * (n + a + b + 1) * _less(eval_jacobi, n, a + 1, b + 1, x)),
)
