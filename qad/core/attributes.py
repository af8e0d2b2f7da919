"""What objects of containers hold beside the fields that are subtrees."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from types import MemberDescriptorType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import optree

from qad.core.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAMESPACE = "qad"  # of the classes that optree knows from here
_WHOLE: ContextVar[bool] = ContextVar("qad_whole", default=False)


@contextmanager
def whole(on: bool = True) -> Iterator[None]:
    """Trees that a function returns: what is recorded is a leaf of a container, even if it stands in no field."""
    token = _WHOLE.set(on)
    try:
        yield
    finally:
        _WHOLE.reset(token)


def with_rest(
    obj: object, fields: tuple[str, ...], values: tuple[Any, ...], compared: frozenset[str] | None = None
) -> tuple[tuple[Any, ...], Rest, tuple[str, ...]]:
    """The subtrees of an object, the rest of it, and the names of the subtrees; `values` are those of `fields`."""
    rest = Rest(obj, fields, compared)
    if rest.attributes and _WHOLE.get():
        more = {name: value for name, value in rest.attributes if _is_recorded(value, obj)}
        if more:
            values, fields = (*values, *more.values()), (*fields, *more)
            rest = Rest(obj, fields, compared)
    return values, rest, fields


def _is_recorded(value, owner):
    """Whether something contains what is recorded on the tape, or by `qad.freeze`, and leads not back to its owner."""
    with whole(False):
        leaves = optree.tree_leaves(value, namespace=NAMESPACE)
        found = any(type(x) is Tensor or hasattr(type(x), "__qad_step__") for x in leaves)
        return found and not _leads_to(value, owner, set())


def _leads_to(x, owner, seen):
    if x is owner or id(x) in seen or optree.tree_is_leaf(x, namespace=NAMESPACE):
        return x is owner
    seen.add(id(x))
    children, rest, *_ = optree.tree_flatten_one_level(x, namespace=NAMESPACE)
    beside = [value for _, value in rest.attributes] if type(rest) is Rest else ()
    return any(_leads_to(each, owner, seen) for each in (*children, *beside))


class Rest:
    """What an object holds beside the fields that are subtrees: a part of the structure of a tree.

    Attributes
    ----------
    fields : tuple of str
    attributes : list of (name, value)
        The same objects come along whenever the object is rebuilt.
    order : tuple of str
        The names in the dict of the object, as they stand there.
    compared : set of str, optional
        Names by which trees are of one structure; None stands for all.
    """

    __slots__ = ("fields", "attributes", "order", "compared")

    def __init__(self, obj: object, fields: tuple[str, ...], compared: frozenset[str] | None = None) -> None:
        space = getattr(obj, "__dict__", {})
        slots = [name for name in _slots(type(obj)) if name not in fields and hasattr(obj, name)]
        self.fields: tuple[str, ...] = fields
        self.order: tuple[str, ...] = tuple(space)
        self.compared: frozenset[str] | None = compared
        self.attributes: list[tuple[str, Any]] = [(name, value) for name, value in space.items() if name not in fields]
        self.attributes += [(name, getattr(obj, name)) for name in slots]

    def rebuilt(self, obj: Any, subtrees: Sequence[Any]) -> Any:
        """A new object of the class with these subtrees, and all else as it was."""
        values = dict(self.attributes)
        values.update(zip(self.fields, subtrees, strict=True))
        space = getattr(obj, "__dict__", {})
        for name in self.order:
            space[name] = values.pop(name)
        for name, value in values.items():
            object.__setattr__(obj, name, value)
        return obj

    def __eq__(self, other: Any) -> bool:
        if type(other) is not Rest or self.fields != other.fields:
            return False
        mine, others = self._structure(), other._structure()
        return mine.keys() == others.keys() and all(_equal(mine[name], others[name]) for name in mine)

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._structure())))

    def __repr__(self) -> str:
        return repr(tuple(self._structure() if self.compared is None else self._structure().values()))

    def _structure(self):
        return {name: x for name, x in self.attributes if self.compared is None or name in self.compared}

    def __qad_reached__(self) -> Any:
        """What `qad.freeze` compares of it: every attribute, by its name."""
        return SimpleNamespace(**dict(self.attributes))


@lru_cache(maxsize=1024)
def _slots(cls):
    """The names of slots of a class and its bases, as they are stored."""
    return [name for base in cls.__mro__ for name, x in vars(base).items() if type(x) is MemberDescriptorType]


def _equal(x, y):
    if x is y:
        return True
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return type(x) is type(y) and np.array_equal(x, y)
    if type(x) is type(y) and type(x) in (list, tuple):
        return len(x) == len(y) and all(map(_equal, x, y))
    if type(x) is type(y) is dict:
        return x.keys() == y.keys() and all(_equal(x[key], y[key]) for key in x)
    try:
        return bool(x == y)
    except (TypeError, ValueError):  # other containers of arrays, say
        return False
