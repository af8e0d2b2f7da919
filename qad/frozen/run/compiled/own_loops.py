"""Inner loops of our own, called as those of NumPy: with addresses of operands, sizes, strides in bytes, and data."""

from typing import TYPE_CHECKING

from qad.frozen.run.compiled.memory import Int, memory
from qad.native import COMPLEX128, FLOAT, INT

if TYPE_CHECKING:
    from qad.native.values import Kind


def product(args: Int, dims: Int, steps: Int, data: Int) -> None:
    """A stack of products of small matrices, as `np.matmul` has it."""
    products(FLOAT, 8, args, dims, steps)


def product_complex(args: Int, dims: Int, steps: Int, data: Int) -> None:
    """The same of complex ones."""
    products(COMPLEX128, 16, args, dims, steps)


def products(kind: "Kind", size: int, args: int, dims: int, steps: int) -> None:
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
