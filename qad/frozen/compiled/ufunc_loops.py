"""The inner loops of NumPy's ufuncs, found where NumPy's C interface keeps them.

What a compiled loop calls is thus the very code that NumPy would have called, and gives the same bits.
"""

from ctypes import c_int, c_void_p, string_at
from functools import cache

import numpy as np

__all__ = ["loop_of"]

HEAD = object.__basicsize__  # bytes of an object before what it holds; then ``PyUFuncObject`` of NumPy's C interface
FUNCTIONS, DATA, COUNT, TYPES = HEAD + 16, HEAD + 24, HEAD + 32, HEAD + 48


@cache
def loop_of(ufunc, chars):
    """Address and data of the inner loop for these dtypes, such as "dd->d"; None where there is none."""
    if chars not in ufunc.types:
        return None
    at, i = id(ufunc), ufunc.types.index(chars)
    expected = [ufunc.nin, ufunc.nout, ufunc.nargs]
    if [c_int.from_address(at + HEAD + 4 * k).value for k in range(3)] != expected:
        return None
    kinds = string_at(c_void_p.from_address(at + TYPES).value + i * ufunc.nargs, ufunc.nargs)
    if c_int.from_address(at + COUNT).value != ufunc.ntypes or [*kinds] != [np.dtype(c).num for c in chars if c not in "->"]:
        return None
    address = c_void_p.from_address(c_void_p.from_address(at + FUNCTIONS).value + 8 * i).value
    data = c_void_p.from_address(at + DATA).value
    return address and (address, (data and c_void_p.from_address(data + 8 * i).value) or 0)
