"""Arguments that a program is made for, by their names: `static_argnames` of `qad.freeze`."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qad.typing import Function


def names_of(names: str | Iterable[str]) -> tuple[str, ...]:
    """One name or several as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)


class StaticArguments:
    """The names of static arguments, and what binds a call's arguments to names.

    Without a function, as in what was read from a file, arguments were bound to names when they were stored.
    """

    def __init__(self, f: Function | None, names: str | tuple[str, ...]):
        self.names: tuple[str, ...] = names_of(names)
        self._signature = inspect.signature(f) if f is not None and self.names else None
        for name in self.names if self._signature else ():
            if name not in self._signature.parameters:
                raise ArgumentError(f"static_argnames: {name!r} is no argument of {getattr(f, '__name__', f)}")

    def taken_out(self, args: Any, kwargs: Any) -> Any:
        """The arguments without the static ones, ``(args, kwargs)``, and those as pairs (name, value)."""
        if not self.names:
            return args, kwargs, ()
        given = kwargs
        if self._signature is not None:
            args, given = (), dict(self._signature.bind(*args, **kwargs).arguments)
        static = tuple((name, given[name]) for name in self.names if name in given)
        return args, {name: x for name, x in given.items() if name not in self.names}, static
