"""What a function can reach beyond its arguments: through closures, defaults, named globals, attributes, containers.

Everything that it could read is either looked at here, and compared before every run (`qad.freeze.captured`), or it is
refused.  Of the user's own modules, classes and objects that is what some code in reach mentions by name; of
containers, dataclasses and the objects of other packages it is everything.
"""

import builtins
import io
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from contextvars import ContextVar
from enum import Enum
from functools import cached_property, partial, partialmethod
from inspect import getattr_static
from keyword import iskeyword
from operator import is_
from random import Random
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)  # fmt: skip
from weakref import ref

import numpy as np
import optree

from qad.core.errors import ArgumentError
from qad.core.levels import CONSTANT
from qad.core.tensor import Tensor
from qad.core.trees import NAMESPACE
from qad.freeze.bindings import same
from qad.freeze.mentions import mentions
from qad.freeze.trust import ATOMS, is_trusted, is_written_in_python, source

__all__ = ["GENERATORS", "Reach"]

ASKING = frozenset(("getattr", "hasattr", "vars", "__dict__", "attrgetter", "methodcaller", "__getattribute__"))
MAKING = frozenset(("__init__", "__new__", "__post_init__", "__init_subclass__", "__del__", "__repr__", "__str__"))
MAKING_ANEW = frozenset(("__class__", "type"))
UNSEEN = frozenset(("eval", "exec", "globals", "locals", "__import__"))
GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, Random)
BYTES = (bytearray, memoryview)
MOST = 100_000  # bindings
HOLDS_CODE = {partial: ("func", "args", "keywords"), partialmethod: ("func", "args", "keywords"), property: ("fget",),
              staticmethod: ("__func__",), classmethod: ("__func__",), cached_property: ("func",),
              MethodType: ("__func__", "__self__")}  # fmt: skip
VISIBLE = (*ATOMS, list, tuple, dict, set, frozenset, deque, np.ndarray)
NEUTRAL = ("abc", "typing", "types", "builtins", "enum", "dataclasses")  # bases of the user's classes that read nothing
OWN = ("self", "cls")  # names behind which no module stands


class Reach:
    """One look around.

    Attributes
    ----------
    bindings : list of (form, owner, key, value)
        What stands behind names and in containers; see `qad.freeze.bindings`.
    arrays : list of arrays of numbers
    generators : list of generators of random numbers
    live : bool
        Whether a recorded Tensor, or a traced array of another recording, is among it.
    settled : list of arrays
        That are reached by names that the caller declared constant.
    """

    def __init__(self, roots, constant=()):
        self.bindings, self.arrays, self.generators, self.settled = [], [], [], []
        self.live = False
        self.constant, self.used = frozenset(constant), set()
        self._kinds = {}
        self._seen, self._waiting = {}, [(x, "") for x in roots]
        self._named, self._names, self._owners, self._scanned = set(), set(), [], None
        self._whole = False  # whether code asks for attributes by names that are not in it
        while self._waiting:
            while self._waiting:
                self._see(*self._waiting.pop())
            if self._scanned != (self._whole, len(self._named)):  # code that was found since mentions more
                self._scanned = self._whole, len(self._named)
                for owner in list(self._owners):
                    self._scan(*owner)
                if MAKING_ANEW & self._names:
                    self._waiting += [(kind, kind.__name__) for kind in self._kinds.values()]

    # -- one thing -------------------------------------------------------------------------------

    def _see(self, x, path):
        kind = type(x)
        if kind in ATOMS or id(x) in self._seen:
            return
        self._seen[id(x)] = x
        if hasattr(kind, "__qad_step__"):  # traced: it has a class for show
            self.live = True
        elif hasattr(kind, "__qad_reached__"):
            self._wait(x.__qad_reached__(), path)
        else:
            see = next((see for kinds, see in _SEEN if isinstance(x, kinds)), Reach._object)
            see(self, x, path)

    def _wait(self, x, path):
        self._waiting.append((x, path))

    def _bind(self, form, owner, key, value, path):
        """Remember what stands behind a name, and look at it, unless the caller declared that constant."""
        if key in self.constant:
            self.used.add(key)
            self.settled += _settled(value)
            return
        self.bindings.append((form, owner, key, value))
        if len(self.bindings) > MOST:
            self._refuse(path, f"leads to more than {MOST} names and entries")
        if form not in ("absent", "test"):
            self._wait(value, path)

    def _refuse(self, path, words):
        raise ArgumentError(
            f"qad.freeze: {path.lstrip('.') or 'the function'} {words}. Pass what varies as an argument, or say that "
            f'it does not vary: qad.freeze(f, constant="{path.rpartition(".")[2] or "name"}")'
        )

    # -- code ------------------------------------------------------------------------------------

    def _function(self, f, path):
        trusted = is_trusted(f.__globals__.get("__name__"))
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            self._cell(name, cell, trusted, f"{path}.{name}")
        for each in (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()):
            self._wait(each, path)
        if trusted:
            return
        names, attributes, modules = mentions(f.__code__)
        self._named |= attributes
        self._names |= {name for _, name in attributes} | (names & MAKING_ANEW)
        self._whole = self._whole or bool(ASKING & (names | self._names))
        for name in sorted(names):
            if name in UNSEEN and name not in f.__globals__ and name not in self.constant:
                self._refuse(name, "reads what cannot be seen")
            self._global(f.__globals__, name)
        for name in sorted(modules):
            if name in sys.modules:
                self._bind("item", sys.modules, name, sys.modules[name], name)
            else:
                self.bindings.append(("absent", sys.modules, name, None))
        self._own(self._attributes, f, path)

    def _cell(self, name, cell, trusted, path):
        try:
            value = cell.cell_contents
        except ValueError:
            self._bind("test", cell, name, lambda: _is_empty(cell), path)
            return
        if trusted and not isinstance(value, (set, dict)):  # which are what a function of ours remembers
            self._wait(value, path)
        elif not trusted:
            self._bind("cell", cell, name, value, path)

    def _global(self, space, name):
        if name in space:
            self._bind("item", space, name, space[name], name)
        else:
            self._bind("absent", space, name, None, name)
            if hasattr(builtins, name) and name not in self.constant:
                self._compiled(getattr(builtins, name), name)

    def _holder(self, x, path):
        """A bound method, a partial function, a property and the like."""
        for kind, attributes in HOLDS_CODE.items():
            if isinstance(x, kind):
                for attribute in attributes:
                    self._wait(getattr(x, attribute), path)

    def _compiled(self, x, path):
        """A function of compiled code."""
        words = source(x, self._names)
        if words:
            self._refuse(path, f"reads {words}")
        owner = getattr(x, "__self__", None)
        if not isinstance(owner, (ModuleType, type, type(None))):
            self._wait(owner, path)

    def _ufunc(self, x, path):
        if all(set(types) <= set("O->") for types in x.types):
            self._refuse(path, "is made by np.frompyfunc, which hides what it calls: write it in NumPy's functions")

    # -- what has attributes ---------------------------------------------------------------------

    def _own(self, scan, owner, path):
        """Scan an owner of names now, and again when more names are known."""
        self._owners.append((scan, owner, path, set()))
        self._scan(*self._owners[-1])

    def _scan(self, scan, owner, path, done):
        for name, form, holder, value in list(scan(owner)):
            if name not in done:
                done.add(name)
                self._bind(form, holder, name, value, f"{path}.{name}")

    def _module(self, x, path):
        if not is_trusted(x.__name__):
            self._own(self._of_module, x, path or x.__name__)
            return
        self._owners.append((self._of_trusted, x, path or x.__name__, set()))
        self._of_trusted(x)

    def _of_module(self, x):
        space = vars(x)
        for name, value in list(space.items()):
            data = self._whole and not name.startswith("__") and not callable(value) and type(value) is not ModuleType
            if name in self._names or name == "__getattr__" or data:
                yield name, "item", space, value

    def _of_trusted(self, x):
        """Nothing to be compared; but what gives something else at every call, and what a user may have stored."""
        for before, name in self._named:
            value = vars(x).get(name)
            if before in OWN or value is None or name in self.constant or id(value) in self._seen:
                continue
            if words := source(value, self._names):
                self._refuse(f"{x.__name__}.{name}", f"reads {words}")
            if not isinstance(value, (FunctionType, type)):
                self._wait(value, f"{x.__name__}.{name}")
        return ()

    def _class(self, x, path):
        if words := source(x, self._names):
            self._refuse(path, f"reads {words}")
        if is_trusted(x.__module__):
            self._owners.append((self._of_date, x, path, set()))
            return
        self._kind(x, path)
        for base in _users(x):
            for name in MAKING & vars(base).keys():
                self._wait(vars(base)[name], f"{path}.{name}")

    def _kind(self, x, path):
        """The class of an object, whose methods it calls; that another object is made of it is not said."""
        if id(x) in self._kinds:
            return
        self._kinds[id(x)] = x
        self._own(self._of_class, x, path)
        for base in _users(x):
            for name, value in vars(base).items():
                if name.startswith("__") and name not in MAKING and isinstance(value, FunctionType):
                    self._wait(value, f"{path}.{name}")  # called by Python, not by name

    def _of_date(self, x):
        if words := source(x, self._names):
            self._refuse(x.__name__, f"reads {words}")
        return ()

    def _of_class(self, x):
        for base in _users(x):
            for name in sorted(self._names & vars(base).keys() - {"__dict__", "__weakref__", "__class__", "__doc__"}):
                value = vars(base)[name]
                plain = isinstance(value, (FunctionType, property, cached_property)) or not hasattr(value, "__get__")
                if plain and getattr_static(x, name) is value and not iskeyword(name):
                    yield name, "attribute", x, value
                elif not isinstance(value, MemberDescriptorType):
                    yield name, "item", vars(base), value

    def _object(self, x, path):
        kind = type(x)
        users = _users(kind)
        if users:
            (self._wait if MAKING_ANEW & self._names else self._kind)(kind, path)
        if kind.__name__ == "cython_function_or_method":
            self._compiled(x, path)
        elif not users and not is_trusted(kind.__module__):
            self._hidden(x, path)
        elif isinstance(x, Iterator):
            if x not in (sys.stdout, sys.stderr) and not (isinstance(x, io.IOBase) and not x.readable()):
                self._refuse(path, f"is a {kind.__name__}, which gives something else at every call")
        elif kind.__name__ == "_ArrayFunctionDispatcher" or kind.__module__ == "logging":
            pass  # NumPy's functions, and what nobody reads from
        elif kind.__module__.startswith("numba"):
            self._wait(getattr(x, "py_func", None), path)
        elif users and not isinstance(x, VISIBLE) and not is_written_in_python(kind):
            self._hidden(x, path)
        elif users and _is_plain(kind) and optree.tree_is_leaf(x, namespace=NAMESPACE):
            self._own(self._attributes, x, path)
        elif _is_immutable(kind):
            for name in kind.__dataclass_fields__:
                self._wait(getattr(x, name, None), f"{path}.{name}")
        else:
            self._whole_object(x, path)

    def _whole_object(self, x, path):
        """Everything that an object holds, for code that nobody looks into."""
        for name, form, holder, value in _every(x):
            self._bind(form, holder, name, value, f"{path}.{name}")
        if type(space := getattr(x, "__dict__", None)) is dict:
            self._bind("test", x, path, _same_keys(x, tuple(space)), path)
        elif not isinstance(x, VISIBLE):
            with suppress(TypeError, BufferError):
                memoryview(x).release()
                self._bytes(x, path)

    def _hidden(self, x, path):
        self._refuse(path, f"is a {type(x).__name__}, whose state cannot be compared from call to call")

    def _enum(self, x, path):
        self._wait(x.value, path)

    def _value(self, x, path):
        """A number or text of a class of the user's."""
        if not is_trusted(type(x).__module__):
            self._kind(type(x), path)
            self._own(self._attributes, x, path)

    def _attributes(self, x):
        """Of an object of the user's: attributes that code mentions, also those that it has not, but its class has."""
        space, users = getattr(x, "__dict__", {}), _users(type(x))
        for name, form, holder, value in _every(x):
            if name in self._names or self._whole:
                yield name, form, holder, value
        if type(space) is dict and (users or self._whole):
            asked = self._names if self._whole else {name for base in users for name in self._names & vars(base).keys()}
            for name in sorted(asked - space.keys()):
                yield name, "absent", space, None

    # -- arrays and containers -------------------------------------------------------------------

    def _array(self, x, path):
        if x.dtype.hasobject:
            self._entries(x, path, lambda: x.ravel().tolist())
        else:
            self.arrays.append(x)
        if type(x) is not np.ndarray and type(x) is not np.memmap:
            self._whole_object(x, path)

    def _tensor(self, x, path):
        if x.level > CONSTANT:
            self.live = True
        else:
            self._bind("attribute", x, "value", x.value, path)

    def _generator(self, x, path):
        self.generators.append(x)

    def _bytes(self, x, path):
        kept = bytes(x)
        self._bind("test", x, path, lambda: bytes(x) == kept, path)

    def _sequence(self, x, path):
        if isinstance(x, (tuple, frozenset)):
            for i, each in enumerate(x):
                self._wait(each, f"{path}[{i}]")
            self._more(x, path)
        else:
            self._entries(x, path, lambda: x)

    def _more(self, x, path):
        """What a container of a class of its own holds besides its entries."""
        if type(x).__module__ not in ("builtins", "collections", "numpy") and (_users(type(x)) or hasattr(x, "__dict__")):
            self._object(x, path)

    def _dict(self, x, path):
        self._entries(x, path, x.keys)
        self._entries(x, path, x.values)
        if hasattr(x, "default_factory"):
            self._wait(x.default_factory, path)

    def _entries(self, x, path, read):
        """All entries of something that can change."""
        kept = tuple(read())
        for i, each in enumerate(kept):
            self._wait(each, f"{path}[{i}]")

        def unchanged():
            now = tuple(read())
            return len(now) == len(kept) and (all(map(is_, now, kept)) or all(map(same, now, kept)))

        self._bind("test", x, path, unchanged, path)
        self._more(x, path)

    def _pointer(self, x, path):
        """A weak reference, or a context variable: what it gives now."""
        read = x if isinstance(x, ref) else partial(x.get, None)
        value = read()
        self._wait(value, path)
        self._bind("test", x, path, lambda: same(read(), value), path)


_SEEN = (
    (Tensor, Reach._tensor),
    (Enum, Reach._enum),
    (np.void, Reach._hidden),
    (ATOMS, Reach._value),
    (np.ndarray, Reach._array),
    (GENERATORS, Reach._generator),
    (FunctionType, Reach._function),
    (tuple(HOLDS_CODE), Reach._holder),
    ((BuiltinFunctionType, MethodWrapperType), Reach._compiled),
    (np.ufunc, Reach._ufunc),
    (ModuleType, Reach._module),
    (type, Reach._class),
    (BYTES, Reach._bytes),
    ((list, tuple, set, frozenset, deque), Reach._sequence),
    ((dict, MappingProxyType), Reach._dict),
    ((ref, ContextVar), Reach._pointer),
    ((GetSetDescriptorType, MemberDescriptorType), lambda self, x, path: None),
)


def _is_empty(cell):
    try:
        cell.cell_contents  # noqa: B018 - whether it raises
    except ValueError:
        return True
    return False


def _same_keys(x, keys):
    return lambda: tuple(x.__dict__) == keys


def _users(kind):
    """The user's own classes among those that a class is made of."""
    return [] if is_trusted(kind.__module__) else [base for base in kind.__mro__ if not is_trusted(base.__module__)]


def _is_plain(kind):
    """Whether a class is the user's through and through, so that nobody else reads its attributes; no dataclass."""
    bases = [base.__module__ for base in kind.__mro__]
    return not hasattr(kind, "__dataclass_fields__") and all(m in NEUTRAL or not is_trusted(m) for m in bases)


def _is_immutable(kind):
    return hasattr(kind, "__dataclass_params__") and kind.__dataclass_params__.frozen


def _every(x):
    """All attributes that an object holds itself."""
    space = getattr(x, "__dict__", None)
    if type(space) is dict:
        direct = type(x).__getattribute__ is object.__getattribute__
        for name, value in list(space.items()):
            if direct and name.isidentifier() and not iskeyword(name) and getattr_static(x, name, None) is value:
                yield name, "attribute", x, value
            else:
                yield name, "item", space, value
    for base in type(x).__mro__:
        for name, value in vars(base).items() if "__slots__" in vars(base) else ():
            if isinstance(value, MemberDescriptorType) and hasattr(x, name):
                yield name, "attribute", x, getattr(x, name)


def _settled(value):
    """The arrays below something that was declared constant."""
    try:
        return Reach([value]).arrays
    except ArgumentError:
        return []
