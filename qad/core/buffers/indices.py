"""Indices: whether they take a view, and places as an index of a flat vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from qad.core.tape.tensor import Tensor

if TYPE_CHECKING:
    from qad.typing.words import Index

SLICE = slice(None)
BASIC: frozenset[type] = frozenset((int, np.int64, np.int32, np.intp, slice, type(None), type(...)))


def flat(places: Any) -> Index:
    """The index of a flat vector that names these places: an integer or a slice where they are regular."""
    if type(places) is not ndarray:
        return places if type(places) is Tensor else int(places)
    if places.ndim == 0:
        return int(places)
    if places.ndim > 1 or places.base is None:
        return places
    n, step = len(places), places.strides[0] // places.itemsize
    if not n or not step:
        return places
    start = int(places[0])
    stop = start + step * n
    return slice(start, stop if stop >= 0 else None, step)


def covers(index: Index) -> bool:
    """Whether `index` is ``...``, ``:`` or a tuple of these: all of the array."""
    return all(i is ... or (type(i) is slice and i == SLICE) for i in (index if type(index) is tuple else (index,)))


def is_basic(index: Index) -> bool:
    """Whether `index` is made of integers, slices, ``...`` and None, so that NumPy gives a view."""
    return BASIC.issuperset(map(type, index)) if type(index) is tuple else type(index) in BASIC


def one_each(i: Index) -> bool:
    """Whether `i` holds one integer for each example of `qad.vmap`."""
    return type(i) is Tensor and not i.shape and i.dtype.kind in "iu"
