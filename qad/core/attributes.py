"""What objects of containers hold beside the fields that are subtrees: it comes along as it is, and is no part of a
derivative.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMESPACE = "qad"  # of the classes that optree knows from here


class Rest:
    """What an object holds beside its `fields`: a part of the structure of a tree.

    Attributes
    ----------
    fields : tuple of str
    attributes : list of (name, value)
        The same objects come along whenever the object is rebuilt.
    compared : frozenset of str
        The names of those by which trees are of one structure.
    """

    __slots__ = ("kind", "fields", "attributes", "compared")

    def __init__(self, obj: object, fields: tuple[str, ...], compared: frozenset[str] = frozenset()) -> None:
        state = object.__getstate__(obj)
        space, slots = state if type(state) is tuple else (state, None)
        held = {**(space or {}), **(slots or {})}
        self.kind: Any = type(obj)
        self.fields: tuple[str, ...] = fields
        self.attributes: list[tuple[str, Any]] = [(name, x) for name, x in held.items() if name not in fields]
        self.compared: frozenset[str] = compared

    def rebuilt(self, subtrees: Sequence[Any]) -> Any:
        """A new object of the class with these subtrees, and all else as it was."""
        made = object.__new__(self.kind)
        for name, value in (*zip(self.fields, subtrees, strict=True), *self.attributes):
            object.__setattr__(made, name, value)
        return made

    def __eq__(self, other: Any) -> bool:
        if type(other) is not Rest or self.fields != other.fields:
            return False
        mine, others = self._structure(), other._structure()
        return mine.keys() == others.keys() and all(_equal(mine[name], others[name]) for name in mine)

    def __hash__(self) -> int:
        return hash((self.fields, *sorted(self._structure())))

    def __repr__(self) -> str:
        return repr(tuple(self._structure().values()))

    def __qad_reached__(self) -> Any:
        """What `qad.freeze` compares of it: every attribute, by its name."""
        return SimpleNamespace(**dict(self.attributes))

    def _structure(self):
        return {name: x for name, x in self.attributes if name in self.compared}


def _equal(x, y):
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return type(x) is type(y) and np.array_equal(x, y)
    return x is y or x == y
