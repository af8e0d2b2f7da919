"""What has attributes by name: modules, classes, objects of the user's; see `qad.frozen.capture.reachable`."""

from __future__ import annotations

from functools import cached_property, partial
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
UNCALLED = frozenset((  # in the dict of a class, but asked for by name only
    "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__slots__",
    "__orig_bases__", "__parameters__", "__abstractmethods__", "__firstlineno__", "__static_attributes__", "__test__",
    "__dataclass_fields__", "__dataclass_params__", "__match_args__", "__annotate__", "__annotate_func__", "__final__",
    "__annotations_cache__", "__type_params__", "__signature__", "__classdictcell__", "__deprecated__",
))  # fmt: skip
SAID = frozenset(("__name__", "__qualname__", "__doc__"))  # of classes and functions, but not among their attributes
SAID_OF_FUNCTIONS = SAID | {"__annotations__", "__module__"}
OWN = ("self", "cls")  # names behind which no module stands


def see_module(reach: Reach, x: ModuleType, path: str) -> None:
    """A module; of one that is trusted nothing is compared."""
    trusted = is_trusted(x.__name__)
    reach.own(_of_trusted if trusted else _of_module, x, path or x.__name__)
    if not trusted:
        reach.spaces[id(x)] = x
        reach.bindings.append(("kind", x, f"{path}.__class__", type(x)))


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
            reach.bind("item", vars(base), name, vars(base)[name], f"{path}.{name}")


def see_kind(reach: Reach, x: type, path: str) -> None:
    """The class of an object, whose methods it calls; that another object is made of it is not said."""
    if id(x) in reach.kinds:
        return
    reach.kinds[id(x)] = x
    if len(x.__mro__) > 2:
        reach.bindings.append(("attribute", x, "__mro__", x.__mro__))
    if users_of(type(x)):
        see_kind(reach, type(x), path)
    for base in users_of(x):
        if id(base) not in reach.spaces:
            _see_namespace(reach, base, path)


def _see_namespace(reach, x, path):
    """What a class holds itself, without its bases; also what Python calls without a name in the code."""
    reach.spaces[id(x)] = x
    reach.own(_of_class, x, path)
    for name, value in list(vars(x).items()):
        special = name.startswith("__") and name.endswith("__") and name not in UNCALLED
        if special and name not in MAKING:
            reach.bind("item", vars(x), name, value, f"{path}.{name}")


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
    if "__subclasses__" in reach.names:
        kept = type.__subclasses__(x)
        yield "__subclasses__", "test", x, lambda: type.__subclasses__(x) == kept
    known = reach.names
    if reach.whole:
        known = known | {name for name in vars(x) if not name.startswith("__")}
    for name in sorted(known & vars(x).keys() - {"__dict__", "__weakref__", "__class__", "__doc__"}):
        value = vars(x)[name]
        plain = isinstance(value, (FunctionType, property, cached_property)) or not hasattr(value, "__get__")
        if plain and getattr_static(x, name) is value and not iskeyword(name):
            yield name, "attribute", x, value
        elif not isinstance(value, MemberDescriptorType):
            yield name, "item", vars(x), value


def users_of(kind: type) -> list[type]:
    """The user's own classes among those that a class is made of."""
    return [] if is_trusted(kind.__module__) else [base for base in kind.__mro__ if not is_trusted(base.__module__)]


def see_attributes(reach: Reach, x: Any, path: str) -> None:
    """An object of the user's, or a function: what it holds itself under names that code mentions."""
    reach.spaces[id(x)] = x
    reach.own(_attributes, x, path)


def _attributes(reach, x):
    if isinstance(x, FunctionType):
        for name in sorted(SAID_OF_FUNCTIONS & reach.names):
            yield name, "attribute", x, getattr(x, name)
    for name, form, holder, value in every(x):
        if name in reach.names or reach.whole:
            yield name, form, holder, value


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
            if isinstance(value, MemberDescriptorType) and _is_set(value, x):
                yield name, "attribute", x, getattr(x, name)
            elif isinstance(value, MemberDescriptorType) and not is_trusted(base.__module__):
                yield name, "test", x, partial(_is_empty, value, x)


def _is_set(slot, x):
    try:
        slot.__get__(x)
    except AttributeError:
        return False
    return True


def _is_empty(slot, x):
    return not _is_set(slot, x)
