"""The inner loops of NumPy's ufuncs, found where NumPy's C interface keeps them.

What a compiled loop calls is thus the very code that NumPy would have called, and gives the same bits.
"""

from __future__ import annotations

from ctypes import c_int, c_void_p, string_at
from functools import cache

import numpy as np

HEAD = object.__basicsize__  # bytes of an object before what it holds; then ``PyUFuncObject`` of NumPy's C interface
FUNCTIONS, DATA, TYPES = HEAD + 16, HEAD + 24, HEAD + 48


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


def pointer(at: int) -> int | None:
    """The pointer at an address, as an integer; None for NULL."""
    return c_void_p.from_address(at).value
