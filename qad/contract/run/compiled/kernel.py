"""Products of small matrices.

BLAS needs two to three times as long for them as for as many multiply-adds of large ones: it copies both operands into
an order of its own before it begins.  Here they are read where they lie.  A tile of the result stays in registers while
the sum runs (`qad.contract.run.compiled.tile`); tile by tile downwards makes a strip of columns, strip by strip the
result.
With BLAS in their place the energy of a chain of bond 8, 16, 32 with its gradient takes 1.2, 1.5, 1.25 times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.contract.run.compiled.blas import multiplied
from qad.contract.run.compiled.tile import Place, packed, tile
from qad.native import inlined

if TYPE_CHECKING:
    from qad.native.values import KernelArray

__all__ = ["LONGEST", "WIDTH", "multiply"]

# what caches and registers hold
MOST_REAL, MOST_COMPLEX = 2**17, 2**20  # multiply-adds of a product from which on BLAS is as fast
WIDTH = 64  # bytes of a row of a tile: two registers of AVX2, one of AVX-512, four of NEON
LONGEST = 512  # terms of a sum, beyond which a strip of an operand leaves the first cache; then BLAS is called
NEAR, MANY = 2048, 32  # a second operand of more elements is copied strip by strip, for a result of so many rows


def multiply(
    work: KernelArray, one: int, two: int, out: int, m: int, k: int, n: int, form: int, room: KernelArray
) -> None:
    """``C = A B`` for matrices that are pieces of a block.

    Parameters
    ----------
    work : array, shape (size,)
        The block of A, B and C; C overlaps neither A nor B.
    one, two, out : int
        Where they begin.
    m, k, n : int
        A is (m, k) and B is (k, n).
    form : int
        1 where A lies transposed in memory, 2 where B does, 3 where both do, 0 otherwise.
    room : array of the same dtype
        Scratch memory, of `LONGEST` times `WIDTH` bytes.
    """
    if k > LONGEST or m * k * n > (MOST_COMPLEX if work.kind.pair else MOST_REAL):
        multiplied(work, one, work, two, work, out, m, k, n, form)
    else:
        a = Place(one, 1, m) if form & 1 else Place(one, k, 1)
        b = Place(two, 1, k) if form & 2 else Place(two, n, 1)
        tiles(work, a, b, Place(out, n, 1), m, k, n, room)


def tiles(work: KernelArray, a: Place, b: Place, c: Place, m: int, k: int, n: int, room: KernelArray) -> None:
    """``C = A B`` for matrices of these Places in a block; C overlaps neither A nor B."""
    if b.column != 1 and (a.row == 1 or m < n):  # the transpose reads along rows, or has less to copy
        a, b, c, m, n = turned(b), turned(a), turned(c), n, m
    copied = b.column != 1 or (m >= MANY and k * n > NEAR)
    at = 0
    while at < n:
        here, there = right(b, at), right(c, at)
        if n - at >= WIDTH // work.itemsize:
            strip(WIDTH // work.itemsize, work, a, here, there, m, k, room, copied)
            at += WIDTH // work.itemsize
        elif n - at >= WIDTH // work.itemsize // 2:
            strip(WIDTH // work.itemsize // 2, work, a, here, there, m, k, room, copied)
            at += WIDTH // work.itemsize // 2
        else:
            strip(1, work, a, here, there, m, k, room, copied)
            at += 1


def turned(place: Place) -> Place:
    return Place(place.start, place.column, place.row)


def right(place: Place, columns: int) -> Place:
    return Place(place.start + columns * place.column, place.row, place.column)


def down(place: Place, rows: int) -> Place:
    return Place(place.start + rows * place.row, place.row, place.column)


@inlined
def strip(
    columns: int, work: KernelArray, a: Place, b: Place, c: Place, m: int, k: int, room: KernelArray, copied: bool
) -> None:
    """So many columns of a result."""
    second = work
    if copied:
        packed(columns, work, b, room, k)
        second, b = room, Place(0, columns, 1)
    i = 0
    while i < m:
        here, there, left = down(a, i), down(c, i), m - i
        if left == 3 or left > 4:
            tile(3, columns, work, here, second, b, work, there, k)
            i += 3
        elif left > 1:
            tile(2, columns, work, here, second, b, work, there, k)
            i += 2
        else:
            tile(1, columns, work, here, second, b, work, there, k)
            i += 1
