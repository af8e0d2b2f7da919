"""What Python asks of a traced array: a truth, an integer, a text, a plain array.  Replays check it, or it is refused.

Each function takes the `qad.frozen.record.traced.Traced`, whose recorder adds the guard, or refuses.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from qad.frozen.program.program import outcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    Traced: TypeAlias = Any  # of traced.py, which imports this file


HERE = str(Path(__file__).parents[1])
SCALAR = np.isscalar.__code__  # which asks for the class, and is answered as for a plain scalar
OURS = (str(Path(__file__).parents[2]), str(Path(np.__file__).parent))
ASKED = frozenset(("__copy__", "__deepcopy__", "__dlpack__", "__dlpack_device__"))  # attributes, by users


def decide(x: Traced, kind: str) -> Any:
    """The outcome of a decision on `x`, as a Python value; replays check it."""
    if x.recorder.running:
        if kind == "float":
            frame = users_frame()
            warnings.warn_explicit(
                f"qad.freeze: float() or .item() of a traced value, {whereabouts()}, makes a constant of it: every "
                "other value will be recorded anew. Keep it an array (np.sqrt, not math.sqrt), or return it",
                RuntimeWarning,
                frame.f_code.co_filename,
                frame.f_lineno,
                registry=frame.f_globals.setdefault("__warningregistry__", {}),
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
    message = (
        f"a traced array has no {name!r}: use NumPy's functions, or wrap what needs it in qad.extend.primitive, so "
        "that it becomes one step"
    )
    asked = not name.startswith("__") or name in ASKED  # NumPy asks for the others
    if asked and hasattr(type(x.value), name) and x.recorder.running and not is_ours():
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


# -- whose code asks ----------------------------------------------------------------------------------------------


def users_frame() -> FrameType:
    """The frame of the user's code that led here."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OURS):
        frame = frame.f_back
    return frame


def whereabouts() -> str:
    """File and line of the user's code that led here."""
    frame = users_frame()
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def is_ours() -> bool:
    """Whether qad (other than this floor) or NumPy asks something of a traced array, not the user's code."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(HERE):
        frame = frame.f_back
    return frame.f_code.co_filename.startswith(OURS)


def asked_by_us() -> bool:
    """Whether the caller's caller is a function of qad or NumPy."""
    code = sys._getframe(2).f_code
    return code.co_filename.startswith(OURS) and code is not SCALAR
