"""Products of small matrices, compiled by Numba; imported only where that is installed.

BLAS needs two to three times as long for them as for as many multiply-adds of large ones: it copies both operands into
an order of its own before it begins.  Here they are read where they lie.  A tile of the result (`qad.tensor.tile`)
stays in registers while the sum runs; tile by tile downwards makes a strip of columns, strip by strip the result.
"""

from collections import namedtuple

from numba import njit
from numba.extending import overload, register_jitable

from qad.tensor.replay import ROOM, multiply
from qad.tensor.tile import tile

__all__ = []

WIDTH = 64  # bytes of a row of a tile: two registers of AVX2, one of AVX-512, four of NEON
LONGEST = ROOM // WIDTH  # terms of a sum at most: so long a strip of the second operand stays in the first cache
MOST = 2**20  # multiply-adds from which on BLAS is as fast
NEAR, MANY = 2048, 32  # a second operand of more elements is copied strip by strip, for a result of so many rows

Place = namedtuple("Place", "start row column")
Place.__doc__ = """Where a matrix lies in a block: element (i, j) at ``start + i * row + j * column``."""


product_of_blas = njit(nogil=True)(multiply)


@overload(multiply)
def _multiply(first, one, second, two, work, out, m, k, n, form, room):
    wide = WIDTH * 8 // work.dtype.bitwidth
    half = wide // 2
    strip, strip_of_half, strip_of_one = _strip(wide), _strip(half), _strip(1)

    def product(first, one, second, two, work, out, m, k, n, form, room):
        if k > LONGEST or m * k * n > MOST:
            product_of_blas(first, one, second, two, work, out, m, k, n, form, room)
            return
        a = Place(one, 1, m) if form & 1 else Place(one, k, 1)
        b = Place(two, 1, k) if form & 2 else Place(two, n, 1)
        c = Place(out, n, 1)
        if b.column != 1 and (a.row == 1 or m < n):  # the transpose reads along rows, or has less to copy
            first, second, a, b, c, m, n = second, first, _turned(b), _turned(a), _turned(c), n, m
        copied = b.column != 1 or (m >= MANY and k * n > NEAR)
        at = 0
        while at < n:
            here, there = _right(b, at), _right(c, at)
            if n - at >= wide:
                strip(first, a, second, here, work, there, m, k, room, copied)
                at += wide
            elif n - at >= half:
                strip_of_half(first, a, second, here, work, there, m, k, room, copied)
                at += half
            else:
                strip_of_one(first, a, second, here, work, there, m, k, room, copied)
                at += 1

    return product


@register_jitable
def _turned(place):
    return Place(place.start, place.column, place.row)


@register_jitable
def _right(place, columns):
    return Place(place.start + columns * place.column, place.row, place.column)


@register_jitable
def _down(place, rows):
    return Place(place.start + rows * place.row, place.row, place.column)


def _strip(columns):
    """A function that makes so many columns of a result."""

    @register_jitable
    def strip(first, a, second, b, work, c, m, k, room, copied):
        if copied:
            for i in range(k):
                for j in range(columns):
                    room[i * columns + j] = second[b.start + i * b.row + j * b.column]
            second, b = room, Place(0, columns, 1)
        i = 0
        while i < m:
            here, there, left = _down(a, i), _down(c, i), m - i
            if left == 3 or left > 4:
                tile(3, columns, first, here, second, b, work, there, k)
                i += 3
            elif left > 1:
                tile(2, columns, first, here, second, b, work, there, k)
                i += 2
            else:
                tile(1, columns, first, here, second, b, work, there, k)
                i += 1

    return strip
