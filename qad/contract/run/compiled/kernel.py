"""Products of small matrices.

BLAS needs two to three times as long for them as for as many multiply-adds of large ones: it copies both operands into
an order of its own before it begins.  Here they are read where they lie.  A tile of the result stays in registers while
the sum runs (`qad.contract.run.compiled.tile`); tile by tile downwards makes a strip of columns, strip by strip the
result.
With BLAS in their place small networks and chains take 1.2 to 1.3 times as long, batches of products up to 1.8 times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.contract.costs import BLAS_FROM, LONGEST, MANY, NEAR, WIDTH
from qad.contract.run.compiled.blas import multiplied
from qad.contract.run.compiled.tile import Place, packed, tile
from qad.native import inlined

if TYPE_CHECKING:
    from qad.native.values import KernelArray

__all__ = ["multiply", "multiply_stacks"]

MOST_REAL, MOST_COMPLEX = BLAS_FROM["f"], BLAS_FROM["c"]


def multiply(
    first: KernelArray, one: int, second: KernelArray, two: int, work: KernelArray, out: int, m: int, k: int, n: int,
    form: int, room: KernelArray,
) -> None:  # fmt: skip
    """``C = A B`` for matrices that are pieces of blocks.

    Parameters
    ----------
    first, second, work : arrays of one dtype, shape (size,)
        The blocks of A, B and C; C overlaps neither A nor B.
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
        multiplied(first, one, second, two, work, out, m, k, n, form)
    else:
        a = Place(one, 1, m) if form & 1 else Place(one, k, 1)
        b = Place(two, 1, k) if form & 2 else Place(two, n, 1)
        tiles(first, a, second, b, work, Place(out, n, 1), m, k, n, room)


def multiply_stacks(one: KernelArray, two: KernelArray, out: KernelArray, room: KernelArray) -> None:
    """``a @ b`` for stacks of small matrices, shapes (count or 1, m, k) and (count or 1, k, n); steps >= 0."""
    (ones, m, k), (to_one, a_row, a_column) = one.shape, one.steps
    (twos, _, n), (to_two, b_row, b_column) = two.shape, two.steps
    for i in range(out.shape[0]):
        a = Place(i * to_one if ones > 1 else 0, a_row, a_column)
        b = Place(i * to_two if twos > 1 else 0, b_row, b_column)
        tiles(one.flat, a, two.flat, b, out.flat, Place(i * m * n, n, 1), m, k, n, room)


def tiles(
    first: KernelArray, a: Place, second: KernelArray, b: Place, work: KernelArray, c: Place, m: int, k: int, n: int,
    room: KernelArray,
) -> None:  # fmt: skip
    """``C = A B`` for matrices of these Places in blocks; C overlaps neither A nor B."""
    if b.column != 1 and (a.row == 1 or m < n):  # the transpose reads along rows, or has less to copy
        first, second, a, b, c, m, n = second, first, turned(b), turned(a), turned(c), n, m
    copied = b.column != 1 or (m >= MANY and k * n > NEAR)
    at = 0
    while at < n:
        here, there = right(b, at), right(c, at)
        if n - at >= WIDTH // work.itemsize:
            strip(WIDTH // work.itemsize, first, a, second, here, work, there, m, k, room, copied)
            at += WIDTH // work.itemsize
        elif n - at >= WIDTH // work.itemsize // 2:
            strip(WIDTH // work.itemsize // 2, first, a, second, here, work, there, m, k, room, copied)
            at += WIDTH // work.itemsize // 2
        else:
            strip(1, first, a, second, here, work, there, m, k, room, copied)
            at += 1


def turned(place: Place) -> Place:
    return Place(place.start, place.column, place.row)


def right(place: Place, columns: int) -> Place:
    return Place(place.start + columns * place.column, place.row, place.column)


def down(place: Place, rows: int) -> Place:
    return Place(place.start + rows * place.row, place.row, place.column)


@inlined
def strip(
    columns: int, first: KernelArray, a: Place, second: KernelArray, b: Place, work: KernelArray, c: Place, m: int,
    k: int, room: KernelArray, copied: bool,
) -> None:  # fmt: skip
    """So many columns of a result."""
    if copied:
        packed(columns, second, b, room, k)
        second, b = room, Place(0, columns, 1)
    i = 0
    while i < m:
        here, there, left = down(a, i), down(c, i), m - i
        if left == 3 or left > 4:
            tile(3, columns, first, here, second, b, work, there, k)
            i += 3
        elif left > 1:
            tile(2, columns, first, here, second, b, work, there, k)
            i += 2
        else:
            tile(1, columns, first, here, second, b, work, there, k)
            i += 1
