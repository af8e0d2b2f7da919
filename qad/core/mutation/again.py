"""How a view is taken again from what it shows."""

from __future__ import annotations

from qad.core.tape.levels import unrecorded
from qad.core.tape.tensor import Tensor


class Again:
    """A function of one operand: a recorded call whose other arguments stay."""

    __slots__ = ("fn", "before", "after", "kwargs", "pick", "cut")

    def __init__(self, fn, args, i, kwargs, pick, cut):
        self.fn, self.before, self.after, self.kwargs = fn, args[:i], args[i + 1 :], kwargs or {}
        self.pick = pick  # one of several results, or None
        self.cut = cut  # whether it was made where nothing is recorded

    def __call__(self, x):
        if self.cut and type(x) is Tensor:
            x = constant(x)
        out = self.fn(*self.before, x, *self.after, **self.kwargs)
        return out if self.pick is None else out[self.pick]


def constant(x) -> Tensor:
    """Tensor `x` without derivative."""
    value = unrecorded(x)
    return value if type(value) is Tensor else Tensor(value)
