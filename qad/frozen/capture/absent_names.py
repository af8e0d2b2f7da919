"""Names that a namespace has not: Python asks it before, or after, the one where it finds them; see `reachable`.

An attribute is looked for in several namespaces: a class and its bases (those behind a class for ``super()``), the
class before its metaclass, the object, and all of these before ``__getattr__``.  Of each in reach the names that code
mentions are bound where they are there (`qad.frozen.capture.namespaces`), and must not appear where they are not.
"""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qad.frozen.capture.bindings import Binding

    Reach: TypeAlias = Any  # of reachable.py, which imports this file

FEW = 5  # names that are asked for one by one, which is faster


def absences(reach: Reach) -> Iterator[Binding]:
    """Bindings that hold as long as no namespace in reach gets a name that code mentions."""
    for x in list(reach.spaces.values()):
        space = getattr(x, "__dict__", None)
        if isinstance(x, type):
            yield "count", space.keys(), f"names in {x.__name__}", len(space)  # special methods, which no code mentions
        elif type(space) is not dict:
            continue  # slots, which are bound where they are empty
        elif isinstance(x, FunctionType) and not space:
            yield "empty", space, f"attributes of {x.__name__}", None
            continue
        elif type(x).__getattribute__ is object.__getattribute__:
            yield "attribute", x, "__dict__", space
        yield from _lacking(reach, x, space)


def _lacking(reach, x, space):
    """Bindings of one namespace; all its names are compared if code computes names."""
    if reach.whole:
        yield "names", space.keys(), f"names of attributes of {getattr(x, '__name__', type(x).__name__)}", tuple(space)
        return
    asked = reach.names | {"__getattr__"} if isinstance(x, ModuleType) else reach.names
    missing = frozenset(asked - space.keys())
    reach.used |= missing & reach.constant
    missing -= reach.constant
    if len(missing) > FEW:
        yield "apart", space.keys(), "names of attributes", missing
    else:
        for name in sorted(missing):
            yield "absent", space, name, None
