"""Arguments of a recorded call: the values that it is made with, and the Vars that stand for them in the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.tape.tensor import rebuild
from qad.frozen.traced import Traced

if TYPE_CHECKING:
    from qad.frozen.recorded_constants import Constants

PLAIN = frozenset((int, float, complex, bool, str, type(None), type(...)))


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
    values, template = [], []
    for each in x:
        value, symbol = taken(each, traced, constants)
        values.append(value)
        template.append(symbol)
    if kind is list:
        return values, template
    return tuple(values) if kind is tuple else rebuild(x, values), tuple(template)
