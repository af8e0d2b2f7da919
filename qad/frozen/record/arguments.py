"""Arguments of a recorded call: the values that it is made with, and the Vars that stand for them in the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.tape.tensor import rebuild
from qad.frozen.program.program import Var
from qad.frozen.record.traced import Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PLAIN = frozenset((int, float, complex, bool, str, type(None), type(...)))


class Constants:
    """Copies of the plain arrays that a recorded function meets; one that is met again unchanged is the same constant.

    Attributes
    ----------
    values : dict of Var -> array
    arrays : list of arrays
        Those that were met, for changes to be noticed later.
    """

    def __init__(self, copies: Mapping[int, tuple[np.ndarray, bytearray]], refuse: Callable[..., Any]):
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
        if not type(array).__module__.startswith("numpy"):
            self._refuse(
                f"the function uses an array of the class {type(array).__name__}, which may have arithmetic of its "
                "own: write np.asarray(array)"
            )
        var = self._known[id(array)] = Var.like(array)
        self.values[var] = self._copy(array)
        self.arrays.append(array)  # which keeps its id from being used again
        return var

    def _copy(self, array):
        """The memory that a captured array is compared with, or a copy."""
        _, kept = self._copies.get(id(array), (None, None))
        if kept is not None and array.flags.c_contiguous and kept == array:
            return np.ndarray(array.shape, array.dtype, kept)
        return array.copy(order="K")


def _same(one, two):
    return one.shape == two.shape and one.dtype == two.dtype and one.tobytes() == two.tobytes()


def taken(x: Any, traced: list[Any], constants: Constants) -> tuple[Any, Any]:
    """Arguments as values, and as Vars where there are arrays.

    Parameters
    ----------
    x : arrays, in tuples, lists, dicts and slices
    traced : list
        The traced arrays among them are appended to it.
    constants : Constants
        Where the plain arrays among them become constants.

    Returns
    -------
    values, template
    """
    kind = type(x)
    if kind is Traced:
        traced.append(x)
        return x.value, x.symbol
    if kind in PLAIN:
        return x, x
    if isinstance(x, np.ndarray):
        return x, constants.var(x)
    if kind is slice:
        values, template = taken((x.start, x.stop, x.step), traced, constants)
        return slice(*values), slice(*template)
    if kind is dict:
        values, template = taken(list(x.values()), traced, constants)
        return dict(zip(x, values, strict=True)), dict(zip(x, template, strict=True))
    if kind is not list and not isinstance(x, tuple):
        return x, x
    pairs = [taken(each, traced, constants) for each in x]
    values, template = [value for value, _ in pairs], [symbol for _, symbol in pairs]
    if kind is list:
        return values, template
    return tuple(values) if kind is tuple else rebuild(x, values), tuple(template)
