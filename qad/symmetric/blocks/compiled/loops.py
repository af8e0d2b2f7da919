"""The loops that carry out tables of blocks and of sectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from qad.contract.run.compiled.blas import multiplied

if TYPE_CHECKING:
    import numpy as np

__all__ = ["add_blocks", "copy_blocks", "multiply_sectors"]

Four: TypeAlias = tuple[int, int, int, int]


def copy_blocks(table: np.ndarray, kept: int, x: np.ndarray, out: np.ndarray) -> None:
    """Copy blocks of four axes: rows of where to read and to write, the shape, the strides there and here.

    The signs of the first so many are kept, the others change theirs.
    """
    for row in range(len(table) // 14):
        read, write, shape, reads, writes = at(table, 14 * row)
        for i in range(shape[0]):
            for j in range(shape[1]):
                for k in range(shape[2]):
                    one = read + i * reads[0] + j * reads[1] + k * reads[2]
                    two = write + i * writes[0] + j * writes[1] + k * writes[2]
                    if row < kept:
                        copy_line(x, one, reads[3], out, two, writes[3], shape[3])
                    else:
                        negate_line(x, one, reads[3], out, two, writes[3], shape[3])


def add_blocks(table: np.ndarray, factors: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
    """As `copy_blocks`, but each block is multiplied with its factor and added to what is there."""
    for row in range(len(table) // 14):
        read, write, shape, reads, writes = at(table, 14 * row)
        for i in range(shape[0]):
            for j in range(shape[1]):
                for k in range(shape[2]):
                    one = read + i * reads[0] + j * reads[1] + k * reads[2]
                    two = write + i * writes[0] + j * writes[1] + k * writes[2]
                    add_line(factors[row], x, one, reads[3], out, two, writes[3], shape[3])


def add_line(factor: float, x: np.ndarray, one: int, read: int, out: np.ndarray, two: int, write: int, n: int) -> None:
    """Add n elements times a factor; contiguous ones several at a time."""
    if read == 1 and write == 1:
        source, target = x[one : one + n], out[two : two + n]
        for i in range(n):
            target[i] = target[i] + factor * source[i]
    else:
        for i in range(n):
            out[two + i * write] = out[two + i * write] + factor * x[one + i * read]


def at(table: np.ndarray, i: int) -> tuple[int, int, Four, Four, Four]:
    """A row of the table."""
    shape = table[i + 2], table[i + 3], table[i + 4], table[i + 5]
    reads = table[i + 6], table[i + 7], table[i + 8], table[i + 9]
    return table[i], table[i + 1], shape, reads, (table[i + 10], table[i + 11], table[i + 12], table[i + 13])


def copy_line(x: np.ndarray, one: int, read: int, out: np.ndarray, two: int, write: int, n: int) -> None:
    """Copy n elements; contiguous ones several at a time."""
    if read == 1 and write == 1:
        source, target = x[one : one + n], out[two : two + n]
        for i in range(n):
            target[i] = source[i]
    else:
        for i in range(n):
            out[two + i * write] = x[one + i * read]


def negate_line(x: np.ndarray, one: int, read: int, out: np.ndarray, two: int, write: int, n: int) -> None:
    """`copy_line` with the opposite sign."""
    if read == 1 and write == 1:
        source, target = x[one : one + n], out[two : two + n]
        for i in range(n):
            target[i] = -source[i]
    else:
        for i in range(n):
            out[two + i * write] = -x[one + i * read]


def multiply_sectors(table: np.ndarray, form: int, x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """``C = A B`` for rows of where A, B and C begin, and of m, k, n; `form` is that of `multiplied`."""
    for row in range(len(table) // 6):
        i = 6 * row
        multiplied(x, table[i], y, table[i + 1], out, table[i + 2], table[i + 3], table[i + 4], table[i + 5], form)
