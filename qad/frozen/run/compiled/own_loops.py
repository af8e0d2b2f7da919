"""Inner loops of our own, called as those of NumPy: with addresses of operands, sizes, strides in bytes, and data.

Products of small matrices, and sine and cosine of many numbers at once, to within one unit in the last place.  NumPy
computes them number by number, with a branch for every range of arguments, which a processor cannot predict: for random
numbers NumPy's sine and cosine take ten times as long as these loops, two thirds of the time of a chain of elementwise
functions.  An argument is reduced by multiples of pi/2 in 151 bits, and what is left is a sum of two numbers, for which
fdlibm's polynomials are made.  Larger arguments than 2**19, infinities and NaN are left to the C library.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from qad.frozen.run.compiled.loop import Int, bits, from_bits, memory
from qad.native import COMPLEX128, FLOAT, INT, inlined

if TYPE_CHECKING:
    from qad.native.values import KernelArray, Kind

LARGEST = 0x4120000000000000  # the bits of 2.0**19
SIGN = 0x7FFFFFFFFFFFFFFF  # all bits but the sign
TURNS = float.fromhex("0x1.45f306dc9c883p-1")  # 2 / pi
ROUNDING = 1.5 * 2.0**52  # added and taken away again, it rounds to an integer
QUARTERS = (  # pi / 2 in parts of 33 bits, whose products with integers of 20 bits are exact; and the rest
    1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624871116645580e-21, 8.47842766036889956997e-32,
)  # fmt: skip
SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
    -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05, -2.75573143513906633035e-07,
    2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip


def sine(args: Int, dims: Int, steps: Int, data: Int) -> None:
    """``y = sin(x)``, called as an inner loop of NumPy's."""
    waves(args, dims, steps, 0)


def cosine(args: Int, dims: Int, steps: Int, data: Int) -> None:
    """``y = cos(x)``, likewise."""
    waves(args, dims, steps, 1)


def waves(args: int, dims: int, steps: int, ahead: int) -> None:
    """``y = sin(x + ahead pi/2)``; `ahead` is 0 or 1, known beforehand."""
    x, y = memory(FLOAT, memory(INT, args)[0]), memory(FLOAT, memory(INT, args)[1])
    count, step_x, step_y = memory(INT, dims)[0], memory(INT, steps)[0] // 8, memory(INT, steps)[1] // 8
    largest = 0
    for i in range(count):
        largest = max(largest, bits(x[i * step_x]) & SIGN)
    if largest > LARGEST:
        for i in range(count):
            y[i * step_y] = math.cos(x[i * step_x]) if ahead else math.sin(x[i * step_x])
    elif step_x == 1 and step_y == 1:
        small(x, y, count, 1, 1, ahead)
    else:
        small(x, y, count, step_x, step_y, ahead)


@inlined
def small(x: KernelArray, y: KernelArray, count: int, step_x: int, step_y: int, ahead: int) -> None:
    """The same where no argument is large."""
    for i in range(count):
        y[i * step_y] = wave(x[i * step_x], ahead)


def wave(x: float, ahead: int) -> float:
    """``sin(x + ahead pi/2)``."""
    turned = x * TURNS + ROUNDING
    n = turned - ROUNDING
    rest, low = difference(x - n * QUARTERS[0], n * QUARTERS[1])
    rest, lower = difference(rest, n * QUARTERS[2])
    below = n * QUARTERS[3] - (low + lower)
    high = rest - below
    tail = (rest - high) - below
    quarter = bits(turned) + ahead
    even = (quarter & 1) - 1  # all bits set where the sine is asked for, none for the cosine
    found = (bits(sine_near(high, tail)) & even) | (bits(cosine_near(high, tail)) & (even ^ -1))
    return from_bits(found ^ ((quarter & 2) << 62))


def difference(a: float, b: float) -> tuple[float, float]:
    """``a - b`` and what rounding takes away from it."""
    found = a - b
    back = found - a
    return found, (a - (found - back)) - (b + back)


def sine_near(x: float, tail: float) -> float:
    """``sin(x + tail)`` within a quarter of pi."""
    z = x * x
    cube = z * x
    sum = SINE[1] + z * (SINE[2] + z * (SINE[3] + z * (SINE[4] + z * SINE[5])))
    return x - ((z * (0.5 * tail - cube * sum) - tail) - cube * SINE[0])


def cosine_near(x: float, tail: float) -> float:
    """``cos(x + tail)`` within a quarter of pi."""
    z = x * x
    sum = z * (COSINE[0] + z * (COSINE[1] + z * (COSINE[2] + z * (COSINE[3] + z * (COSINE[4] + z * COSINE[5])))))
    half = 0.5 * z
    most = 1.0 - half
    return most + (((1.0 - most) - half) + (z * sum - x * tail))


def product(args: Int, dims: Int, steps: Int, data: Int) -> None:
    """A stack of products of small matrices, as `np.matmul` has it."""
    products(FLOAT, 8, args, dims, steps)


def product_complex(args: Int, dims: Int, steps: Int, data: Int) -> None:
    """The same of complex ones."""
    products(COMPLEX128, 16, args, dims, steps)


def products(kind: Kind, size: int, args: int, dims: int, steps: int) -> None:
    """The same of a kind of numbers of so many bytes."""
    at, sizes, apart = memory(INT, args), memory(INT, dims), memory(INT, steps)
    x, y, out = memory(kind, at[0]), memory(kind, at[1]), memory(kind, at[2])
    m, k, n = sizes[1], sizes[2], sizes[3]
    for s in range(sizes[0]):
        for i in range(m):
            for j in range(n):
                one = (s * apart[0] + i * apart[3]) // size
                two = (s * apart[1] + j * apart[6]) // size
                total = x[one] * y[two]
                for t in range(1, k):
                    total += x[one + t * (apart[4] // size)] * y[two + t * (apart[5] // size)]
                out[(s * apart[2] + i * apart[7] + j * apart[8]) // size] = total
