"""Functions that are valid Python and valid kernels; each writes what it finds to `out`."""

from math import cos, frexp, sin
from typing import NamedTuple

from qad.native import COMPLEX, FLOAT, INT, INT32, REAL, Block


class Row(NamedTuple):
    """A row of a table."""

    first: int
    second: int


FACTOR = 3


def pair_of(x, y):
    """Two results."""
    if x > y:
        return x - y, x
    return y - x, 2 * y


def doubled(offset):
    """A function that closes over a number."""

    def inner(x):
        return 2 * x + offset

    return inner


shifted = doubled(5)


def integers(x: Block(INT), out: Block(INT)):
    """Arithmetic of integers, conditions and loops."""
    a, b = x[0], x[1]
    out[0], out[1], out[2], out[3] = a // 7, a % 7, a // 8, a % 8
    out[4], out[5], out[6] = a << 2, a >> 1, a & 6
    out[7] = (a | 1) ^ b
    out[8] = -a if a < b else a
    out[9] = 1 if a < b < 10 and not a == 3 else 0  # noqa: SIM201 - `not` of a comparison is to be compiled
    out[10] = 1 if (b != 0 and a // max(b, 1) > 1) or a in (4, 5) else 0
    d, e = pair_of(a, b)
    out[11], out[12] = d, e
    out[13] = shifted(a) * FACTOR
    total = 0
    for k in range(a, b, 2):
        if k == 5:
            continue
        if k > 8:
            break
        total += k
    for k in range(5, -1, -2):
        total += 10 * k
    while True:
        total += 100
        if total > 500:
            break
    out[14] = total
    for i, (y, z) in enumerate(((a, b), (b, a))):
        out[15 + i] = y - 2 * z
    out[18], out[19] = a // max(b, 1), a % max(b, 1)
    out[17] = sum_of(x[1:3]) + len(x) + min(a, b, 4) + abs(b - a)


def sum_of(x):
    """A loop over an array."""
    total = 0
    for y in x:
        total += y
    return total


def reals(x: Block(REAL, 2), scale: FLOAT, out: Block(REAL)):
    """Arithmetic of real numbers; known numbers take the type of others."""
    row = x[1]
    out[0] = (row[0] + 0.1) * row[1] / 3 - scale
    out[1] = max(row[0], row[1], 0.25)
    out[2] = cos(scale) + 2.0**-3 * sin(scale)
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total += x[i, j] * (1 if i == j else -1)
    out[3] = total
    out[4] = frexp(scale)[1]
    out[5] = 2.0 ** -frexp(scale)[1]
    a, b = (row[0], row[1]) if scale > 1 else (row[1], row[0])
    out[6] = a - 2 * b


def complexes(x: Block(COMPLEX), r: Block(REAL), out: Block(COMPLEX)):
    """Arithmetic of complex numbers."""
    out[0] = x[0] * x[1] - x[0] + 2
    out[1] = r[0] * x[0] / 2 + x[1].imag
    out[2] = complex(x[0].real, -x[1].imag)
    out[3] = x[0] if x[0] == x[1] else -x[1]
    out[4] = r[1]
    out[5] += x[0]
    out[6] = 1 if x[0] == 1 else 0


def records(table: Block(Row), small: Block(INT32), out: Block(INT)):
    """Fields of rows by name, and integers of 32 bits."""
    total = 0
    for m in range(len(table)):
        row = table[m]
        total += row.first * row.second - table[0].second
    out[0] = total
    small[1] = small[0] - 7
    out[1] = small[1] + small.size
