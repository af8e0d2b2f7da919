"""What a function reads beyond its arguments, and whether that has changed.

Captures are the values of the names in the code, closure and defaults of the function, and of the functions that it
names; the attributes of objects that this code names; and the entries of lists and dicts.  Objects are compared by
identity, numbers by value, arrays by their contents.  Arrays of the caller that the recording met are compared by
their contents too.  The code of NumPy, SciPy, qad, Python's library and other installed packages is taken never to
change.
"""

from __future__ import annotations

import pickle
import random
import sys
import weakref
from collections import deque
from functools import cached_property, partial
from operator import attrgetter, is_, itemgetter
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.tape.tensor import Tensor
from qad.frozen.record.code import NUMERICAL, is_library, is_users, named

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

FLOATS = (float, complex, np.generic)
NUMBERS = (bool, int, str, bytes, *FLOATS)
ATOMS = (*NUMBERS, type(None), type(...), np.dtype, np.ufunc, range, slice)
GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)
NAMELESS = (np.random.get_state, random.random)
LISTS = (list, tuple, set, frozenset, deque)
GONE = (AttributeError, KeyError, ValueError, TypeError, RuntimeError)
HOLDERS: dict[type, tuple[str, ...]] = {
    MethodType: ("__func__", "__self__"), partial: ("func", "args", "keywords"), property: ("fget",),
    staticmethod: ("__func__",), classmethod: ("__func__",), cached_property: ("func",),
    BuiltinFunctionType: ("__self__",),
}  # fmt: skip


class Captures:
    """What a function and some objects read, as it is now.

    Attributes
    ----------
    live : bool
        Whether a recorded Tensor, or a traced array of another recording, is among it.
    computed : set of str
        Attributes that code asks for by names that it computes, in words.
    copies : dict of id -> (array, bytes)
        What arrays held.
    """

    def __init__(self, f: Any, objects: Iterable[Any] = (), constant: Collection[str] | bool = ()):
        self.live: bool = False
        self.computed: set[str] = set()
        self.copies: dict[int, tuple[np.ndarray, bytearray]] = {}
        self._names = []  # (how it is read, of what, what it was, label)
        self._arrays = []  # (weak reference, bytes, label)
        self._generators = []  # (generator, where it stood)
        self._constant, self._settled = constant, set()
        self._asked, self._owners, self._seen = set(), {}, {}
        self._waiting = [] if constant is True else [(x, "") for x in (f, *objects)]
        while self._waiting:
            while self._waiting:
                self._see(*self._waiting.pop())
            for owner in list(self._owners.values()):
                self._look(*owner)
        if constant is not True and (missing := set(constant) - self._settled):
            raise ArgumentError(
                f"qad.freeze: constant={min(missing)!r} names nothing that the function captures: it reads "
                f"{', '.join(dict.fromkeys(label for label, *_ in self.listed())) or 'nothing'}"
            )

    # -- following -----------------------------------------------------------------------------------------------

    def _see(self, x, label):
        kind = type(x)
        if isinstance(x, ATOMS) or id(x) in self._seen:
            return
        self._seen[id(x)] = x
        if hasattr(kind, "__qad_step__"):
            self.live = True
        elif kind is Tensor:
            self.live = self.live or x.requires_grad
            self._waiting.append((x.value, label))
        elif isinstance(x, np.ndarray) and not x.dtype.hasobject:
            self._watch(x, label)
        elif isinstance(x, GENERATORS):
            self._generators.append((x, pickle.dumps(x)))
        elif kind is FunctionType:
            self._function(x, label)
        elif kind in HOLDERS:
            self._waiting += [(getattr(x, part), label) for part in HOLDERS[kind]]
        elif isinstance(x, (*LISTS, dict, np.ndarray)):
            self._container(x, label)
        elif "__wrapped__" in getattr(x, "__dict__", ()):
            self._waiting.append((x.__wrapped__, label))
        elif kind is not ModuleType or not is_library(x.__name__):
            self._owners[id(x)] = x, label, set()

    def _function(self, f, label):
        """The cells of a function, its defaults, and of a user's the globals that its code names."""
        users = is_users(f)
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            try:
                value = cell.cell_contents
            except ValueError:  # it is filled later
                continue
            if users:
                self._bind(attrgetter("cell_contents"), cell, value, name)
            elif not isinstance(value, (dict, set)):  # which are what a function of ours remembers
                self._waiting.append((value, label))
        for defaults in ("__defaults__", "__kwdefaults__"):
            if value := getattr(f, defaults):
                self._bind(attrgetter(defaults), f, value, f"{f.__name__}.{defaults}")
        if not users:
            return
        names, attributes, modules, computed = named(f.__code__)
        self._asked |= attributes
        self.computed |= {f"{f.__name__} reads {words}" for words in computed}
        for name in sorted(names & f.__globals__.keys()):
            self._bind(itemgetter(name), f.__globals__, f.__globals__[name], name)
        self._waiting += [(sys.modules.get(name), name) for name in modules]
        self._waiting += [(method, label) for method in NAMELESS if "random" in names | attributes]

    def _container(self, x, label):
        """The entries of a list or dict, and the order of its keys."""
        entries = _entries(x)
        if not isinstance(x, tuple):
            self._names.append((_entries, x, entries, f"entries of {label or type(x).__name__}"))
        keys = [*x, *x] if isinstance(x, dict) else range(len(entries))
        self._waiting += [(each, f"{label}[{key!r}]") for key, each in zip(keys, entries, strict=True)]
        if hasattr(x, "__dict__"):
            self._owners[id(x)] = x, label, set()

    def _look(self, x, label, done):
        """Attributes of an object that code names; all of one of NumPy's, SciPy's or qad's, and of a dataclass.

        Not those that a class of qad calls DERIVED, for they follow from the others.
        """
        kind = x if isinstance(x, type) else type(x)
        own = vars(x) if type(getattr(x, "__dict__", None)) is dict else {}
        bases = () if isinstance(x, ModuleType) else kind.__mro__
        spaces = [own, *(vars(base) for base in bases if not is_library(base.__module__))]
        names = self._asked | {"__call__"} | ({"__init__", "__post_init__"} if kind is x else set())
        if bases and (kind.__module__.partition(".")[0] in NUMERICAL or hasattr(kind, "__dataclass_fields__")):
            slots = {name: s for base in bases for name, s in vars(base).items() if type(s) is MemberDescriptorType}
            spaces.append(slots)
            names |= (own.keys() | slots.keys()) - set(getattr(kind, "DERIVED", ()))
        new = sorted(names - done)
        done |= names
        for name, space in ((name, space) for name in new for space in spaces if name in space):
            value = space[name]
            if space is own or callable(value) or isinstance(value, tuple(HOLDERS)):
                self._bind(itemgetter(name), space, value, f"{label}.{name}")
            elif hasattr(x, name):
                self._bind(attrgetter(name), x, getattr(x, name), f"{label}.{name}")

    def _bind(self, read, owner, value, label):
        """Compare what stands behind a name, and follow it, unless the caller declared that constant."""
        label = label.lstrip(".")
        name = label.rpartition(".")[2]
        if name in self._constant:
            self._settled |= {name, *Captures(lambda: value).copies}
            return
        self._names.append((read, owner, value, label))
        self._waiting.append((value, label))

    def _watch(self, x, label):
        kept = bytearray(memoryview(content(x)))
        self.copies[id(x)] = x, kept
        if not is_read_only(x):
            self._arrays.append((weakref.ref(x), kept, label or f"an array of shape {x.shape}"))

    def meet(self, arrays: list[np.ndarray]) -> None:
        """Compare these arrays too, which a recording met; weakly, for one that is gone cannot change."""
        known = self._settled.union(self.copies)
        met = {}
        for x in () if self._constant is True else arrays:
            owner = x
            while type(owner.base) is np.ndarray:
                owner = owner.base
            if not known & {id(x), id(owner)} and not is_read_only(x):
                met[id(owner)] = weakref.ref(owner), f"an array of shape {x.shape}"
        arrays.clear()  # of those that nobody else holds nothing is left
        x = owner = None
        for alive, label in met.values():
            if (owner := alive()) is not None:
                self._arrays.append((alive, bytearray(memoryview(content(owner))), label))

    # -- comparing -----------------------------------------------------------------------------------------------

    def hold(self) -> bool:
        """Whether nothing has changed."""
        try:
            for read, x, kept, _ in self._names:
                now = read(x)
                if now is not kept and not same(now, kept):
                    return False
        except GONE:
            return False
        return not self._arrays or self.arrays_hold()

    def arrays_hold(self) -> bool:
        """Whether every array that is there still holds what it did."""
        for alive, kept, _ in self._arrays:
            x = alive()
            if x is not None and kept != content(x):  # bytes against memory, at the speed of memory
                return False
        return True

    def generators_moved(self) -> bool:
        """Whether a generator of random numbers that code names has moved."""
        return any(pickle.dumps(x) != kept for x, kept in self._generators)

    def listed(self) -> list[tuple[str, bool, str]]:
        """All that is compared: its name, whether it holds, and what it was, in words."""
        found = [(label, _holds(read, x, kept), f"{label} = {short(kept)}") for read, x, kept, label in self._names]
        arrays = [(label, alive(), kept) for alive, kept, label in self._arrays]
        return found + [(label, x is None or kept == content(x), f"contents of {label}") for label, x, kept in arrays]

    def changed(self) -> str:
        """What is not as it was, by name."""
        return ", ".join([label for label, holds, _ in self.listed() if not holds][:3])


def same(one: Any, two: Any) -> bool:
    """Whether two objects are one, or equal numbers of one type; 0.0 and -0.0 differ, nan and nan do not."""
    kind = type(one)
    if one is two:
        return True
    if kind is not type(two):
        return False
    if kind is tuple:
        return len(one) == len(two) and (all(map(is_, one, two)) or all(map(same, one, two)))
    if kind is MethodType:
        return one.__func__ is two.__func__ and one.__self__ is two.__self__
    return isinstance(one, ATOMS) and (repr(one) == repr(two) if isinstance(one, FLOATS) else one == two)


def content(x: np.ndarray) -> Any:
    """What bytes are compared with: the memory of an array, or a copy of its entries."""
    dense = x if x.flags.c_contiguous else x.T if x.flags.f_contiguous else None
    return x.tobytes() if dense is None or x.dtype.kind not in "biufc" else dense


def is_read_only(x: np.ndarray) -> bool:
    """Whether nobody can write into an array: neither into it nor into what it is a view of."""
    while type(x.base) is np.ndarray and not x.flags.writeable:
        x = x.base
    return not x.flags.writeable


def _entries(x):
    return (*x, *x.values()) if isinstance(x, dict) else tuple(x.ravel().tolist() if isinstance(x, np.ndarray) else x)


def _holds(read, x, kept):
    try:
        return same(read(x), kept)
    except GONE:
        return False


def short(x: Any) -> str:
    """The text of something, in one line and no longer than that."""
    text = " ".join(repr(x).split())
    return text if len(text) < 60 else f"{text[:57]}..."
