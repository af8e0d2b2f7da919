"""What Python asks of a traced array: a truth, an integer, a text, a plain array.  Replays check it, or it is refused.

Each function takes the `qad.frozen.traced.Traced`, whose recorder adds the guard, or refuses.
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from qad.frozen.caller import asked_by_us, depth, is_ours, whereabouts
from qad.frozen.guards import outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    Traced: TypeAlias = Any  # of traced.py, which imports this file


ASKED = frozenset(("__copy__", "__deepcopy__", "__dlpack__", "__dlpack_device__"))  # attributes, by users


class Lacking(AttributeError, TypeError):
    """A plain number has no such attribute; a call such as ``len(x)`` meets it as a TypeError."""


class OfArrays:
    """An attribute of traced arrays that numbers of these kinds have not, so that duck typing takes the same branch."""

    __slots__ = ("attribute", "name", "kinds")

    def __init__(self, attribute: Any, name: str, kinds: Collection[str]):
        self.attribute: Any = attribute
        self.name: str = name
        self.kinds: frozenset[str] = frozenset(kinds)

    def __get__(self, x: Any, owner: Any = None) -> Any:
        if x is None:
            return self.attribute
        kind = x.symbol.kind
        if kind in self.kinds and not asked_by_us():
            x.recorder.place = _place() if self.name == "__iter__" else None
            missing(x, self.name)
        if kind == "scalar" and self.name == "__getitem__" and x.recorder.place == _place():
            raise Lacking("not iterable")  # iter(x), which has found no __iter__ just now
        return self.attribute.__get__(x, owner)

    def __set__(self, x: Any, value: Any) -> None:
        self.attribute.__set__(x, value)


def _place():
    """The instruction that looks for an attribute."""
    frame = sys._getframe(2)
    return id(frame), frame.f_lasti


def decide(x: Traced, kind: str) -> Any:
    """The outcome of a decision on `x`, as a Python value; replays check it."""
    if x.recorder.running:
        if kind == "float":
            warnings.warn(
                f"qad.freeze: float() or .item() of a traced value, {whereabouts()}, makes a constant of it: every "
                "other value will be recorded anew. Keep it an array (np.sqrt, not math.sqrt), or return it",
                RuntimeWarning,
                stacklevel=depth(),
            )
        x.recorder.guard(x.symbol, _outcome(x, kind))
    return bool(x.value) if kind == "bool" else int(x.value) if kind == "int" else complex(x.value)


def _outcome(x, kind):
    """The outcome of a decision; where the value has none (the integer of NaN), the function may catch the error."""
    try:
        return outcome(x.value, kind)
    except (ValueError, OverflowError) as error:
        if x.size == 1:
            x.recorder.failure = f"{kind}() of a traced value raised {type(error).__name__}, and the function caught it"
        raise


def shown(x: Traced, show: Callable[[Any], str]) -> str:
    """The text of a traced array, for messages of ours; a program made from a user's would always be the same."""
    if x.recorder.running and not is_ours():
        x.recorder.refuse(
            f"text was made of a traced value, at {whereabouts()}, and a replay would not make it anew: leave the "
            "printing out, or return the value and print it outside"
        )
    return show(x.value)


def missing(x: Traced, name: str) -> NoReturn:
    """Raise for an attribute that a traced value has not; where the plain one has it, the function may not go on."""
    kind = type(x.value)
    if x.symbol.kind != "array" and not hasattr(kind, name):
        error = Lacking if name.startswith("__") else AttributeError
        raise error(f"{kind.__name__!r} object has no attribute {name!r}")
    message = (
        f"a traced array has no {name!r}: use NumPy's functions, or wrap what needs it in qad.extend.primitive, so "
        "that it becomes one step"
    )
    asked = not name.startswith("__") or name in ASKED  # NumPy asks for the others
    if asked and hasattr(kind, name) and x.recorder.running and not is_ours():
        x.recorder.refuse(message, AttributeError)
    raise AttributeError(f"qad.freeze: {message}")


def forced(x: Traced) -> np.ndarray:
    """A traced array that something wants as a plain one: integers and truths become a guard, others are refused."""
    if x.dtype.kind not in "biu" or not x.recorder.running:
        x.recorder.refuse(
            "a traced array was forced into a plain one, and what is computed from that would be lost "
            "to the program: use NumPy's functions (np.stack for a list of arrays, np.take for table[i], "
            "np.zeros_like for an array to write into), and wrap SciPy's routines and the like in "
            "qad.extend.primitive or qad.extend.opaque, so that they become one step. Iterations until convergence "
            "(fixed_point, dominant_eig, lowest_eig, linear_solve) cannot be frozen, for their length depends on "
            "values: freeze the function that they call, or make one step of them with qad.extend.opaque"
        )
    x.recorder.guard(x.symbol, outcome(x.value, "array"))
    return np.array(x.value)
