"""Constants in the precision of an operand: a float, or more digits beside long doubles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from qad.typing import Value


class ExactConstant:
    """A real number given by its digits; ``constant(x)`` has the precision of `x`."""

    __slots__ = ("double", "long")
    double: float
    long: np.longdouble

    def __init__(self, digits: str):
        self.double, self.long = float(digits), np.longdouble(digits)

    def __call__(self, x: Value) -> float | np.longdouble:
        return self.long if x.dtype.char in "gG" else self.double


PI = ExactConstant("3.14159265358979323846264338327950288420")
LN2 = ExactConstant("0.69314718055994530941723212145817656808")
LN10 = ExactConstant("2.30258509299404568401799145468436420760")
DEGREE = ExactConstant("0.01745329251994329576923690768488612713")  # pi / 180
RADIAN = ExactConstant("57.29577951308232087679815481410517033241")  # 180 / pi
