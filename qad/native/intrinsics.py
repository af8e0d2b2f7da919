"""What kernels call of Python: ranges, sizes, and a little of `math`."""

import math
from typing import NamedTuple

from qad.native.values import Complex, Number

__all__ = ["KNOWN", "Range"]


class Range(NamedTuple):
    """A range; its step is positive if it is not known beforehand."""

    start: object
    stop: object
    step: object


def known(function):
    """Register what stands for a function of Python's."""

    def decorate(rule):
        KNOWN[function] = rule
        return rule

    return decorate


KNOWN = {}


@known(range)
def _range(code, *bounds):
    return Range(0, *bounds, 1) if len(bounds) == 1 else Range(*bounds, 1) if len(bounds) == 2 else Range(*bounds)


@known(len)
def _len(code, x):
    return x.shape[0] if hasattr(x, "shape") else len(x)


@known(enumerate)
def _enumerate(code, x):
    return tuple(enumerate(x))


@known(zip)
def _zip(code, *of):
    return tuple(zip(*of, strict=True))


@known(complex)
def _complex(code, real, imag=0.0):
    return Complex(real, imag)


@known(float)
def _float(code, x):
    return code.cast(x, "double")


def _chosen(code, order, x, rest):
    for y in rest:
        known = not isinstance(x, Number) and not isinstance(y, Number)
        if known:
            x = min(x, y) if order == "Lt" else max(x, y)
            continue
        x, y = code.common(x, y)
        first = code.binary(order, x, y)
        x = code.emit(x.type, f"select i1 {first.name}, {x.type} {x.name}, {x.type} {y.name}")
    return x


@known(min)
def _min(code, x, *rest):
    return _chosen(code, "Lt", x, rest)


@known(max)
def _max(code, x, *rest):
    return _chosen(code, "Gt", x, rest)


@known(abs)
def _abs(code, x):
    if not isinstance(x, Number):
        return abs(x)
    return _chosen(code, "Gt", x, (code.negative(x),))


@known(math.cos)
def _cos(code, x):
    return code.emit("double", f"call double @cos(double {code.cast(x, 'double').name})")


@known(math.sin)
def _sin(code, x):
    return code.emit("double", f"call double @sin(double {code.cast(x, 'double').name})")
