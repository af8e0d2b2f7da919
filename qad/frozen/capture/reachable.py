"""What a function can reach beyond its arguments: through closures, defaults, named globals, attributes, containers.

Everything that it could read is either looked at here, and compared before every run (`qad.frozen.capture.bindings`),
or it is refused.  Of the user's own modules, classes and objects that is what some code in reach mentions by name; of
containers, dataclasses and the objects of other packages it is everything.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from contextvars import ContextVar
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from random import Random
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodWrapperType,
    ModuleType,
)  # fmt: skip
from typing import TYPE_CHECKING, Any, NoReturn
from weakref import ref

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.tape.tensor import Tensor
from qad.frozen.capture.absent_names import absences
from qad.frozen.capture.code import HOLDERS, see_cell, see_compiled, see_function, see_holder, see_ufunc
from qad.frozen.capture.containers import (
    see_array,
    see_cache,
    see_dict,
    see_generator,
    see_pointer,
    see_sequence,
    see_tensor,
    see_view,
)
from qad.frozen.capture.namespaces import MAKING_ANEW, MAKING_TEXT, see_class, see_kind, see_module, see_texts, users_of
from qad.frozen.capture.objects import (
    see_bytes,
    see_decimal,
    see_enum,
    see_exception,
    see_hidden,
    see_object,
    see_value,
)
from qad.frozen.capture.process_state import told
from qad.frozen.capture.trusted_code import ATOMS, CLOCKS, NOW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from qad.frozen.capture.bindings import Binding

GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, Random)
VIEWS: tuple[type, ...] = tuple(type(view) for d in ({}, OrderedDict()) for view in (d.keys(), d.values(), d.items()))
MOST = 100_000  # bindings
SEEN: tuple[tuple[Any, Callable[..., None]], ...] = (
    (Tensor, see_tensor),
    (Enum, see_enum),
    (np.void, see_hidden),
    (ATOMS, see_value),
    (np.ndarray, see_array),
    (GENERATORS, see_generator),
    (FunctionType, see_function),
    (tuple(HOLDERS), see_holder),
    (type(lru_cache(len)), see_cache),
    ((BuiltinFunctionType, MethodWrapperType), see_compiled),
    (np.ufunc, see_ufunc),
    (ModuleType, see_module),
    (type, see_class),
    ((bytearray, memoryview), see_bytes),
    ((list, tuple, set, frozenset, deque), see_sequence),
    ((dict, MappingProxyType), see_dict),
    (VIEWS, see_view),
    (BaseException, see_exception),
    (Decimal, see_decimal),
    ((ref, ContextVar), see_pointer),
    (CellType, lambda reach, x, path: see_cell(reach, "cell_contents", x, "", path)),
    ((GetSetDescriptorType, MemberDescriptorType), lambda reach, x, path: None),
    (object, see_object),
)


class Reach:
    """All that is reached from some roots.

    Attributes
    ----------
    bindings : list of (form, owner, key, value)
        What stands behind names and in containers; see `qad.frozen.capture.bindings`.
    arrays : list of arrays of numbers
    generators : list of generators of random numbers
    live : bool
        Whether a recorded Tensor, or a traced array of another recording, is among it.
    settled : list of arrays
        Reached by names that the caller declared constant.
    told : set of callables
        That tell state of the process which is compared.
    names, named : sets
        Attributes that code mentions, and pairs of what stands before an attribute and the attribute.
    whole : bool
        Whether code asks for attributes by names that are not in it.
    spaces : dict of id -> class, module, function or object
        Whose names are looked at; see `qad.frozen.capture.absent_names`.
    kinds : dict of id -> class
        Classes of objects that were met; `texts` are the ids of those whose making of text was looked at.
    """

    def __init__(self, roots: Iterable[Any], constant: Iterable[str] = ()):
        self.bindings: list[Binding] = []
        self.arrays: list[np.ndarray] = []
        self.generators: list[Any] = []
        self.settled: list[np.ndarray] = []
        self.live: bool = False
        self.whole: bool = False
        self.constant: frozenset[str] = frozenset(constant)
        self.used: set[str] = set()
        self.told: set[Any] = set()
        self.names: set[str] = set()
        self.named: set[tuple[Any, str]] = set()
        self.spaces: dict[int, Any] = {}
        self.kinds: dict[int, type] = {}
        self.texts: set[int] = set()
        self.seen: dict[int, Any] = {}
        self._waiting = [(x, "") for x in roots]
        self._owners, scanned = [], None
        while self._waiting:
            while self._waiting:
                self._see(*self._waiting.pop())
            if scanned != (now := (self.whole, len(self.named), len(self.names), len(self.kinds))):
                scanned = now  # code that was found since mentions more
                for owner in list(self._owners):
                    self._scan(*owner)
                self._look_again()
        self.bindings += absences(self)

    def _look_again(self):
        """What more is read because of names that are known by now."""
        kinds = list(self.kinds.values())
        if MAKING_ANEW & self.names:
            self._waiting += [(kind, kind.__name__) for kind in kinds]
        if MAKING_TEXT & self.names:
            for kind in kinds:
                if id(kind) not in self.texts:
                    self.texts.add(id(kind))
                    see_texts(self, kind, kind.__name__)
        if "datetime64" in self.names and NOW & self.names:
            if "datetime64" not in self.constant:
                self.refuse("datetime64", f"reads {CLOCKS}")
            self.used.add("datetime64")

    def _see(self, x, path):
        kind = type(x)
        if kind is str and x in NOW:
            self.names.add(x)  # np.datetime64 reads a clock for it
        if kind in ATOMS or id(x) in self.seen:
            return
        self.seen[id(x)] = x
        if hasattr(kind, "__qad_step__"):  # traced: it has a class for show
            self.live = True
        elif hasattr(kind, "__qad_reached__"):
            self.wait(x.__qad_reached__(), path)
        elif not told(self, x, path):
            if users_of(kind) and not isinstance(x, Enum):
                self.bindings.append(("kind", x, f"{path}.__class__", kind))
                see_kind(self, kind, path)
            see = next(see for kinds, see in SEEN if isinstance(x, kinds))
            see(self, x, path)

    def wait(self, x: Any, path: str) -> None:
        """Look at `x` later; `path` is for messages."""
        self._waiting.append((x, path))

    def bind(self, form: str, owner: Any, key: Any, value: Any, path: str) -> None:
        """Remember what stands behind a name, and look at it, unless the caller declared that constant."""
        if key in self.constant:
            self.used.add(key)
            self.settled += _settled(value)
            return
        self.bindings.append((form, owner, key, value))
        if len(self.bindings) > MOST:
            self.refuse(path, f"leads to more than {MOST} names and entries")
        if form not in ("absent", "test"):
            self.wait(value, path)

    def refuse(self, path: str, words: str) -> NoReturn:
        """Raise for what cannot be compared, or differs at every call."""
        name = path.rpartition(".")[2] or "name"
        raise ArgumentError(
            f"qad.freeze: {path.lstrip('.') or 'the function'} {words}. Pass what varies as an argument, or say that "
            f'it does not vary: qad.freeze(f, constant="{name}")'
        )

    def own(self, scan: Callable[..., Iterator[tuple[str, str, Any, Any]]], owner: Any, path: str) -> None:
        """Scan an owner of names now, and again when more names are known; `scan` yields (name, form, owner, value)."""
        self._owners.append((scan, owner, path, set()))
        self._scan(*self._owners[-1])

    def _scan(self, scan, owner, path, done):
        for name, form, holder, value in list(scan(self, owner)):
            key = name, form != "test" and id(value)  # a class and its base may have two things of one name
            if key not in done:
                done.add(key)
                self.bind(form, holder, name, value, f"{path}.{name}")


def _settled(value):
    """The arrays below something that was declared constant."""
    try:
        return Reach([value]).arrays
    except ArgumentError:
        return []
