"""Functions that write into an argument: their calls with `out` as a keyword and the target as the first argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.frozen.functions import MUTATING

OUT = {  # methods of arrays and the place of `out` among their arguments
    "all": 1, "any": 1, "argmax": 1, "argmin": 1, "choose": 1, "clip": 2, "compress": 2, "cumprod": 2, "cumsum": 2,
    "dot": 1, "max": 1, "mean": 2, "min": 1, "prod": 2, "round": 1, "std": 2, "sum": 2, "take": 2, "trace": 4, "var": 2,
}  # fmt: skip

COMPILED: dict[Callable[..., Any], tuple[str, ...]] = {  # functions that do not say what their arguments are called
    np.concatenate: ("arrays", "axis", "out"), np.dot: ("a", "b", "out"), np.copyto: ("dst",), np.putmask: ("a",),
}  # fmt: skip


def with_keywords(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a NumPy function, an `out` given by its place as a keyword, what it writes into as the first."""
    if function is np.nan_to_num and not (args[1] if len(args) > 1 else kwargs.get("copy", True)):
        raise ArgumentError("qad.freeze: np.nan_to_num(x, copy=False) is not recorded: write x[...] = np.nan_to_num(x)")
    names = _names(function)
    if function in MUTATING and not args:
        return (kwargs[names[0]],), {key: x for key, x in kwargs.items() if key != names[0]}
    if "out" in names and names.index("out") < len(args):
        place = names.index("out")
        if args[place] is not None:
            kwargs = {**kwargs, **dict(zip(names[place:], args[place:], strict=False))}
            return args[:place], kwargs
    return args, kwargs


@cache
def _names(function):
    """Names of the arguments that may be given by their place."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return COMPILED.get(function, ())
    return tuple([p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)])


def refuse_out(name: str, args: tuple[Any, ...]) -> None:
    """Raise where a method is given an array to write into."""
    place = OUT.get(name)
    if place is not None and len(args) > place and args[place] is not None:
        raise ArgumentError(
            f"qad.freeze: an array for the result of x.{name} is not recorded: write y[...] = x.{name}()"
        )
