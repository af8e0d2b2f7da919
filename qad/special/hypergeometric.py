"""Hypergeometric functions, holomorphic in the argument: the derivative raises every parameter by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import primitive
from qad.rules.elementwise.functions import table
from qad.special import scipys as special

if TYPE_CHECKING:
    from qad.typing import Value

_NEAR = 0.9  # from here on SciPy goes around z = 1
_WHOLE, _HALF_WHOLE = 1e-12, 1e-6  # up to here c - a - b counts as an integer; between the two no digits are left

table(special.hyp0f1, None, lambda g, y, v, z: g * (special.hyp0f1(v + 1, z) / v))
table(special.hyp1f1, None, None, lambda g, y, a, b, z: g * (a / b * special.hyp1f1(a + 1, b + 1, z)))


@primitive(name="hyp2f1")
def _hyp2f1(a: Value, b: Value, c: Value, z: Value) -> Value:
    """``hyp2f1``; near ``z = 1``, where ``c - a - b`` is an integer, by SciPy's function of complex numbers.

    The one of real numbers is inf or has few digits there, by the rounding of ``c - a - b``.
    """
    y = special.hyp2f1(a, b, c, z)
    off = abs(c - a - b - np.rint(c - a - b))
    near = (abs(z) > _NEAR) & (abs(z - 1) < 1) & (off < _HALF_WHOLE) & ~_ends(a, b, c)
    near = near if np.iscomplexobj(z) else near & (z < 1)
    if not np.any(near):
        return y
    if np.any(near & (off > _WHOLE)):
        raise ArgumentError(
            "hyp2f1 has no accurate derivative near z = 1 where c - a - b is nearly an integer: round its parameters"
        )
    around = special.hyp2f1(a, b, _rounded(a, b, c), np.where(near, z, 0.5) + 0j)
    return np.where(near, around if np.iscomplexobj(z) else around.real, y).astype(y.dtype)[()]


def _ends(a: Value, b: Value, c: Value) -> Value:
    """Where the series ends, or that of Euler's transformation: SciPy sums it."""
    return sum((x <= 0) & (x == np.rint(x)) for x in (a, b, c - a, c - b)) > 0


def _rounded(a: Value, b: Value, c: Value) -> Value:
    """`c` by some units of its last digit, such that ``c - a - b`` is an integer to SciPy."""
    whole = np.rint(c - a - b)
    c = best = whole + (a + b)
    for k in (-2, -1, 1, 2):
        other = c + k * np.spacing(c)
        best = np.where(abs(other - a - b - whole) < abs(best - a - b - whole), other, best)
    return best


for _function in (special.hyp2f1, _hyp2f1):
    table(_function, None, None, None, lambda g, y, a, b, c, z: g * (a * b / c * _hyp2f1(a + 1, b + 1, c + 1, z)))
