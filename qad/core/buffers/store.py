"""The memory of a buffer: one flat vector, read and written at flat indices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qad.core.foreign import like
from qad.core.tape.levels import mode, stopped, unrecorded
from qad.core.tape.tensor import Tensor, settled
from qad.core.tape.writing import finished, has_tensors, put

if TYPE_CHECKING:
    from qad.typing.words import Index, Value

ALL = slice(None)


@dataclass(slots=True, eq=False)
class Store:
    """One flat vector, and who may hold it.

    Attributes
    ----------
    content : Tensor
        The vector as it is now, in a handle that nobody else holds.
    lent : bool
        Whether somebody may hold its memory, so that the next write copies it first.
    whole : Tensor or None
        What was read of all of it since it was written into last.
    version : int
        How often it was written into.
    ordered : bool
        Whether it lay in C order from the beginning, so that what NumPy makes of it is a view where ours is.
    """

    content: Tensor
    lent: bool
    ordered: bool = True
    whole: Tensor | None = None
    version: int = 0

    def lend(self, shape: tuple[int, ...]) -> Tensor:
        """All of it, in an array of this shape."""
        out, hidden = self.whole, mode() is not None and stopped(self.content.level)
        if out is None or out.shape != shape:
            self._check()
            self.lent = True
            out = self.content if self.content.shape == shape else self.content.reshape(shape)
            self.whole = self.whole if hidden else out
        return constant(out) if hidden else out

    def read(self, index: Index) -> Tensor:
        """Entries, in memory of their own."""
        self._check()
        content = self.content
        level = content.level
        if has_tensors(index):  # it takes no view
            return content[index]
        out = level.read(content, index)
        self.lent = self.lent or not level.copies
        return constant(out) if mode() is not None and stopped(level) else out

    def write(self, index: Index, v: Value, add: bool) -> None:
        if self.lent:
            self.content = self.content.level.read(self.content, ALL)
        self.lent, self.whole = False, None
        self.version += 1
        put(self.content, index, v, add)

    def replace(self, v: Value, shape: tuple[int, ...]) -> None:
        """Write `v` into all of it, whose `shape` is given; what was there is let go."""
        form, self.whole = self.content.value, None
        self.version += 1
        if type(v) is Tensor:
            v = v if v.shape == shape else np.broadcast_to(v, shape)
            v = v if v.dtype == form.dtype else v.astype(form.dtype)
            self.content, self.lent = settled(v.reshape(-1)), True
        else:
            self.content = Tensor(like(self.content, v).zeros(form.shape, form.dtype))
            self.lent = False
            v = np.broadcast_to(v, shape).reshape(-1) if np.ndim(v) else v  # a number goes to any device
            put(self.content, ALL, v, False)

    def _check(self) -> None:
        level = self.content.level
        if not level.open and not stopped(level):
            raise finished()


def constant(x: Tensor) -> Tensor:
    """Tensor `x` without derivative."""
    value = unrecorded(x)
    return value if type(value) is Tensor else Tensor(value)
