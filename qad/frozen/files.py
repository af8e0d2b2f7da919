"""Frozen functions in files: what was recorded, without the function."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NoReturn

from qad.core.errors import ArgumentError
from qad.frozen.branches import Branch, Branches
from qad.frozen.capture.bindings import Bindings
from qad.frozen.executable import executable
from qad.frozen.results import builder
from qad.frozen.serialization import read, store

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from qad.frozen.signature import Signature
    from qad.frozen.stats import Stats


class Absent:
    """What stands in the place of the function."""

    def __init__(self, name: str):
        self.__name__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise ArgumentError(
            f"{self.__name__} was read from a file, which holds programs but no function: it serves the structures, "
            "shapes, dtypes and branches that it was stored with. Freeze the function again for others"
        )


def stored(entries: Mapping[Signature, Branches]) -> list[tuple[Signature, list[tuple[Any, ...]]]]:
    """Signatures with their programs, as data."""
    return [
        (signature, [(b.path, b.places, store(b.program), b.form) for b in branches.branches])
        for signature, branches in entries.items()
    ]


def read_entries(
    entries: Iterable[tuple[Signature, list[tuple[Any, ...]]]], passes: Collection[str], stats: Stats
) -> OrderedDict[Signature, Branches]:
    """What `stored` made this of."""
    found = OrderedDict()
    for signature, branches in entries:
        entry = found[signature] = Branches(signature, stats)
        for path, places, data, form in reversed(branches):
            program, run = executable(read(data), passes, builder(*form))
            entry.add(Branch(path, places, program, run, Bindings([]), form))
    return found
