"""Tensor's arithmetic and comparison operators."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import attach, attach_operator, operand, quick, value_of

if TYPE_CHECKING:
    from qad.typing import Function

for _name, _ufunc in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("truediv", np.divide)):
    attach_operator(_name, _ufunc)
attach_operator("mod", np.remainder)
attach("__neg__", quick(np.negative, operator=operator.neg))
attach("__pos__", quick(np.positive))


def _bare(ufunc: np.ufunc) -> Function:
    """An operator without derivative: on the values, with a plain answer."""

    def bare(x, y):
        return ufunc(value_of(x), value_of(operand(y)))

    return bare


def _swapped(bare: Function) -> Function:
    return lambda y, x: bare(x, y)


for _name, _ufunc in (
    ("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal),
    ("gt", np.greater), ("ge", np.greater_equal),
):  # fmt: skip
    attach(f"__{_name}__", _bare(_ufunc))
for _name, _ufunc in (
    ("floordiv", np.floor_divide), ("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor),
    ("lshift", np.left_shift), ("rshift", np.right_shift),
):  # fmt: skip
    attach(f"__{_name}__", _bare(_ufunc))
    attach(f"__r{_name}__", _swapped(_bare(_ufunc)))
attach("__divmod__", lambda x, y: np.divmod(x, y))
attach("__rdivmod__", lambda y, x: np.divmod(x, y))
attach("__invert__", lambda x: np.invert(value_of(x)))
attach("__round__", lambda x, ndigits=0: np.round(value_of(x), ndigits or 0))
