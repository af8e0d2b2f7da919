"""The inner loops of NumPy's ufuncs, found where NumPy's C interface keeps them.

What a compiled loop calls is thus the very code that NumPy would have called, and gives the same bits.
"""

from __future__ import annotations

from ctypes import c_int, c_void_p, string_at
from functools import cache

import numpy as np

HEAD = object.__basicsize__  # bytes of an object before what it holds; then ``PyUFuncObject`` of NumPy's C interface
FUNCTIONS, DATA, TYPES = HEAD + 16, HEAD + 24, HEAD + 48
ENTRIES = 0.3, -0.7, 1.5, np.nan, -2.25, 0.0, 0.11, np.inf, 0.9, -0.45, 3.7
MOST = 131  # entries that are tried: more than a loop takes at once, and a rest
LARGEST, FEWEST = 1 << 20, 2  # bytes from the first to the last; entries that have to fit


@cache
def loop_of(ufunc: np.ufunc, chars: str) -> tuple[int, int] | None:
    """Address and data of the inner loop for these dtypes, such as "dd->d"; None where there is none."""
    if chars not in ufunc.types:
        return None
    at, i = id(ufunc), ufunc.types.index(chars)
    expected = [np.dtype(c).num for c in chars if c not in "->"]
    counts = [c_int.from_address(at + HEAD + 4 * k).value for k in range(3)]
    kinds = string_at(pointer(at + TYPES) + i * ufunc.nargs, ufunc.nargs)
    if counts != [ufunc.nin, ufunc.nout, ufunc.nargs] or [*kinds] != expected:
        return None  # another interface than that of NumPy 2
    address, data = pointer(pointer(at + FUNCTIONS) + 8 * i), pointer(at + DATA)
    return address and (address, (data and pointer(data + 8 * i)) or 0)


@cache
def serves(ufunc: np.ufunc, chars: str, count: int, steps: tuple[int, ...]) -> bool:
    """Whether NumPy gives at these strides what it gives for arrays whose entries lie side by side.

    That is tried, for some versions do not: where results lie apart, `np.negative` of every eighth double and
    `np.isnan` are wrong in NumPy 2.4.
    """
    kinds = [np.dtype(c) for c in chars if c not in "->"]
    if count < 2 or all(step in (0, kind.itemsize) for step, kind in zip(steps, kinds, strict=True)):
        return True
    count = min(count, MOST, LARGEST // max(map(abs, steps)))
    if count < FEWEST:
        return False
    *operands, out = [_spread(*each, count) for each in zip(kinds, steps, strict=True)]
    memory = out.base.copy()
    with np.errstate(all="ignore"):
        expected = ufunc(*[x.copy() for x in operands])
        ufunc(*operands, out=out)
    error = np.finfo(kinds[0]).eps ** 0.75 if kinds[0].kind != "b" else 0.0
    right = np.allclose(out, expected, rtol=error, atol=error, equal_nan=True)
    out[...] = np.ndarray(out.shape, out.dtype, memory, _start(steps[-1], len(out)), out.strides)
    return right and np.array_equal(out.base, memory)


def _spread(dtype, step, count):
    """An array with entries of all kinds, at this stride."""
    memory = np.resize(np.arange(251, dtype=np.uint8), abs(step) * (count - 1) + dtype.itemsize)
    array = np.ndarray((count,), dtype, memory, _start(step, count), (step,))
    array[...] = np.resize(ENTRIES, count)[::-1] if dtype.kind != "b" else np.arange(count) % 3 == 0
    return array


def _start(step, count):
    return max(-step, 0) * (count - 1)


def pointer(at: int) -> int | None:
    """The pointer at an address, as an integer; None for NULL."""
    return c_void_p.from_address(at).value
