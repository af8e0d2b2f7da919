"""Entries of arrays at an index: read as copies, and written in place; below all levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from qad.core.tape.constants import is_alterable

if TYPE_CHECKING:
    from qad.typing.words import Index, Value

PLAIN_KINDS = (ndarray, np.generic, bool, int, float, complex)


class ArrayForm:
    """Shape and dtype of an array: what is known of a buffer without reading it."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape: tuple[int, ...] = shape
        self.dtype: Any = dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize


def taken(array: Value, index: Index) -> Value:
    """``array[index]``, in memory of its own."""
    part = array[index]
    if type(part) is ndarray:
        return part if part.base is None else part.copy()
    return part.copy() if getattr(part, "shape", ()) or is_alterable(part) else part


def placed(array: Value, index: Index, v: Value, add: bool) -> Value:
    """`array` with `v` written at `index`, or added there: the same array, or one of the kind of `v`."""
    if type(array) is ndarray and not isinstance(v, PLAIN_KINDS):
        array = moved(array, v)
    if add:
        accumulate(array, index, v)
    else:
        array[index] = v
    return array


def moved(array: Any, kin: Any) -> Any:
    """`array` as a new one of the kind of `kin`: on its device, or in the program that is recorded."""
    if is_alterable(kin):
        return np.array(array, like=kin)
    out = np.zeros(array.shape, array.dtype, like=kin)
    out[...] = array
    return out


def accumulate(array: Any, index: Any, v: Any) -> Any:
    """Add `v` to ``array[index]``, in place; entries that are named several times add up.

    NumPy stretches a value of one axis wrongly, past its end, for an array of one axis and an index of several.
    """
    if np.ndim(v) == array.ndim == 1:
        several = [np.shape(i) for i in (index if type(index) is tuple else (index,)) if np.ndim(i) > 1]
        v = np.broadcast_to(v, several[0]) if several else v
    np.add.at(array, index, v)
