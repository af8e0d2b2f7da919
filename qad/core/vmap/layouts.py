"""How the examples of a batch lie in memory, and whether NumPy would lay them out so.

A reshape is a view or a copy, as the layout of its operand allows.  Under `qad.vmap` the layout of an example follows
from what a rule did to the whole stack, and need not be the one that NumPy gives to one example.  So a layout counts
only where it is NumPy's by construction: that of an argument, of an elementwise function of such operands, and C order
where NumPy is known to give it.  The `layout` of a `Batched` tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from qad.core.errors import ArgumentError
from qad.core.tape.tensor import Tensor
from qad.core.vmap.batched import AS_NUMPY, UNKNOWN, Batched

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qad.core.tape.node import Primitive
    from qad.core.words import Value

ENTRYWISE: set[Any] = set()  # functions whose results lie as those of elementwise functions do
KEEPS_C: set[Any] = set()  # functions that give C order, in NumPy, for operands in C order
GIVES_C: set[Any] = set()  # functions that give C order for all operands
SHOWS_OR_C: set[Any] = set()  # functions that give a view, or else C order


def unsure(x: Any, *metadata: Any) -> Any:
    """Stands for a function that gives a view or a copy, where it cannot be known which NumPy would give."""
    raise ArgumentError(
        "under qad.vmap it depends on the layout of an example in memory whether this reshape is a view, which shows "
        "what is written (of a number it is none): write y = x.reshape(shape).copy(), or x[index] = value into x itself"
    )


def bottom(x: Any) -> Any:
    """The array at the bottom of a value, and how many axes of `qad.vmap` it has in front; None if it is not made."""
    axes = 0
    while True:
        kind = type(x)
        if kind is Tensor:
            x = x.value
        elif kind is Batched:
            if x.frame is not None:
                return None, axes
            x, axes = x.array, axes + 1
        else:
            look = getattr(kind, "__qad_array__", None)
            return (x if look is None else look(x)), axes


def only_splits(shape: Sequence[int], new: Iterable[int]) -> bool:
    """Whether a reshape to shape `new` merges no axes; then it is a view, whatever the layout."""
    if 0 in shape:
        return True
    left = iter(new)
    for n in shape:
        product = 1
        while product < n:
            product *= next(left)
        if product != n:
            return False
    return True


def is_vouched(x: Tensor) -> bool:
    """Whether an example of Tensor `x`, or of the Tensor that it is a view of, lies in memory as NumPy's array does."""
    if type(x) is not Tensor:
        return type(x) is not Batched
    if x.buffer is None:  # most often, and quickly
        value = x.value
        if type(value) is Batched:
            if value.layout is AS_NUMPY and type(value.array) is ndarray:
                return True
            if value.layout is UNKNOWN and 1 not in x.shape and len(x.shape) > 1:
                return False
    level = x
    while type(level) is Tensor:
        if type(level.buffer) is tuple and level.buffer[1] is unsure:
            return False
        level = root_of(level)
        if sum(n > 1 for n in level.shape) < 2:
            return True
        value = level.value
        if type(value) is Batched:
            if value.layout is UNKNOWN or value.frame is not None:
                return False
            value = value.array
        level = value
    return in_blocks(*bottom(root_of(x)))


def root_of(x: Tensor) -> Any:
    """The Tensor in whose memory `x` lies."""
    return x.buffer[3] if type(x) is Tensor and type(x.buffer) is tuple else x


def in_blocks(array: Value, axes: int) -> bool:
    """Whether each example of a batch is a block of memory, so that it lies there as an array of its own does."""
    if not axes or (type(array) is ndarray and array.flags.c_contiguous and array.size):
        return True
    if array is None or 0 in array.shape[:axes]:
        return False
    if array.ndim - axes < 2:
        return True
    return all(step == 0 or abs(step) >= array[(0,) * axes].nbytes for step in array.strides[:axes])


def layout_of(p: Primitive, ans: Value, operands: Sequence[Value]) -> str:
    """The layout of what the rule of primitive `p` gave, stacked in `ans`, for `operands`."""
    if ans.ndim < 3:
        return UNKNOWN  # there is but one layout
    fn, entrywise = p.fn, p.elementwise
    if not entrywise:
        given_c = fn in GIVES_C or (fn is np.copy and operands[1:] == ("C",))
        if given_c or (fn in SHOWS_OR_C and is_vouched(operands[0])):
            return AS_NUMPY if in_c_order(ans) else UNKNOWN
        entrywise = fn in ENTRYWISE
    if not (entrywise or fn in KEEPS_C) or not all(map(is_vouched, operands)):
        return UNKNOWN
    return AS_NUMPY if entrywise or (in_c_order(ans) and all(map(in_c_order, operands))) else UNKNOWN


def in_c_order(x: Value) -> bool:
    """Whether the array behind `x` is contiguous in C order."""
    array = bottom(x)[0]
    return array is not None and (not isinstance(array, ndarray) or array.flags.c_contiguous)
