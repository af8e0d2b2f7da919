"""Kernels: plain Python functions of numbers and arrays, translated to machine code by LLVM (the extra ``fast``).

All functions of one `Kernels` go through LLVM together, at the first use of one, for one precision; the machine code is
kept on disk.  Their parameters are annotated (`INT`, `FLOAT`, `Block`, or a class made by `struct`), and they return
nothing.  What they call is translated from its syntax tree for the arguments that it is given.  The language is a part
of Python, and means the same but for this:

* A name keeps the type of its first value, and is read only where it has one whatever way was taken.  Integers have 64
  bits.  A real number times a complex one multiplies both parts.
* Arrays are in C order, are read and written element by element, and are not checked for bounds; an index counts from
  the beginning.  ``x[i]`` of two axes is a row, ``x[i:j]`` of one axis a piece; neither is copied.
* A step of `range` that is not known beforehand is positive, and a divisor of ``//`` and ``%`` is not 0.
* ``and`` and ``or`` are conditions: the values that they have in Python may only be tested.
* Tuples have known lengths; a loop over one is written once for each of its elements, and not left by a jump.
* What is not named here is refused: arguments by keyword, slices with a step, `else` after a loop.
* Numbers, conditions and functions that are known beforehand (literals, what modules and closures hold, arguments that
  are such) are worked out by the translator: only one branch of an `if` on them is compiled.
"""

from qad.native.intrinsics import inlined, intrinsic
from qad.native.kernels import Bundle, Kernels, readable, row_dtype
from qad.native.values import COMPLEX, COMPLEX128, FLOAT, INT, INT32, REAL, Block, struct

__all__ = [
    "COMPLEX", "COMPLEX128", "FLOAT", "INT", "INT32", "REAL", "Block", "Bundle", "Kernels", "inlined", "intrinsic",
    "readable", "row_dtype", "struct",
]  # fmt: skip
