"""When is something what it was: numbers by value, arrays by their bytes, generators by where they stand."""

from __future__ import annotations

import random
from types import MethodType
from typing import Any

import numpy as np

NUMBERS = (bool, int, float, complex, str, bytes, np.generic)
FLOATS = (float, complex, np.generic)
ATOMS = (*NUMBERS, type(None), type(...), np.dtype, np.ufunc, range, slice)
GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)


def same(one: Any, two: Any) -> bool:
    """Whether two objects are one, or equal numbers of one type; 0.0 and -0.0 differ, nan and nan do not."""
    kind = type(one)
    if one is two:
        return True
    if kind is not type(two):
        return False
    if kind is tuple:
        return len(one) == len(two) and all(map(same, one, two))
    if kind is MethodType:
        return one.__func__ is two.__func__ and one.__self__ is two.__self__
    return isinstance(one, ATOMS) and (repr(one) == repr(two) if isinstance(one, FLOATS) else one == two)


def words(x: np.ndarray) -> str:
    """An array without a name, in words."""
    return f"an array of shape {x.shape}"


def is_memory(x: np.ndarray) -> bool:
    """Whether an array shows its bytes as they are: others are copied to be compared."""
    return x.flags.c_contiguous and x.dtype.kind in "biufc"


def content(x: np.ndarray) -> np.ndarray:
    """What bytes are compared with: the memory of an array, or a copy of its entries."""
    dense = x.T if x.flags.f_contiguous and not x.flags.c_contiguous else x
    return dense if is_memory(dense) else np.frombuffer(dense.tobytes(), np.uint8)


def is_read_only(x: np.ndarray) -> bool:
    """Whether nobody can write into an array: neither into it nor into what it is a view of."""
    while type(x.base) is np.ndarray and not x.flags.writeable:
        x = x.base
    return not x.flags.writeable


def state(generator: Any) -> Any:
    """Where a generator stands."""
    if isinstance(generator, random.Random):
        return generator.getstate()
    bits = getattr(generator, "bit_generator", None) or getattr(generator, "_bit_generator", generator)
    return repr(bits.state)


def global_state() -> Any:
    """Where the generators of NumPy and Python stand that have no name."""
    _, keys, place, *rest = np.random.get_state()  # noqa: NPY002 - which code may name
    return keys.tobytes(), place, rest, random.getstate()
