"""What a function reads beyond its arguments, and whether that has changed.

Followed are the names in its code, closure and defaults, and in functions that it names; of objects the attributes
that such code names; entries of lists and dicts.  Objects are compared by identity, numbers by value, arrays by their
contents, and so are arrays that the recording met and that live on.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from functools import cached_property, partial
from operator import attrgetter, getitem
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.tape.tensor import Tensor
from qad.frozen.record.code import NUMERICAL, is_library, is_users, named
from qad.frozen.record.contents import (
    ATOMS,
    GENERATORS,
    content,
    global_state,
    is_memory,
    is_read_only,
    same,
    state,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

LISTS = (list, tuple, set, frozenset, deque)
GONE = (AttributeError, KeyError, ValueError, TypeError, RuntimeError)
HOLDERS: dict[type, tuple[str, ...]] = {
    MethodType: ("__func__", "__self__"), partial: ("func", "args", "keywords"), property: ("fget",),
    staticmethod: ("__func__",), classmethod: ("__func__",), cached_property: ("func",),
}  # fmt: skip
CONTENTS = attrgetter("cell_contents")
# of classes, and of objects
CALLED: dict[bool, tuple[str, ...]] = {
    True: ("__init__", "__post_init__", "__call__"),
    False: ("__call__",),
}  # of classes, and of objects


class Captures:
    """What a function and some objects read, as it is now.

    Attributes
    ----------
    objects : list
        Arguments that are no arrays.
    live : bool
        Whether a recorded Tensor, or a traced array of another recording, is among it.
    computed : set of str
        Attributes that code asks for by names that it computes, in words.
    copies : dict of id -> (array, bytes)
        What arrays held.
    """

    def __init__(self, f: Any, objects: Iterable[Any] = (), constant: Collection[str] | bool = ()):
        self.objects: list[Any] = list(objects)
        self.constant: frozenset[str] = frozenset(() if constant is True else constant)
        self.live: bool = False
        self.computed: set[str] = set()
        self.copies: dict[int, tuple[np.ndarray, bytearray]] = {}
        self._items, self._reads = [], []  # (dict, key, what it held, label), (owner, function that reads, ...)
        self._dense, self._others = [], []  # (array or function that gives it, bytes, label)
        self._generators, self._settled, self._used = [], set(), set()
        self._mentioned, self._owners, self._seen, self._whole = set(), {}, {}, constant is True
        self._waiting = [] if constant is True else [(x, "") for x in (f, *self.objects)]
        while self._waiting:
            while self._waiting:
                self._see(*self._waiting.pop())
            for owner in list(self._owners.values()):
                self._look(*owner)
        if "random" in self._mentioned:
            self._generators.append((global_state, global_state()))
        if missing := self.constant - self._used:
            raise ArgumentError(
                f"qad.freeze: constant={min(missing)!r} names nothing that the function captures: it reads "
                f"{', '.join(label for label, *_ in self.listed()) or 'nothing'}"
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
            self._generators.append((partial(state, x), state(x)))
        elif kind is FunctionType:
            self._function(x, label)
        elif kind in HOLDERS:
            self._waiting += [(getattr(x, part), label) for part in HOLDERS[kind]]
        elif isinstance(x, (*LISTS, dict, np.ndarray)):
            self._container(x, label)
        elif kind is BuiltinFunctionType:
            self._waiting.append((x.__self__, label))
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
            except ValueError:
                continue
            if users:
                self._bind(self._reads, cell, CONTENTS, value, name)
            elif not isinstance(value, (dict, set)):  # which are what a function of ours remembers
                self._waiting.append((value, label))
        for defaults in ("__defaults__", "__kwdefaults__"):
            if getattr(f, defaults):
                self._bind(self._reads, f, attrgetter(defaults), getattr(f, defaults), f"{f.__name__}.{defaults}")
        if not users:
            return
        names, attributes, modules, computed = named(f.__code__)
        self._mentioned |= attributes | names.intersection(("random",))
        self.computed |= {f"{f.__name__} reads {words}" for words in computed}
        for name in sorted(names & f.__globals__.keys()):
            self._bind(self._items, f.__globals__, name, f.__globals__[name], name)
        self._waiting += [(sys.modules.get(name), name) for name in modules]

    def _container(self, x, label):
        """The entries of a list or dict, and the order of its keys."""
        read = _entries if isinstance(x, np.ndarray) else _pairs if isinstance(x, dict) else tuple
        if not isinstance(x, tuple):
            self._reads.append((x, read, read(x), f"entries of {label or type(x).__name__}"))
        entries = list(x.items()) if isinstance(x, dict) else enumerate(read(x))
        self._waiting += [(each, f"{label}[{key!r}]") for key, each in entries]
        if hasattr(x, "__dict__"):
            self._owners[id(x)] = x, label, set()

    def _look(self, x, label, done):
        """Attributes of an object that code names; all of one of NumPy's, SciPy's or qad's, and of a dataclass."""
        kind, module = x if isinstance(x, type) else type(x), isinstance(x, ModuleType)
        whole = kind.__module__.partition(".")[0] in NUMERICAL or hasattr(kind, "__dataclass_fields__")
        space = vars(x) if type(getattr(x, "__dict__", None)) is dict else {}
        asked = self._mentioned.union(CALLED[kind is x])
        for name in sorted((space.keys() if whole and not module else asked & space.keys()) - done):
            done.add(name)
            self._bind(self._items, space, name, space[name], f"{label}.{name}")
        for base in () if module else kind.__mro__:
            below = vars(base)
            slots = {name for name, each in below.items() if whole and type(each) is MemberDescriptorType}
            for name in sorted(slots if is_library(base.__module__) else slots | (asked & below.keys())):
                if name in done or (base, name) in done:
                    continue
                done.add((base, name))
                if callable(below[name]) or isinstance(below[name], tuple(HOLDERS)):
                    self._bind(self._items, below, name, below[name], f"{label}.{name}")
                elif hasattr(x, name):
                    self._bind(self._reads, x, attrgetter(name), getattr(x, name), f"{label}.{name}")

    def _bind(self, where, owner, key, value, label):
        """Compare what stands behind a name, and follow it, unless the caller declared that constant."""
        label = label.lstrip(".")
        name = label.rpartition(".")[2]
        if name in self.constant:
            self._used.add(name)
            self._settled.update(Captures(lambda: value).copies)
            return
        where.append((owner, key, value, label))
        self._waiting.append((value, label))

    def _watch(self, x, label):
        kept = bytearray(content(x).tobytes())
        self.copies[id(x)] = x, kept
        if not is_read_only(x):
            dense = is_memory(x) or is_memory(x.T)
            where = self._dense if dense else self._others
            where.append((content(x) if dense else partial(_itself, x), kept, label or words(x)))

    def meet(self, arrays: list[np.ndarray]) -> None:
        """Compare these arrays too, which a recording met; weakly, for one that is gone cannot change."""
        known = self._settled.union(self.copies)
        met = {}
        for x in () if self._whole else arrays:
            owner = x
            while type(owner.base) is np.ndarray:
                owner = owner.base
            if not known & {id(x), id(owner)} and not is_read_only(x):
                met[id(owner)] = weakref.ref(owner), words(x)
        arrays.clear()  # of those that nobody else holds nothing is left
        x = owner = None
        for alive, text in met.values():
            if (owner := alive()) is not None:
                self._others.append((alive, bytearray(content(owner).tobytes()), text))

    # -- comparing -----------------------------------------------------------------------------------------------

    def serves(self, objects: list[Any]) -> bool:
        """Whether these are the objects that were looked at, and nothing has changed."""
        return len(objects) == len(self.objects) and all(map(same, objects, self.objects)) and self.hold()

    def hold(self) -> bool:
        """Whether nothing has changed."""
        try:
            for space, key, kept, _ in self._items:
                if space[key] is not kept and not same(space[key], kept):
                    return False
            for x, read, kept, _ in self._reads:
                if not same(read(x), kept):
                    return False
        except GONE:
            return False
        return self.arrays_hold()

    def arrays_hold(self) -> bool:
        """Whether every array that is there still holds what it did."""
        for x, kept, _ in self._dense:
            if kept != x:  # bytes against memory, at the speed of memory
                return False
        for alive, kept, _ in self._others:
            x = alive()
            if x is not None and kept != content(x):
                return False
        return True

    def generators_moved(self) -> bool:
        """Whether a generator of random numbers that code names has moved."""
        return any(read() != kept for read, kept in self._generators)

    def listed(self) -> list[tuple[str, bool, str]]:
        """All that is compared: its name, whether it holds, and what it was, in words."""
        named = [(label, partial(getitem, owner, key), kept) for owner, key, kept, label in self._items]
        named += [(label, partial(read, x), kept) for x, read, kept, label in self._reads]
        found = [(label, _holds(read, kept), f"{label} = {_short(kept)}") for label, read, kept in named]
        arrays = [(label, x, kept) for x, kept, label in self._dense]
        arrays += [(label, alive(), kept) for alive, kept, label in self._others]
        return found + [(label, x is None or kept == content(x), f"contents of {label}") for label, x, kept in arrays]

    def changed(self) -> str:
        """What is not as it was, by name."""
        return ", ".join([label for label, holds, _ in self.listed() if not holds][:3])


def _holds(read, kept):
    try:
        return same(read(), kept)
    except GONE:
        return False


def _entries(x):
    return tuple(x.ravel().tolist())


def _pairs(x):
    return (*x, *x.values())


def _itself(x):
    return x


def _short(x):
    text = " ".join(repr(x).split())
    return text if len(text) < 60 else f"{text[:57]}..."
