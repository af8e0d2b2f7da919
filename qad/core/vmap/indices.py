"""Indices of one example as indices of the whole stack; an index may differ from example to example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.tape.tensor import Tensor
from qad.core.tape.writing import parts
from qad.core.vmap.batched import outline

if TYPE_CHECKING:
    from qad.core.tape.levels import Level
    from qad.typing.words import Index

SLICE = slice(None)


def of_stack(index: Index, level: Any) -> Index:
    """The index that takes from a stack of examples, of this `level`, what `index` takes from each."""
    found = parts(index)
    if not any(type(i) is Tensor for i in found):
        return (SLICE, *found)
    most = max(i.ndim for i in found if type(i) is Tensor or isinstance(i, np.ndarray))
    numbers = np.arange(level.size).reshape((-1,) + (1,) * most)
    return (numbers, *[_stacked(i, most, level) for i in found])


def _stacked(i: Any, most: int, level: Level) -> Any:
    """One array of an index, of at most `most` axes in one example, beside the numbers of the examples."""
    if type(i) is not Tensor or i.level is not level:
        return i
    stack = i.value.array
    return stack.reshape((level.size,) + (1,) * (most + 1 - stack.ndim) + stack.shape[1:])


def named(index: Index, x: Tensor) -> Any:
    """An array of the shape of what `index` names in one example of `x`."""
    return outline(x)[tuple([np.zeros(i.shape, int) if type(i) is Tensor else i for i in parts(index)])]
