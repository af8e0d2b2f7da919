"""A view as a function of what it shows, so that it can be taken again after a write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.core.tape.levels import unrecorded
from qad.core.tape.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.core.words import Keywords, Value
    from qad.typing import Function


class Again:
    """A function of one operand: a recorded call whose other arguments stay."""

    __slots__ = ("fn", "before", "after", "kwargs", "pick", "cut")

    def __init__(
        self, fn: Function, args: Sequence[Value], i: int, kwargs: Keywords, pick: int | None, cut: bool
    ) -> None:
        self.fn: Function = fn
        self.before: Sequence[Value] = args[:i]
        self.after: Sequence[Value] = args[i + 1 :]
        self.kwargs: Keywords = kwargs or {}
        self.pick: int | None = pick  # one of several results, or None
        self.cut: bool = cut  # whether it was made where nothing is recorded

    def __call__(self, x: Value) -> Value:
        if self.cut and type(x) is Tensor:
            x = constant(x)
        out = self.fn(*self.before, x, *self.after, **self.kwargs)
        return out if self.pick is None else out[self.pick]


def constant(x: Tensor) -> Tensor:
    """Tensor `x` without derivative."""
    value = unrecorded(x)
    return value if type(value) is Tensor else Tensor(value)
