"""Arrays of the caller that meet recorded Tensors: graphs hold copies of them.

A plain array belongs to the caller, who may write into it before the backward pass.  So a node holds a copy of what it
was.  A level copies an array when it meets it first; at every later use it compares the two, whole and bit by bit, and
copies again if they differ.  Whatever becomes of the array, the gradient is that of the numbers that were used.
"""

from __future__ import annotations

from operator import methodcaller
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
from numpy import ndarray

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qad.typing.words import Value

UNSEEN = (lambda: None), None, None


class Private(bytearray):
    """The memory of a copy that graphs hold: nobody else knows it, so that it never changes."""

    __slots__ = ()


def kept(level: Any, x: Value) -> Value:
    """What a node of a reverse level holds in the place of `x`, which is no Tensor of that level.

    An array that its owner made read-only stands for itself, as numbers do.  The copy of any other lives as long as the
    level; the level of `qad.tensor`, which never ends, remembers none and copies at every use.
    """
    of, copy, memory = level.seen.get(id(x), UNSEEN) if level.seen else UNSEEN
    if memory is not None and of() is x and x.shape == copy.shape and x.dtype is copy.dtype and (memory == x) is True:
        return copy  # the common case, quickly
    if isinstance(x, ndarray):
        if not x.flags.writeable and is_read_only(x):
            return x
        same, copied, known = holds, copy_of, ref
    elif is_alterable(x):  # not every library has weak references
        same, copied, known = equals, methodcaller("copy"), lambda x: lambda: x
    else:
        return x
    if level.seen is None:
        if level.number == 0:
            return copied(x)
        level.seen = {}
    if of() is not x or copy.shape != x.shape or copy.dtype != x.dtype or not same(copy, x):
        copy = copied(x)
        memory = copy.base if isinstance(x, ndarray) and x.flags.c_contiguous else None  # which the whole of x is like
        level.seen[id(x)] = entry = known(x), copy, memory
        level.last = entry if memory is not None else UNSEEN
    return copy


def is_read_only(array: NDArray[Any]) -> bool:
    """Whether an array is read-only, and all memory that it shows."""
    while isinstance(array, ndarray) and not array.flags.writeable:
        array = array.base
    return array is None or type(array) in (bytes, Private)


def copy_of(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only copy of an array, over memory that can be compared; in Fortran order where the array is."""
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        return copy_of(array.T).T
    memory = Private(array.data if array.flags.c_contiguous else array.tobytes())
    copy = np.ndarray(array.shape, array.dtype, memory)
    copy.flags.writeable = False
    return copy


def holds(copy: NDArray[Any], array: NDArray[Any]) -> bool:
    """Whether an array still holds what it was when it was copied, bit by bit."""
    flags = array.flags
    if flags.c_contiguous:
        return copy.base == array
    return copy.base.base == array.T if flags.f_contiguous else copy.base == array.tobytes()


def is_alterable(x: Any) -> bool:
    """Whether `x` is an array of another library, which may be written into."""
    kind = type(x)
    return hasattr(kind, "__array_function__") and not (hasattr(kind, "__qad_step__") or hasattr(x, "level"))


def equals(copy: Any, array: Any) -> bool:
    """`holds` for arrays of another library, by their own comparison: there NaN differs from itself."""
    return bool((copy == array).all())
