"""The loop that carries out tables of numbers (`qad.contract.run.entries`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from qad.contract.run.compiled.kernel import multiply
from qad.contract.run.entries import (
    ADD,
    COPY,
    IN_ADD,
    IN_COPY,
    IN_MULTIPLY,
    IN_PRODUCT,
    IN_RESCALE,
    PRODUCT,
    RESCALE,
)  # fmt: skip

if TYPE_CHECKING:
    from qad.native.values import KernelArray

__all__ = ["replay"]


def replay(code: KernelArray, kept: KernelArray, work: KernelArray, room: KernelArray, counts: KernelArray) -> None:
    """Carry out all entries of `code`.

    Parameters
    ----------
    code : array of int64
    kept, work : arrays of one dtype, shape (size,)
        The forward pass's block, and the block that is written: in the forward pass the same.
    room, counts : arrays
        Scratch memory: `LONGEST` times `WIDTH` bytes of that dtype, and an int64 for each axis of an entry.
    """
    place = 0
    while place < len(code):
        if code[place] == COPY:
            place = copy(code, place, kept, work, counts)
        elif code[place] == PRODUCT:
            place = product(code, place, kept, work, room)
        elif code[place] == ADD:
            place = add(code, place, work)
        elif code[place] == RESCALE:
            place = rescale(code, place, work)
        else:
            place = elementwise(code, place, kept, work, counts)


def product(code: KernelArray, place: int, kept: KernelArray, work: KernelArray, room: KernelArray) -> int:
    """A product of matrices, either of which may lie transposed, or of a stack of them."""
    fields, at = code[place:], IN_PRODUCT
    first = kept if fields[at.first_kept] else work
    second = kept if fields[at.second_kept] else work
    one, two, out = fields[at.first], fields[at.second], fields[at.out]
    m, k, n = fields[at.m], fields[at.k], fields[at.n]
    for _ in range(fields[at.count]):
        multiply(first, one, second, two, work, out, m, k, n, fields[at.form], room)
        one, two, out = one + m * k, two + k * n, out + m * n
    return place + 1 + len(at)


def copy(code: KernelArray, place: int, kept: KernelArray, work: KernelArray, counts: KernelArray) -> int:
    """A copy with its axes in another order."""
    fields, at = code[place:], IN_COPY
    source = kept if fields[at.kept] else work
    read, write, ndim = fields[at.read], fields[at.write], fields[at.ndim]
    axes = fields[1 + len(at) :]
    shape, reads, writes = axes[:ndim], axes[ndim : 2 * ndim], axes[2 * ndim : 3 * ndim]
    x, y, z = ndim - 3, ndim - 2, ndim - 1
    clear(counts, ndim)
    while True:
        for i in range(shape[x]):
            for j in range(shape[y]):
                one, two = read + i * reads[x] + j * reads[y], write + i * writes[x] + j * writes[y]
                for k in range(shape[z]):
                    work[two + k * writes[z]] = source[one + k * reads[z]]
        on, further, over = advance(counts, shape, ndim - 4, reads, writes)
        if over:
            return place + 1 + len(at) + 3 * ndim
        read, write = read + on, write + further


def add(code: KernelArray, place: int, work: KernelArray) -> int:
    """A matrix of zeros, or a multiple of a matrix written or added to another; rows may lie apart."""
    fields, at = code[place:], IN_ADD
    fresh, factor, columns = fields[at.fresh], fields[at.factor], fields[at.columns]
    read, from_step, write, to_step = fields[at.read], fields[at.from_step], fields[at.write], fields[at.to_step]
    c = work[factor] if factor >= 0 else work[0]
    for i in range(fields[at.rows]):
        x = work[read + i * from_step : read + i * from_step + columns]
        y = work[write + i * to_step : write + i * to_step + columns]
        if factor < 0:
            for j in range(columns):
                y[j] = 0
        elif fresh and c == 1:
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
    return place + 1 + len(at)


def rescale(code: KernelArray, place: int, work: KernelArray) -> int:
    """A piece divided by a power of two where its largest number has drifted too far from 1; the power is written."""
    fields, at = code[place:], IN_RESCALE
    room, exponent, largest = fields[at.room], 0, 0.0
    piece = work[fields[at.start] : fields[at.start] + fields[at.size]]
    for x in piece:
        largest = max(largest, abs(x.real), abs(x.imag))
    if 0 < largest < np.inf and not 2.0**-room < largest < 2.0**room:
        exponent = math.frexp(largest)[1]
        for i in range(len(piece)):
            piece[i] *= 2.0**-exponent
    work[fields[at.exponent]] = exponent
    return place + 1 + len(at)


def elementwise(code: KernelArray, place: int, kept: KernelArray, work: KernelArray, counts: KernelArray) -> int:
    """An elementwise product of two arrays spread over the axes of the result."""
    fields, at = code[place:], IN_MULTIPLY
    first = kept if fields[at.first_kept] else work
    second = kept if fields[at.second_kept] else work
    one, two, write, ndim = fields[at.first], fields[at.second], fields[at.out], fields[at.ndim]
    axes = fields[1 + len(at) :]
    shape, left, right = axes[:ndim], axes[ndim : 2 * ndim], axes[2 * ndim : 3 * ndim]
    last = ndim - 1
    clear(counts, ndim)
    while True:
        for i in range(shape[last]):
            work[write + i] = first[one + i * left[last]] * second[two + i * right[last]]
        write += shape[last]
        on, further, over = advance(counts, shape, last - 1, left, right)
        if over:
            return place + 1 + len(at) + 3 * ndim
        one, two = one + on, two + further


def clear(counts: KernelArray, ndim: int) -> None:
    """Begin to count."""
    for axis in range(ndim):
        counts[axis] = 0


def advance(
    counts: KernelArray, shape: KernelArray, axis: int, left: KernelArray, right: KernelArray
) -> tuple[int, int, bool]:
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
