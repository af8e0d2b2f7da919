"""Objects, by what their class is; see `qad.frozen.capture.reachable`."""

from __future__ import annotations

import io
import sys
from collections import deque
from collections.abc import Iterator
from decimal import Decimal
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import optree

from qad.core.attributes import NAMESPACE
from qad.frozen.capture.code import see_compiled
from qad.frozen.capture.namespaces import every, see_attributes, see_kind, users_of
from qad.frozen.capture.pickled_state import see_pickled
from qad.frozen.capture.process_state import levels, told
from qad.frozen.capture.trusted_code import ATOMS, is_trusted, is_written_in_python

if TYPE_CHECKING:
    Reach: TypeAlias = Any  # of reachable.py, which imports this file

VISIBLE = (*ATOMS, list, tuple, dict, set, frozenset, deque, np.ndarray)
NEUTRAL = ("abc", "typing", "types", "builtins", "enum", "dataclasses")  # bases of the user's classes that read nothing


def see_object(reach: Reach, x: Any, path: str) -> None:
    """An object of any class."""
    kind = type(x)
    users = users_of(kind)
    if kind in (attrgetter, methodcaller):  # which hide the names that they ask for
        reach.whole = True
    elif kind.__name__ == "cython_function_or_method":
        see_compiled(reach, x, path)
    elif not users and not is_trusted(kind.__module__):
        see_hidden(reach, x, path)
    elif isinstance(x, Iterator):
        if x not in (sys.stdout, sys.stderr) and not (isinstance(x, io.IOBase) and not x.readable()):
            reach.refuse(path, f"is a {kind.__name__}, which gives something else at every call")
    elif kind.__module__ == "_thread" and hasattr(kind, "locked"):
        reach.own(_of_lock, x, path)
    elif kind.__name__ == "_ArrayFunctionDispatcher":
        pass  # NumPy's functions
    elif kind.__module__ == "logging":
        reach.own(levels, x, path)
    elif kind.__module__.startswith("numba"):
        reach.wait(getattr(x, "py_func", None), path)
    elif users and not isinstance(x, VISIBLE) and not is_written_in_python(kind):
        see_hidden(reach, x, path)
    elif users and _is_plain(kind) and optree.tree_is_leaf(x, namespace=NAMESPACE):
        see_attributes(reach, x, path)
    elif not users and _is_immutable(kind):  # a library's, which may remember things beside its fields
        for name in kind.__dataclass_fields__:
            reach.wait(getattr(x, name, None), f"{path}.{name}")
    else:
        see_whole(reach, x, path)


def _of_lock(reach, x):
    """Whether a lock is taken, if code asks for that."""
    if "locked" in reach.names:
        kept = x.locked()
        yield "locked", "test", x, lambda: x.locked() == kept


def see_whole(reach: Reach, x: Any, path: str) -> None:
    """Everything that an object holds: its class is compiled or of another package, whose code is not read."""
    for name, form, holder, value in every(x):
        reach.bind(form, holder, name, value, f"{path}.{name}")
    if type(space := getattr(x, "__dict__", None)) is dict:
        reach.bind("test", x, path, _same_keys(x, tuple(space)), path)
    if isinstance(x, (*VISIBLE, BaseException)) or is_written_in_python(type(x)):
        return
    try:
        memoryview(x).release()
    except (TypeError, BufferError):
        if not see_pickled(reach, x, path):
            see_hidden(reach, x, path)
    else:
        see_bytes(reach, x, path)


def see_exception(reach: Reach, x: BaseException, path: str) -> None:
    """An exception: what it was made of, and what it holds besides."""
    reach.bind("attribute", x, "args", x.args, path)
    for name in ("__cause__", "__context__"):
        reach.bind("attribute", x, name, getattr(x, name), path)
    see_whole(reach, x, path)


def see_decimal(reach: Reach, x: Decimal, path: str) -> None:
    """A decimal number, whose sums and products depend on the precision."""
    told(reach, Decimal, "Decimal")
    see_value(reach, x, path)


def see_hidden(reach: Reach, x: Any, path: str) -> None:
    """Raise for an object whose state cannot be read."""
    reach.refuse(path, f"is a {type(x).__name__}, whose state cannot be compared from call to call")


def see_enum(reach: Reach, x: Any, path: str) -> None:
    """A member of an enumeration, which may have attributes and methods beside its value."""
    if "_value_" in vars(x):
        reach.bind("attribute", x, "_value_", x._value_, path)
    see_value(reach, x, path)


def see_value(reach: Reach, x: Any, path: str) -> None:
    """A number or text of a class of the user's."""
    if not is_trusted(type(x).__module__):
        see_kind(reach, type(x), path)
        see_attributes(reach, x, path)


def _is_plain(kind):
    """Whether a class and all its bases are the user's, so that only the user's code reads attributes; no dataclass."""
    bases = [base.__module__ for base in kind.__mro__]
    return not hasattr(kind, "__dataclass_fields__") and all(m in NEUTRAL or not is_trusted(m) for m in bases)


def _is_immutable(kind):
    return hasattr(kind, "__dataclass_params__") and kind.__dataclass_params__.frozen


def see_bytes(reach: Reach, x: Any, path: str) -> None:
    """Bytes that can change."""
    kept = bytes(x)
    reach.bind("test", x, path, lambda: bytes(x) == kept, path)


def _same_keys(x, keys):
    return lambda: tuple(x.__dict__) == keys
