"""The entries of tables that a compiled loop carries out (`qad.contract.run.compiled.loop`).

Each entry begins with its kind, followed by the fields of a named tuple in their order.  `qad.contract.run.bytecode`
and `qad.mps.energy.sweep_table` write tables of such tuples.  The compiled loop reads a field by its place in the
entry; ``IN_COPY`` and similar tuples name these places.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Add", "Copy", "Multiply", "MatrixProduct", "Rescale", "entry"]


class Copy(NamedTuple):
    """An array with its axes in another order: whether it is read from the forward pass's block, where it is read and
    written; then sizes, steps of reading and steps of writing of `ndim` axes, at least three."""

    kept: int
    read: int
    write: int
    ndim: int


class MatrixProduct(NamedTuple):
    """A product of matrices (m, k) and (k, n), or of so many in a stack; `form` is that of `multiply`."""

    first_kept: int
    first: int
    second_kept: int
    second: int
    out: int
    m: int
    k: int
    n: int
    form: int
    count: int


class Multiply(NamedTuple):
    """An elementwise product: then sizes and the steps in both operands of `ndim` axes."""

    first_kept: int
    first: int
    second_kept: int
    second: int
    out: int
    ndim: int


class Add(NamedTuple):
    """A multiple of a matrix written (`fresh`) or added to another, rows so far apart; `factor` is where the number
    lies, negative for zeros."""

    fresh: int
    factor: int
    read: int
    from_step: int
    write: int
    to_step: int
    rows: int
    columns: int


class Rescale(NamedTuple):
    """A piece divided by a power of two where its largest number is not within 2**-room and 2**room; the power is
    written at `exponent`."""

    start: int
    size: int
    room: int
    exponent: int


COPY, PRODUCT, MULTIPLY, ADD, RESCALE = range(5)
KINDS: dict[type[Any], int] = {Copy: COPY, MatrixProduct: PRODUCT, Multiply: MULTIPLY, Add: ADD, Rescale: RESCALE}
IN_COPY, IN_PRODUCT, IN_MULTIPLY = Copy(*range(1, 5)), MatrixProduct(*range(1, 11)), Multiply(*range(1, 7))
IN_ADD, IN_RESCALE = Add(*range(1, 9)), Rescale(*range(1, 5))


def entry(fields: tuple[int, ...], *axes: int) -> tuple[int, ...]:
    """The numbers of an entry: a named tuple of its fields, and what follows them."""
    return (KINDS[type(fields)], *fields, *axes)
