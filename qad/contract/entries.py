"""The entries of tables that a compiled loop carries out (`qad.contract.compiled.loop`).

Each entry begins with its kind, and goes on with the fields of a named tuple in their order.  What writes a table
(`qad.contract.bytecode`, `qad.mps.sweep_compiled`) makes such tuples; what reads it finds a field at its place among
the numbers, of which ``IN_COPY`` and the like have the names.
"""

from collections import namedtuple

__all__ = ["Add", "Copy", "Multiply", "Product", "Rescale", "entry"]

Copy = namedtuple("Copy", "kept read write ndim")
Copy.__doc__ = """An array with its axes in another order: whether it is read from the forward pass's block, where it is
read and written; then sizes, steps of reading and steps of writing of `ndim` axes, at least three."""

Product = namedtuple("Product", "first_kept first second_kept second out m k n form count")
Product.__doc__ = """A product of matrices (m, k) and (k, n), or of so many in a stack; `form` is that of `multiply`."""

Multiply = namedtuple("Multiply", "first_kept first second_kept second out ndim")
Multiply.__doc__ = """An elementwise product: then sizes and the steps in both operands of `ndim` axes."""

Add = namedtuple("Add", "fresh factor read from_step write to_step rows columns")
Add.__doc__ = """A multiple of a matrix written (`fresh`) or added to another, rows so far apart; `factor` is where the
number lies, negative for zeros."""

Rescale = namedtuple("Rescale", "start size room exponent")
Rescale.__doc__ = """A piece divided by a power of two where its largest number is not within 2**-room and 2**room; the
power is written at `exponent`."""

COPY, PRODUCT, MULTIPLY, ADD, RESCALE = range(5)
KINDS = {Copy: COPY, Product: PRODUCT, Multiply: MULTIPLY, Add: ADD, Rescale: RESCALE}
IN_COPY, IN_PRODUCT, IN_MULTIPLY, IN_ADD, IN_RESCALE = (kind(*range(1, 1 + len(kind._fields))) for kind in KINDS)


def entry(fields, *axes):
    """The numbers of an entry: a named tuple of its fields, and what follows them."""
    return (KINDS[type(fields)], *fields, *axes)
