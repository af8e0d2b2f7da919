"""Functions: what their code names, and what they hold; see `qad.frozen.capture.reachable`."""

from __future__ import annotations

import builtins
import sys
from functools import cached_property, partial, partialmethod
from types import BuiltinFunctionType, CellType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from qad.frozen.capture.mentioned_names import mentions
from qad.frozen.capture.namespaces import MAKING_ANEW, MAKING_TEXT, see_attributes
from qad.frozen.capture.trusted_code import is_trusted, source

if TYPE_CHECKING:
    Reach: TypeAlias = Any  # of reachable.py, which imports this file
    import numpy as np

ASKING = frozenset((
    "getattr", "hasattr", "vars", "dir", "__dict__", "attrgetter", "methodcaller", "__getattribute__", "getattr_static",
    "getmembers", "__match_args__", "format_map", "vformat", "dumps", "__getstate__", "__reduce__", "__reduce_ex__",
))  # fmt: skip
SPACES = frozenset(("__globals__", "f_globals", "f_locals", "f_builtins", "__builtins__"))
UNSEEN = frozenset(("eval", "exec", "globals", "locals", "__import__"))
HOLDERS: dict[type, tuple[str, ...]] = {
    partial: ("func", "args", "keywords"),
    partialmethod: ("func", "args", "keywords"),
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    cached_property: ("func",),
    MethodType: ("__func__", "__self__"),
}
CHANGED = (partial, partialmethod, cached_property)  # whose parts can be set


def see_function(reach: Reach, f: Any, path: str) -> None:
    """A function of Python: what it holds; of a user's also what its code mentions."""
    module = f.__globals__.get("__name__")
    trusted = module.partition(".")[0] if is_trusted(module) else ""
    if trusted and (words := source(f, reach.names)):
        reach.refuse(path, f"reads {words}")
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        see_cell(reach, name, cell, trusted, f"{path}.{name}")
    _defaults(reach, f, trusted, path)
    if trusted:
        return
    names, pairs, modules = mentions(f.__code__)
    reach.named |= pairs
    reach.names |= {name for _, name in pairs} | (names & (MAKING_ANEW | MAKING_TEXT))
    reach.whole = reach.whole or bool(ASKING & (names | reach.names))
    for name in sorted(SPACES & {name for _, name in pairs} - reach.constant):
        reach.refuse(name, "reads what cannot be seen")
    for name in sorted(names):
        if name in UNSEEN and name not in f.__globals__ and name not in reach.constant:
            reach.refuse(name, "reads what cannot be seen")
        _global(reach, f.__globals__, name)
    for name in sorted(modules):
        if name in sys.modules:
            reach.bind("item", sys.modules, name, sys.modules[name], name)
        else:
            reach.bindings.append(("absent", sys.modules, name, None))
    see_attributes(reach, f, path)


def _defaults(reach, f, trusted, path):
    """What stands for arguments that are not given, and of a user's function the code that is run."""
    if not trusted:
        reach.bind("attribute", f, "__code__", f.__code__, path)
        reach.bind("attribute", f, "__defaults__", f.__defaults__, path)
        reach.bind("attribute", f, "__kwdefaults__", f.__kwdefaults__, path)
    else:
        for each in (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()):
            reach.wait(each, path)


def see_cell(reach: Reach, name: str, cell: CellType, trusted: str, path: str) -> None:
    """A variable of an enclosing function."""
    try:
        value = cell.cell_contents
    except ValueError:
        reach.bind("test", cell, name, lambda: _is_empty(cell), path)
        return
    if not trusted:
        reach.bind("cell", cell, name, value, path)
    elif trusted != "qad" or not isinstance(value, (set, dict)):  # which are what a function of ours remembers
        reach.wait(value, path)


def _global(reach, space, name):
    if name in space:
        reach.bind("item", space, name, space[name], name)
    else:
        reach.bind("absent", space, name, None, name)
        value = getattr(builtins, name, None)
        if isinstance(value, (BuiltinFunctionType, type)) and name not in reach.constant:
            see_compiled(reach, value, name)
        elif name in vars(builtins):  # a user put it there
            reach.bind("item", vars(builtins), name, value, name)
        else:
            reach.bind("absent", vars(builtins), name, None, name)


def see_holder(reach: Reach, x: Any, path: str) -> None:
    """A bound method, a partial function, a property and the like."""
    for kind, parts in HOLDERS.items():
        if isinstance(x, kind):
            for attribute in parts:
                if kind in CHANGED:
                    reach.bind("attribute", x, attribute, getattr(x, attribute), path)
                else:
                    reach.wait(getattr(x, attribute), path)


def see_compiled(reach: Reach, x: Any, path: str) -> None:
    """A function of compiled code."""
    words = source(x, reach.names)
    if words:
        reach.refuse(path, f"reads {words}")
    owner = getattr(x, "__self__", None)
    if not isinstance(owner, (ModuleType, type, type(None))):
        reach.wait(owner, path)


def see_ufunc(reach: Reach, x: np.ufunc, path: str) -> None:
    """A ufunc, which is NumPy's or SciPy's, or made of a function that cannot be seen."""
    if all(set(types) <= set("O->") for types in x.types):
        reach.refuse(path, "is made by np.frompyfunc, which hides what it calls: write it in NumPy's functions")


def _is_empty(cell):
    try:
        cell.cell_contents  # noqa: B018 - whether it raises
    except ValueError:
        return True
    return False
