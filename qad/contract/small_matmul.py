"""Products of stacks of small matrices, compiled where Numba is installed (the extra ``fast``)."""

from functools import cache
from math import gcd

from numpy import dtype, ndarray

__all__ = ["DTYPES", "LONGEST", "MOST", "WIDTH", "multiply"]

WIDTH = 64  # bytes of a row of a tile: two registers of AVX2, one of AVX-512, four of NEON
LONGEST = 512  # terms of a sum, beyond which a strip of an operand leaves the first cache; then BLAS is called
MOST = {"f": 2**17, "c": 2**20}  # multiply-adds of a product from which on BLAS is as fast, by the kind of dtype
DTYPES = frozenset(map(dtype, ("f4", "f8", "c8", "c16")))


def multiply(a, b):
    """``a @ b`` for stacks of matrices, small ones by a compiled loop; Numba must be there."""
    if not (type(a) is type(b) is ndarray and a.dtype == b.dtype and a.dtype in DTYPES):
        return a @ b
    (m, k), n = a.shape[-2:], b.shape[-1]
    small = 0 < m * k * n <= MOST[a.dtype.kind] and k <= LONGEST and max(a.ndim, b.ndim) == 3 and a.size and b.size
    if not (small and a.flags.behaved and b.flags.behaved):
        return a @ b
    steps = a.strides + b.strides
    if min(steps) < 0 or gcd(*steps) % a.itemsize:
        return a @ b
    return _compiled(a.dtype)(a if a.ndim == 3 else a[None], b if b.ndim == 3 else b[None])


@cache
def _compiled(kind):
    """`multiply_stacks` for one dtype; what has been compiled once is kept on disk."""
    from qad.contract.compiled.jit import jit, numba
    from qad.contract.compiled.kernel import multiply_stacks

    array = numba.types.Array(numba.from_dtype(kind), 3, "A")
    return jit(multiply_stacks, array, array)
