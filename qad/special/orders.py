"""Functions that are their own derivatives of every order, named by the function whose derivatives they are."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import operand, primitive, rule, value_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.typing import ArrayLike, Function, Value


def every_order(name: str) -> Callable[[Function], Function]:
    """A decorator of ``f(x, order)``, the derivative of `name` of this order, in double precision.

    It makes ``f(x, order=0)`` of the dtype of `x`, whose derivative is that of the next order.
    """

    def decorate(f: Function) -> Function:
        @primitive(name=name)
        @wraps(f)
        def derivative(x, *, order):
            y = f(x.astype(complex if x.dtype.kind == "c" else float), order)
            return (y if x.dtype.kind == "c" else y.real).astype(x.dtype)[()]

        rule(derivative, lambda g, y, x, order: g * derivative(x, order=order + 1), elementwise=True, fresh=True)
        return derivative

    return decorate


def inexact(x: ArrayLike) -> Value:
    """A number or an array as one of floating-point numbers."""
    x = operand(x)
    x = x if hasattr(x, "dtype") else np.asarray(x)
    return x if x.dtype.kind in "fc" else value_of(x) * 1.0
