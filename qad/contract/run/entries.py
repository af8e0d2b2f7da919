"""The entries of tables that a compiled loop carries out (`qad.contract.run.compiled.loop`).

Each entry begins with its kind, followed by the fields of a named tuple in their order.  `qad.mps.energy.sweep_table`
writes tables of such tuples.  The compiled loop reads a field by its place in the entry; ``IN_ADD`` and similar tuples
name these places.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Add", "MatrixProduct", "Rescale", "entry"]


class MatrixProduct(NamedTuple):
    """A product of matrices (m, k) and (k, n); `form` is that of `multiplied`."""

    first: int
    second: int
    out: int
    m: int
    k: int
    n: int
    form: int


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


PRODUCT, ADD, RESCALE = range(3)
KINDS: dict[type[Any], int] = {MatrixProduct: PRODUCT, Add: ADD, Rescale: RESCALE}
IN_PRODUCT, IN_ADD, IN_RESCALE = MatrixProduct(*range(1, 8)), Add(*range(1, 9)), Rescale(*range(1, 5))


def entry(fields: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers of an entry."""
    return (KINDS[type(fields)], *fields)
