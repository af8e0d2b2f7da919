"""Products of stacks of small matrices, compiled where LLVM is installed (the extra ``fast``)."""

from __future__ import annotations

from math import gcd

from numpy import dtype, ndarray

from qad.contract.costs import BLAS_FROM, LONGEST
from qad.contract.run.compiler import stack_product

__all__ = ["DTYPES", "multiply"]

DTYPES = frozenset(map(dtype, ("f4", "f8", "c8", "c16")))


def multiply(a: ndarray, b: ndarray) -> ndarray:
    """``a @ b`` for stacks of matrices, small ones by a compiled loop; llvmlite must be there."""
    if not (type(a) is type(b) is ndarray and a.dtype == b.dtype and a.dtype in DTYPES):
        return a @ b
    (m, k), n = a.shape[-2:], b.shape[-1]
    small = 0 < m * k * n <= BLAS_FROM[a.dtype.kind] and k <= LONGEST and max(a.ndim, b.ndim) == 3 and a.size and b.size
    if not (small and a.flags.behaved and b.flags.behaved):
        return a @ b
    steps = a.strides + b.strides
    if min(steps) < 0 or gcd(*steps) % a.itemsize:
        return a @ b
    return stack_product(a if a.ndim == 3 else a[None], b if b.ndim == 3 else b[None])
