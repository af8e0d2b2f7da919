"""Functions of some of their arguments, and functions of other libraries with their derivatives, for bridges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Arrays = tuple[Any, ...]

__all__ = ["Derivative", "Program", "with_arguments"]


def with_arguments(function: Callable[..., Any], numbers: Sequence[int], arrays: Sequence[Any]) -> Callable[..., Any]:
    """`function` as one of its arguments `numbers`, the others being as in `arrays`."""

    def chosen(*some):
        all_of_them = list(arrays)
        for number, x in zip(numbers, some, strict=True):
            all_of_them[number] = x
        return function(*all_of_them)

    return chosen


@dataclass(eq=False)
class Program:
    """A function of a library's arrays to an array or, if `several`, which is known after a call, a tuple of arrays."""

    f: Callable[..., Any]
    several: bool = True

    def flat(self, *arrays: Any) -> Arrays:
        """What the function returns, as a tuple."""
        out = self.f(*arrays)
        self.several = isinstance(out, tuple | list)
        return tuple(out) if self.several else (out,)


@dataclass(frozen=True)
class Derivative:
    """The derivative of a program by its arguments `by`: along tangents, or back from cotangents, which come last.

    `library` is the module whose ``jvp`` and ``vjp`` differentiate.
    """

    library: Any
    program: Program | Derivative
    by: tuple[int, ...]
    forward: bool
    outputs: int = 0  # of the program, where cotangents are given

    def flat(self, *arrays: Any) -> Arrays:
        """The tangents of what the program returns, or the cotangents of its arguments `by`."""
        count = len(arrays) - (len(self.by) if self.forward else self.outputs)
        primals, rest = arrays[:count], arrays[count:]
        function, chosen = with_arguments(self.program.flat, self.by, primals), tuple(primals[i] for i in self.by)
        if self.forward:
            return self.library.jvp(function, chosen, rest)[1]
        return self.library.vjp(function, *chosen)[1](rest)
