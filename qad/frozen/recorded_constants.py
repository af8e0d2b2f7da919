"""The plain arrays that a recorded function meets: constants of the program, each copied when it is met."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qad.frozen.program import Var

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np


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
        var, copy = Var.like(array), self._copies.get(id(array))
        shared = copy is not None and copy.strides == array.strides and _same(copy, array)
        self.values[var] = copy if shared else array.copy(order="K")
        self.arrays.append(array)  # which keeps its id from being used again
        self._known[id(array)] = var
        return var


def _same(one, two):
    return one.shape == two.shape and one.dtype == two.dtype and one.tobytes() == two.tobytes()
