"""The functions of Python that kernels may call: `range`, `len`, conversions, and some of `math`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from qad.native.values import Array, Complex, Number, Range, plain

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from qad.native.values import Value

    F = TypeVar("F", bound=Callable[..., Any])
    Rule = TypeVar("Rule", bound=Callable[..., Value])

__all__ = ["KNOWN", "inlined", "intrinsic"]


class intrinsic:
    """Decorate a function ``rule(code, *values)`` that writes instructions, so that kernels may call it."""

    emit: Callable[..., Value]

    def __init__(self, rule: Callable[..., Value]):
        self.emit, self.__doc__ = rule, rule.__doc__


def inlined(function: F) -> F:
    """Make a function part of each that calls it, although it has loops."""
    function.inlined = True
    return function


def known(function: Callable[..., Any]) -> Callable[[Rule], Rule]:
    """Register what stands for a function of Python's."""

    def decorate(rule):
        KNOWN[function] = rule
        return rule

    return decorate


KNOWN: dict[Callable[..., Any], Callable[..., Value]] = {}


@known(range)
def _range(code, *bounds):
    return Range(0, *bounds, 1) if len(bounds) == 1 else Range(*bounds, 1) if len(bounds) == 2 else Range(*bounds)


@known(len)
def _len(code, x):
    return x.shape[0] if isinstance(x, Array) else len(plain(x))


@known(enumerate)
def _enumerate(code, x):
    return tuple(enumerate(plain(x)))


@known(zip)
def _zip(code, *of):
    return tuple(zip(*map(plain, of), strict=True))


@known(complex)
def _complex(code, real, imag=0.0):
    return Complex(real, imag)


@known(float)
def _float(code, x):
    return code.cast(x, "double")


def _chosen(code, order, x, rest):
    for y in rest:
        if isinstance(x, Number) or isinstance(y, Number):
            x, y = code.common(x, y)
            other = code.binary(order, y, x)
            x = code.emit(x.type, f"select i1 {other.name}, {x.type} {y.name}, {x.type} {x.name}")
        else:
            x = min(x, y) if order == "Lt" else max(x, y)
    return x


@known(min)
def _min(code, x, y, *rest):
    return _chosen(code, "Lt", x, (y, *rest))


@known(max)
def _max(code, x, y, *rest):
    return _chosen(code, "Gt", x, (y, *rest))


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


@known(math.frexp)
def _frexp(code, x):
    """Its exponent is that of the smallest normal number for all that are below."""
    bits = code.emit("i64", f"bitcast double {code.cast(x, 'double').name} to i64")
    exponent = code.binary("BitAnd", code.binary("RShift", bits, 52), 2047)
    return None, code.binary("Sub", exponent, 1022)
