"""The loop that carries out tables of numbers (`qad.contract.bytecode`, `qad.mps.sweep_compiled`), in plain Python.

Numba compiles it (the extra ``fast``).
"""

import math
from functools import cache
from importlib.util import find_spec

import numpy as np
from numpy.lib.stride_tricks import as_strided

from qad.contract.bytecode import ADD, COPY, PRODUCT, RESCALE
from qad.contract.small_matmul import LONGEST, WIDTH

__all__ = ["compiled", "has_numba", "multiply", "replay"]


def replay(code, kept, work):
    """Carry out all entries of `code`.

    Parameters
    ----------
    code : array of int64
    kept, work : arrays of one dtype, shape (size,)
        The forward pass's block, and the block that is written: in the forward pass the same.
    """
    place, room = 0, np.empty(LONGEST * WIDTH // work.itemsize, work.dtype)
    while place < len(code):
        if code[place] == COPY:
            place = _copy(code, place, kept, work)
        elif code[place] == PRODUCT:
            place = _product(code, place, kept, work, room)
        elif code[place] == ADD:
            place = _add(code, place, work)
        elif code[place] == RESCALE:
            place = _rescale(code, place, work)
        else:
            place = _multiply(code, place, kept, work)


def _product(code, place, kept, work, room):
    """A product of matrices, either of which may lie transposed, or of a stack of them."""
    first = kept if code[place + 1] else work
    second = kept if code[place + 3] else work
    one, two, out = code[place + 2], code[place + 4], code[place + 5]
    m, k, n, form, count = code[place + 6], code[place + 7], code[place + 8], code[place + 9], code[place + 10]
    for _ in range(count):
        multiply(first, one, second, two, work, out, m, k, n, form, room)
        one, two, out = one + m * k, two + k * n, out + m * n
    return place + 11


def multiply(first, one, second, two, work, out, m, k, n, form, room):
    """``C = A B`` for matrices that are pieces of blocks; once compiled, by `qad.contract.compiled.kernel` if small.

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
    a, b, c = first[one : one + m * k], second[two : two + k * n], work[out : out + m * n].reshape(m, n)
    if form == 0:
        np.dot(a.reshape(m, k), b.reshape(k, n), c)
    elif form == 1:
        np.dot(a.reshape(k, m).T, b.reshape(k, n), c)
    elif form == 2:
        np.dot(a.reshape(m, k), b.reshape(n, k).T, c)
    else:
        np.dot(a.reshape(k, m).T, b.reshape(n, k).T, c)


def _copy(code, place, kept, work):
    """A copy with its axes in another order."""
    source = kept if code[place + 1] else work
    read, write, ndim = code[place + 2], code[place + 3], code[place + 4]
    place += 5
    shape, reads, writes = code[place : place + ndim], code[place + ndim : place + 2 * ndim], code[place + 2 * ndim :]
    inner = (shape[ndim - 3], shape[ndim - 2], shape[ndim - 1])
    size = work.itemsize
    from_steps = (reads[ndim - 3] * size, reads[ndim - 2] * size, reads[ndim - 1] * size)
    to_steps = (writes[ndim - 3] * size, writes[ndim - 2] * size, writes[ndim - 1] * size)
    counts = np.zeros(ndim, np.int64)
    while True:
        one, two = as_strided(source[read:], inner, from_steps), as_strided(work[write:], inner, to_steps)
        for i in range(inner[0]):
            for j in range(inner[1]):
                for k in range(inner[2]):
                    two[i, j, k] = one[i, j, k]
        on, further, over = _advance(counts, shape, ndim - 4, reads, writes)
        if over:
            return place + 3 * ndim
        read, write = read + on, write + further


def _add(code, place, work):
    """A matrix of zeros, or a multiple of a matrix written or added to another; rows may lie apart."""
    fresh, factor, read, from_step, write, to_step, rows, columns = code[place + 1 : place + 9]
    if factor < 0:
        for i in range(rows):
            work[write + i * to_step : write + i * to_step + columns] = 0
        return place + 9
    c = work[factor]
    for i in range(rows):
        x = work[read + i * from_step : read + i * from_step + columns]
        y = work[write + i * to_step : write + i * to_step + columns]
        if fresh and c == 1:
            for j in range(columns):
                y[j] = x[j]
        elif fresh:
            for j in range(columns):
                y[j] = c * x[j]
        elif c == 1:
            for j in range(columns):
                y[j] += x[j]
        else:
            for j in range(columns):
                y[j] += c * x[j]
    return place + 9


def _rescale(code, place, work):
    """A piece divided by a power of two where its largest number has drifted too far from 1; the power is written."""
    start, size, room, exponent = code[place + 1], code[place + 2], code[place + 3], 0
    piece = work[start : start + size]
    largest = 0.0
    for x in piece:
        largest = max(largest, abs(x.real), abs(x.imag))
    if 0 < largest < np.inf and not 2.0**-room < largest < 2.0**room:
        exponent = math.frexp(largest)[1]
        for i in range(size):
            piece[i] *= 2.0**-exponent
    work[code[place + 4]] = exponent
    return place + 5


def _multiply(code, place, kept, work):
    """An elementwise product of two arrays spread over the axes of the result."""
    first = kept if code[place + 1] else work
    second = kept if code[place + 3] else work
    one, two, write, ndim = code[place + 2], code[place + 4], code[place + 5], code[place + 6]
    shape = code[place + 7 : place + 7 + ndim]
    left = code[place + 7 + ndim : place + 7 + 2 * ndim]
    right = code[place + 7 + 2 * ndim : place + 7 + 3 * ndim]
    counts, last = np.zeros(ndim, np.int64), ndim - 1
    while True:
        for i in range(shape[last]):
            work[write + i] = first[one + i * left[last]] * second[two + i * right[last]]
        write += shape[last]
        on, further, over = _advance(counts, shape, last - 1, left, right)
        if over:
            return place + 7 + 3 * ndim
        one, two = one + on, two + further


def _advance(counts, shape, axis, left, right):
    """Count on along the axes up to `axis`: the steps of two places in memory, and whether all is over."""
    one = two = 0
    while axis >= 0:
        counts[axis] += 1
        one += left[axis]
        two += right[axis]
        if counts[axis] < shape[axis]:
            return one, two, False
        one -= left[axis] * shape[axis]
        two -= right[axis] * shape[axis]
        counts[axis] = 0
        axis -= 1
    return one, two, True


@cache
def compiled():
    """`replay`, compiled; what has been compiled once is kept on disk."""
    from qad.contract.compiled import kernel
    from qad.contract.compiled.jit import jit

    for part in (_advance, _copy, _product, _add, _rescale, _multiply):
        kernel.usable(part)
    return jit(replay)


@cache
def has_numba():
    """Whether the loop can be compiled."""
    return find_spec("numba") is not None
