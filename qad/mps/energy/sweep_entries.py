"""The entries of a table carried out by NumPy: what `qad.contract.run.compiled.loop` does, without a compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.contract.run.entries import ADD, PRODUCT, Add, MatrixProduct, Rescale

if TYPE_CHECKING:
    from collections.abc import Sequence

LENGTHS = {PRODUCT: len(MatrixProduct._fields), ADD: len(Add._fields)}


def carried_out(code: Sequence[int], block: np.ndarray) -> None:
    """Carry out all entries of a table: products of single matrices, sums, and scales."""
    place = 0
    while place < len(code):
        kind, start = code[place], place + 1
        place = start + LENGTHS.get(kind, len(Rescale._fields))
        does = multiplied if kind == PRODUCT else added if kind == ADD else rescaled
        does(block, *code[start:place])


def matrix(block: np.ndarray, start: int, step: int, rows: int, columns: int) -> np.ndarray:
    """The matrix that lies in a block, its rows so far apart."""
    size = block.itemsize
    return np.ndarray((rows, columns), block.dtype, block, start * size, (step * size, size))


def multiplied(
    block: np.ndarray, _: int, first: int, __: int, second: int, out: int, m: int, k: int, n: int, form: int, ___: int
) -> None:
    """`qad.contract.run.entries.Product`: either matrix may lie transposed."""
    one = matrix(block, first, m, k, m).T if form & 1 else matrix(block, first, k, m, k)
    two = matrix(block, second, k, n, k).T if form & 2 else matrix(block, second, n, k, n)
    np.dot(one, two, out=matrix(block, out, n, m, n))


def added(
    block: np.ndarray, fresh: int, factor: int, read: int, from_step: int, write: int, to_step: int, rows: int,
    columns: int,
) -> None:  # fmt: skip
    """`qad.contract.run.entries.Add`."""
    target = matrix(block, write, to_step, rows, columns)
    if factor < 0:
        target[...] = 0
        return
    source, c = matrix(block, read, from_step, rows, columns), block[factor]
    if fresh:
        np.multiply(source, c, out=target) if c != 1 else np.copyto(target, source)
    elif c == -1:
        target -= source
    else:
        target += source if c == 1 else source * c


def rescaled(block: np.ndarray, start: int, size: int, room: int, exponent: int) -> None:
    """`qad.contract.run.entries.Rescale`."""
    piece, taken = block[start : start + size], 0
    largest = np.abs(piece).max()
    if 0 < largest < np.inf and not 2.0**-room < largest < 2.0**room:
        taken = int(np.frexp(largest)[1])
        piece *= 2.0**-taken
    block[exponent] = taken
