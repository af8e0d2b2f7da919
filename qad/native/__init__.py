"""Kernels: plain Python functions of numbers and arrays, translated to machine code by LLVM (the extra ``fast``).

A kernel's source is Python that also runs as such; its loops take arrays element by element.  It is translated, for
arguments of given types, from its syntax tree, function by function, and all kernels of one `Kernels` go through LLVM
at once; the machine code is kept on disk.
"""

from qad.native.intrinsics import inlined, intrinsic
from qad.native.kernels import Bundle, Kernels, row_dtype
from qad.native.values import COMPLEX, COMPLEX128, FLOAT, INT, INT32, REAL, Block, struct

__all__ = [
    "COMPLEX", "COMPLEX128", "FLOAT", "INT", "INT32", "REAL", "Block", "Bundle", "Kernels", "inlined", "intrinsic",
    "row_dtype", "struct",
]  # fmt: skip
