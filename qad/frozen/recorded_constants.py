"""The plain arrays that a recorded function meets: constants of the program, each copied when it is met."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.frozen.program import Var

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Constants:
    """Copies of plain arrays; an array that is met again unchanged is the same constant.

    Attributes
    ----------
    values : dict of Var -> array
    arrays : list of arrays
        Those that were met, for changes to be noticed later.
    """

    def __init__(self, copies: Mapping[int, np.ndarray], refuse: Callable[..., Any]):
        self.values: dict[Var, np.ndarray] = {}
        self.arrays: list[np.ndarray] = []
        self._copies, self._refuse = copies, refuse
        self._known = {}  # id of an array -> its Var

    def var(self, array: np.ndarray) -> Var:
        """The Var of a plain array; its values are copied now, for the caller may change it later."""
        var = self._known.get(id(array))
        if var is not None and _same(self.values[var], array):
            return var
        if array.dtype.kind not in "biufc":
            self._refuse(
                f"the function uses an array of dtype {array.dtype}, and programs are made of numbers: write "
                "array.astype(float), or keep the objects in a list"
            )
        if own_arithmetic(type(array)):
            self._refuse(
                f"the function uses an array of the class {type(array).__name__}, which has arithmetic of its own; "
                "programs are made of NumPy's: write np.asarray(array), or pass it through the function as it is"
            )
        var, copy = Var.like(array), self._copies.get(id(array))
        shared = copy is not None and copy.strides == array.strides and _same(copy, array)
        self.values[var] = copy if shared else array.copy(order="K")
        self.arrays.append(array)  # which keeps its id from being used again
        self._known[id(array)] = var
        return var


@cache
def own_arithmetic(kind: type) -> bool:
    """Whether a class of arrays says itself what operators and functions make of it; NumPy's classes are followed."""
    if kind is np.ndarray or kind.__module__.partition(".")[0] == "numpy":
        return False
    return any(getattr(kind, name) is not getattr(np.ndarray, name) for name in _ARITHMETIC)


_ARITHMETIC = [
    "__array_ufunc__", "__array_function__", "__array_wrap__", "__getitem__", "__neg__", "__abs__",
    *(f"__{side}{name}__" for side in ("", "r") for name in ("add", "sub", "mul", "truediv", "pow", "matmul", "mod")),
    *(f"__{name}__" for name in ("lt", "le", "gt", "ge", "eq", "ne")),
]  # fmt: skip


def _same(one, two):
    return one.shape == two.shape and one.dtype == two.dtype and one.tobytes() == two.tobytes()
