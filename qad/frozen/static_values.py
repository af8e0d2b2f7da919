"""Values that a program is made for: when does one serve for another?"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable
from enum import Enum
from types import MethodType
from typing import Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.frozen.capture.namespaces import every
from qad.frozen.capture.objects import VISIBLE
from qad.frozen.capture.trusted_code import ATOMS, is_trusted

SMALL = 1 << 12  # bytes of an array that is compared by its entries; a larger one equals itself only
MANY, DEEP = 500, 20  # entries, and levels, of containers that are compared by their entries
CONTAINERS: tuple[type, ...] = (tuple, list, deque, dict, OrderedDict)


class Fixed:
    """A static value: equal to another where a program serves both."""

    __slots__ = ("value", "key")

    def __init__(self, value: Any):
        self.value: Any = value
        self.key: Hashable = typed(value)

    def __eq__(self, other: Any) -> bool:
        return type(other) is Fixed and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return repr(self.value)

    def __reduce__(self) -> tuple[Any, ...]:
        return Fixed, (self.value,)


class Identity:
    """An object that equals only itself, whatever its class says."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value: Any = value

    def __eq__(self, other: Any) -> bool:
        return type(other) is Identity and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def typed(x: Any) -> Hashable:
    """A static value with its type, by which 2, 2.0 and True differ, and 0.0 and -0.0; a user's objects by identity.

    What compares equal by a method of the user's may still differ; frozen dataclasses are compared by all that they
    hold, since that need not be a field.
    """
    kind = type(x)
    if kind in (tuple, frozenset):
        return kind, kind(map(typed, x))
    if kind is slice:
        return kind, typed((x.start, x.stop, x.step))
    if isinstance(x, (float, complex, np.generic)):
        return kind, repr(x)
    hash(x)  # which raises for what is meant to be compared by its entries
    if _is_frozen(kind):
        return held(x)
    if is_trusted(kind.__module__) or isinstance(x, Enum):
        return kind, x
    return kind, Identity(x)


def held(x: Any, above: tuple[int, ...] = ()) -> Hashable:
    """What an object holds as it is now, which may be changed later: plain data by its entries, all else by identity.

    Entries are compared with their types, signs and order; what an object of another class holds is compared by
    `qad.frozen.capture`.
    """
    kind = type(x)
    if kind in ATOMS or isinstance(x, (np.generic, np.dtype)):
        return kind, x if kind is str else repr(x)
    if id(x) in above or len(above) > DEEP or (kind in CONTAINERS and len(x) > MANY):
        return Identity(x)
    above = (*above, id(x))
    if kind in CONTAINERS[:3]:
        return kind, tuple([held(each, above) for each in x])
    if kind in CONTAINERS:
        return kind, tuple([(held(key, above), held(value, above)) for key, value in x.items()])
    if kind is np.ndarray and not x.dtype.hasobject and x.nbytes <= SMALL:
        return kind, x.dtype, x.shape, x.strides, x.tobytes()
    if kind is MethodType:
        return kind, Identity(x.__func__), Identity(x.__self__)
    if _is_frozen(kind) and not isinstance(x, VISIBLE):
        return kind, tuple([(name, held(value, above)) for name, form, _, value in every(x) if form != "test"])
    return Identity(x)


def _is_frozen(kind):
    return hasattr(kind, "__dataclass_params__") and kind.__dataclass_params__.frozen


def unhashable(error: TypeError) -> ArgumentError:
    """What to say of a static value that has no hash."""
    return ArgumentError(
        f"qad.freeze: a static argument cannot be hashed ({error}): pass it as an array, a tuple or a frozen "
        "dataclass, or close over it"
    )
