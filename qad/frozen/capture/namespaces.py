"""What has attributes by name: modules, classes, objects of the user's; see `qad.frozen.capture.reachable`."""

from __future__ import annotations

from functools import cached_property, partial, partialmethod
from inspect import getattr_static
from keyword import iskeyword
from types import FunctionType, MemberDescriptorType, ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from qad.frozen.capture.process_state import told
from qad.frozen.capture.trusted_code import is_trusted, source

if TYPE_CHECKING:
    from collections.abc import Iterator

    Reach: TypeAlias = Any  # of reachable.py, which imports this file
    Named: TypeAlias = tuple[str, str, Any, Any]  # name, form, owner, value

MAKING = frozenset(("__init__", "__new__", "__post_init__", "__init_subclass__", "__del__", "__repr__", "__str__"))
TEXT = frozenset(("__str__", "__repr__"))
MAKING_TEXT = frozenset((
    *TEXT, "__format__", "str", "repr", "ascii", "format", "print", "pformat", "pprint", "array2string", "array_str",
    "array_repr", "substitute", "safe_substitute",
))  # fmt: skip
MAKING_ANEW = frozenset(("__class__", "type"))  # names by which an object may be made of another's class
SPECIAL = (FunctionType, staticmethod, classmethod, property, partial, partialmethod)
SAID = frozenset(("__name__", "__qualname__", "__doc__"))  # of classes and functions, but not among their attributes
OWN = ("self", "cls")  # names behind which no module stands


def see_module(reach: Reach, x: ModuleType, path: str) -> None:
    """A module; of one that is trusted nothing is compared."""
    trusted = is_trusted(x.__name__)
    reach.own(_of_trusted if trusted else _of_module, x, path or x.__name__)
    if not trusted:
        reach.bindings.append(("kind", x, f"{path}.__class__", type(x)))
    if users_of(type(x)):
        see_kind(reach, type(x), path)


def _of_module(reach, x):
    space = vars(x)
    for name, value in list(space.items()):
        data = reach.whole and not name.startswith("__") and not callable(value) and type(value) is not ModuleType
        if name in reach.names or name == "__getattr__" or data:
            yield name, "item", space, value


def _of_trusted(reach, x):
    """Nothing to be compared; but what gives something else at every call, and what a user may have stored."""
    for before, name in reach.named:
        value = vars(x).get(name)
        if before in OWN or value is None or id(value) in reach.seen:
            continue
        if name in reach.constant:
            reach.used.add(name)
            continue
        if words := source(value, reach.names):
            reach.refuse(f"{x.__name__}.{name}", f"reads {words}")
        if not told(reach, value, f"{x.__name__}.{name}") and not isinstance(value, (FunctionType, type)):
            reach.wait(value, f"{x.__name__}.{name}")
    return ()


def see_class(reach: Reach, x: type, path: str) -> None:
    """A class that has a name, so that objects may be made of it."""
    if words := source(x, reach.names):
        reach.refuse(path, f"reads {words}")
    if is_trusted(x.__module__):
        reach.own(_of_date, x, path)
        return
    see_kind(reach, x, path)
    for base in users_of(x):
        for name in MAKING & vars(base).keys():
            reach.wait(vars(base)[name], f"{path}.{name}")


def see_kind(reach: Reach, x: type, path: str) -> None:
    """The class of an object, whose methods it calls; that another object is made of it is not said."""
    if id(x) in reach.kinds:
        return
    reach.kinds[id(x)] = x
    reach.own(_of_class, x, path)
    if len(users_of(x)) > 1:
        reach.bindings.append(("attribute", x, "__mro__", x.__mro__))
    if users_of(type(x)):
        see_kind(reach, type(x), path)
    for base in users_of(x):
        for name, value in vars(base).items():
            if name.startswith("__") and name not in MAKING and isinstance(value, SPECIAL):
                reach.bind("item", vars(base), name, value, f"{path}.{name}")  # called by Python, not by name


def see_texts(reach: Reach, x: type, path: str) -> None:
    """How a class makes text of its objects, where some code makes text."""
    for base in users_of(x):
        for name in sorted(TEXT & vars(base).keys()):
            reach.bind("item", vars(base), name, vars(base)[name], f"{path}.{name}")


def _of_date(reach, x):
    if words := source(x, reach.names):
        reach.refuse(x.__name__, f"reads {words}")
    return ()


def _of_class(reach, x):
    for name in sorted(SAID & reach.names):
        yield name, "attribute", x, getattr(x, name)
    for base in users_of(x):
        known = reach.names
        if reach.whole:
            known = known | {name for name in vars(base) if not name.startswith("__")}
        for name in sorted(known & vars(base).keys() - {"__dict__", "__weakref__", "__class__", "__doc__"}):
            value = vars(base)[name]
            plain = isinstance(value, (FunctionType, property, cached_property)) or not hasattr(value, "__get__")
            if plain and getattr_static(x, name) is value and not iskeyword(name):
                yield name, "attribute", x, value
            elif not isinstance(value, MemberDescriptorType):
                yield name, "item", vars(base), value


def users_of(kind: type) -> list[type]:
    """The user's own classes among those that a class is made of."""
    return [] if is_trusted(kind.__module__) else [base for base in kind.__mro__ if not is_trusted(base.__module__)]


def attributes(reach: Reach, x: Any) -> Iterator[Named]:
    """Of an object of the user's: attributes that code mentions, also those that it has not, but its class has."""
    space, users = getattr(x, "__dict__", {}), users_of(type(x))
    if isinstance(x, FunctionType):
        for name in sorted(SAID & reach.names):
            yield name, "attribute", x, getattr(x, name)
    for name, form, holder, value in every(x):
        if name in reach.names or reach.whole:
            yield name, form, holder, value
    if type(space) is dict and (users or reach.whole):
        asked = reach.names if reach.whole else {name for base in users for name in reach.names & vars(base).keys()}
        for name in sorted(asked - space.keys()):
            yield name, "absent", space, None
        if reach.whole:
            keys = tuple(space)
            yield "the names of attributes", "test", x, lambda: tuple(x.__dict__) == keys


def every(x: Any) -> Iterator[Named]:
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
        for name, value in vars(base).items() if "__slots__" in vars(base) or isinstance(x, BaseException) else ():
            if isinstance(value, MemberDescriptorType) and hasattr(x, name):
                yield name, "attribute", x, getattr(x, name)
