"""Products of small matrices.

BLAS needs two to three times as long for them as for as many multiply-adds of large ones: it copies both operands into
an order of its own before it begins.  Here they are read where they lie.  A tile of the result stays in registers while
the sum runs (`qad.contract.compiled.tile`); tile by tile downwards makes a strip of columns, strip by strip the result.
With BLAS in their place small networks and chains take 1.2 to 1.3 times as long, batches of products up to 1.8 times.
"""

from collections import namedtuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from qad.contract.compiled.jit import numba
from qad.contract.compiled.tile import packed, pointer, tile
from qad.contract.costs import BLAS_FROM, LONGEST, MANY, NEAR, WIDTH
from qad.contract.interpreter import multiply

__all__ = ["multiply_stacks", "usable"]

Place = namedtuple("Place", "start row column")
Place.__doc__ = """Where a matrix lies in a block: element (i, j) at ``start + i * row + j * column``."""


product_of_blas = numba.njit(nogil=True)(multiply)
usable = numba.extending.register_jitable
inlined = numba.extending.register_jitable(forceinline=True)


@numba.extending.overload(multiply)
def _multiply(first, one, second, two, work, out, m, k, n, form, room):
    most = BLAS_FROM["c" if isinstance(work.dtype, numba.types.Complex) else "f"]

    def product(first, one, second, two, work, out, m, k, n, form, room):
        if k > LONGEST or m * k * n > most:
            product_of_blas(first, one, second, two, work, out, m, k, n, form, room)
        else:
            a = Place(one, 1, m) if form & 1 else Place(one, k, 1)
            b = Place(two, 1, k) if form & 2 else Place(two, n, 1)
            tiles(first, a, second, b, work, Place(out, n, 1), m, k, n, room)

    return product


def multiply_stacks(a, b):
    """``a @ b`` for stacks of small matrices, shapes (count or 1, m, k) and (count or 1, k, n); strides >= 0."""
    m, k, n, item = a.shape[1], a.shape[2], b.shape[2], a.itemsize
    out = np.empty((max(a.shape[0], b.shape[0]), m, n), a.dtype)
    first, second, work = as_strided(a, (1,), (item,)), as_strided(b, (1,), (item,)), out.reshape(out.size)
    room = as_strided(np.empty(LONGEST * WIDTH // item, a.dtype), (1,), (item,))
    next_one = a.strides[0] // item if a.shape[0] > 1 else 0
    next_two = b.strides[0] // item if b.shape[0] > 1 else 0
    for i in range(len(out)):
        one = Place(i * next_one, a.strides[1] // item, a.strides[2] // item)
        two = Place(i * next_two, b.strides[1] // item, b.strides[2] // item)
        tiles(first, one, second, two, work, Place(i * m * n, n, 1), m, k, n, room)
    return out


def tiles(first, a, second, b, work, c, m, k, n, room):
    """``C = A B`` for matrices of these Places in blocks; C overlaps neither A nor B."""
    raise NotImplementedError("tiles are compiled: call this from a function that Numba compiles")


@numba.extending.overload(tiles)
def _tiles(first, a, second, b, work, c, m, k, n, room):
    wide = WIDTH * 8 // work.dtype.bitwidth
    half = wide // 2
    strip, strip_of_half, strip_of_one = _strip(wide), _strip(half), _strip(1)

    def product(first, a, second, b, work, c, m, k, n, room):
        first, second, work, room = pointer(first), pointer(second), pointer(work), pointer(room)
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


@inlined
def _turned(place):
    return Place(place.start, place.column, place.row)


@inlined
def _right(place, columns):
    return Place(place.start + columns * place.column, place.row, place.column)


@inlined
def _down(place, rows):
    return Place(place.start + rows * place.row, place.row, place.column)


def _strip(columns):
    """A function that makes so many columns of a result."""

    @inlined
    def strip(first, a, second, b, work, c, m, k, room, copied):
        if copied:
            packed(columns, second, b, room, k)
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
