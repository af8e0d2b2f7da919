"""Constants in the precision of an operand: a float, or more digits beside long doubles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.typing import Value


def exact(digits: str) -> Callable[[Value], float | np.longdouble]:
    """The real number of these digits, as a function of an array in whose precision it is asked for."""
    double, long = float(digits), np.longdouble(digits)
    return lambda x: long if x.dtype.char in "gG" else double


PI = exact("3.14159265358979323846264338327950288420")
LN2 = exact("0.69314718055994530941723212145817656808")
LN10 = exact("2.30258509299404568401799145468436420760")
DEGREE = exact("0.01745329251994329576923690768488612713")  # pi / 180
RADIAN = exact("57.29577951308232087679815481410517033241")  # 180 / pi
