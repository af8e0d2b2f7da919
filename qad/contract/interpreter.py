"""The loop that carries out tables of numbers (`qad.contract.bytecode`, `qad.mps.sweep_compiled`), in plain Python.

Each entry of a table begins with its kind, and goes on with the fields of a named tuple in their order.  What writes a
table makes such tuples; here they are read by names that stand for their positions.  `qad.contract.compiler` compiles
the loop.
"""

import math
from collections import namedtuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from qad.contract.costs import LONGEST, WIDTH

__all__ = ["Add", "Copy", "Multiply", "PARTS", "Product", "Rescale", "entry", "multiply", "replay"]

Copy = namedtuple("Copy", "kept read write ndim")
Copy.__doc__ = """An array with its axes in another order: whether it is read from the forward pass's block, where it is
read and written; then sizes, steps of reading and steps of writing of `ndim` axes, at least three."""

Product = namedtuple("Product", "first_kept first second_kept second out m k n form count")
Product.__doc__ = """A product of matrices (m, k) and (k, n), or of so many in a stack; `form` is that of `multiply`."""

Multiply = namedtuple("Multiply", "first_kept first second_kept second out ndim")
Multiply.__doc__ = """An elementwise product: then sizes and the steps in both operands of `ndim` axes."""

Add = namedtuple("Add", "fresh factor read from_step write to_step rows columns")
Add.__doc__ = """A multiple of a matrix written (`fresh`) or added to another, rows so far apart; `factor` is where
that multiple lies, negative for zeros."""

Rescale = namedtuple("Rescale", "start size room exponent")
Rescale.__doc__ = """A piece divided by a power of two where its largest entry is not within 2**-room and 2**room; the
power is written at `exponent`."""

COPY, PRODUCT, MULTIPLY, ADD, RESCALE = range(5)
KINDS = {Copy: COPY, Product: PRODUCT, Multiply: MULTIPLY, Add: ADD, Rescale: RESCALE}
IN_COPY, IN_PRODUCT, IN_MULTIPLY, IN_ADD, IN_RESCALE = (kind(*range(1, 1 + len(kind._fields))) for kind in KINDS)


def entry(fields, *axes):
    """The numbers of an entry: a named tuple of its fields, and what follows them."""
    return (KINDS[type(fields)], *fields, *axes)


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
    fields, at = code[place:], IN_PRODUCT
    first = kept if fields[at.first_kept] else work
    second = kept if fields[at.second_kept] else work
    one, two, out = fields[at.first], fields[at.second], fields[at.out]
    m, k, n = fields[at.m], fields[at.k], fields[at.n]
    for _ in range(fields[at.count]):
        multiply(first, one, second, two, work, out, m, k, n, fields[at.form], room)
        one, two, out = one + m * k, two + k * n, out + m * n
    return place + 1 + len(at)


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
    fields, at = code[place:], IN_COPY
    source = kept if fields[at.kept] else work
    read, write, ndim = fields[at.read], fields[at.write], fields[at.ndim]
    shape, reads, writes = _columns(fields[1 + len(at) :], ndim)
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
            return place + 1 + len(at) + 3 * ndim
        read, write = read + on, write + further


def _add(code, place, work):
    """A matrix of zeros, or a multiple of a matrix written or added to another; rows may lie apart."""
    fields, at = code[place:], IN_ADD
    fresh, factor, columns = fields[at.fresh], fields[at.factor], fields[at.columns]
    read, from_step, write, to_step = fields[at.read], fields[at.from_step], fields[at.write], fields[at.to_step]
    c = work[factor] if factor >= 0 else work[0]
    for i in range(fields[at.rows]):
        if factor < 0:
            work[write + i * to_step : write + i * to_step + columns] = 0
            continue
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
    return place + 1 + len(at)


def _rescale(code, place, work):
    """A piece divided by a power of two where its largest entry has drifted too far from 1; the power is written."""
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


def _multiply(code, place, kept, work):
    """An elementwise product of two arrays spread over the axes of the result."""
    fields, at = code[place:], IN_MULTIPLY
    first = kept if fields[at.first_kept] else work
    second = kept if fields[at.second_kept] else work
    one, two, write, ndim = fields[at.first], fields[at.second], fields[at.out], fields[at.ndim]
    shape, left, right = _columns(fields[1 + len(at) :], ndim)
    counts, last = np.zeros(ndim, np.int64), ndim - 1
    while True:
        for i in range(shape[last]):
            work[write + i] = first[one + i * left[last]] * second[two + i * right[last]]
        write += shape[last]
        on, further, over = _advance(counts, shape, last - 1, left, right)
        if over:
            return place + 1 + len(at) + 3 * ndim
        one, two = one + on, two + further


def _columns(numbers, ndim):
    """Sizes and two kinds of steps of so many axes."""
    return numbers[:ndim], numbers[ndim : 2 * ndim], numbers[2 * ndim : 3 * ndim]


def _advance(counts, shape, axis, left, right):
    """Count on along the axes up to `axis`: the steps of two positions in memory, and whether all is over."""
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


PARTS = (_advance, _columns, _copy, _product, _add, _rescale, _multiply)  # what `replay` calls
