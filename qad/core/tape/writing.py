"""Writing and reading entries of a Tensor, level by level.

What is written into is a handle that nobody else holds: it changes in place, and its node becomes one that knows the
index and the node before, so that what was recorded earlier keeps the node of its own time.  `Level.write` and
`Level.read` do one level each, and come here for the one below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.core.errors import LeakedTensorError
from qad.core.tape import entries
from qad.core.tape.operands import highest
from qad.core.tape.tensor import CONSTANT, Tensor, become, handle_of

if TYPE_CHECKING:
    from qad.typing.words import Index, Value


def put(x: Tensor, index: Index, v: Value, add: bool) -> None:
    """Write `v` at `index` of Tensor `x`, or add it there, on the highest level among all of these."""
    level = highest((x, v, *parts(index)))
    if not (level.open and x.level.open):
        raise finished()
    if level is not x.level:
        become(x, level.lift(handle_of(x)))
    level.write(x, index, v, add)


def written(value: Value, index: Index, v: Value, add: bool) -> Value:
    """The array or Tensor `value`, which one handle holds alone, with `v` at `index`."""
    if type(value) is not Tensor:
        if type(v) is not Tensor and not has_tensors(index):
            return entries.placed(value, index, v, add)
        value = Tensor(value)
    put(value, index, v, add)
    return value.value if value.level is CONSTANT else value


def taken(value: Value, index: Index) -> Value:
    """``value[index]`` of an array or Tensor, in memory of its own."""
    return value.level.read(value, index) if type(value) is Tensor else entries.taken(value, index)


def parts(index: Index) -> tuple[Index, ...]:
    return index if type(index) is tuple else (index,)


def has_tensors(index: Index) -> bool:
    """Whether `index` has a Tensor in it, which `qad.vmap` makes of indices that differ from example to example."""
    return Tensor in map(type, parts(index))


def finished() -> LeakedTensorError:
    return LeakedTensorError(
        "a buffer was written inside of a transform that has finished: make it inside of the function, with qad.zeros, "
        "or overwrite all of it first, with buffer[...] = value"
    )
