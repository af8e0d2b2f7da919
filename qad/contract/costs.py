"""What things cost, in nanoseconds: the one table by which plans, layouts and programs choose between ways to compute.

The figures are of one core and complex128; only their ratios matter, and no result depends on them beyond rounding.
``python -m benchmarks.costs`` measures them on the machine at hand and prints them beside those written here.
"""

from __future__ import annotations

__all__ = ["Replayed", "loop_pays"]

CALL = 2000.0  # a call of NumPy's on small arrays with the Python around it: views, a product, lists
MULTIPLY_ADD = 0.15  # of a large product of matrices, by BLAS
ELEMENT_ADDED = 1.5  # an element of a sum of arrays

# -- products of matrices (`qad.contract.plan.lower`), beyond their multiply-adds
PRODUCT_CALL, MATMUL_CALL = 150.0, 1000.0  # one product of a stack; the stack
SMALLER_OPERAND, LARGER_OPERAND, RESULT = 2.0, 0.6, 0.75  # per element
COPY_CALL, COPY_ELEMENT, COPY_RUN = 500.0, 2.0, 6.0  # a run: elements whose distance stays the same on both sides
MISPLACED = 0.75  # of a copy: the reader of a result in the wrong order may have to copy it

# -- compiled loops (`qad.contract.run.compiled.loop`)
LOOP_CALL, ENTRY = 5000.0, 200.0  # of a whole loop, its operands gathered; of each of its entries
LARGE_PAIR = 30_000.0  # mean time of the pairs of a network from which on what a loop saves is not worth its copies
BLAS_FROM = {"f": 2**17, "c": 2**20}  # multiply-adds of a product from which on BLAS is as fast, by the kind of dtype

# -- tiles of products of small matrices (`qad.contract.run.compiled.kernel`): what caches and registers hold
WIDTH = 64  # bytes of a row of a tile: two registers of AVX2, one of AVX-512, four of NEON
LONGEST = 512  # terms of a sum, beyond which a strip of an operand leaves the first cache; then BLAS is called
NEAR, MANY = 2048, 32  # a second operand of more elements is copied strip by strip, for a result of so many rows


class Replayed:
    """Calls on small arrays in a program that is replayed (`qad.freeze`)."""

    CALL, SCALAR, SUMMED, PRODUCT = 450.0, 100.0, 1050.0, 1100.0
    EACH_PRODUCT = 80.0  # further one in a stack of products
    JOIN, EACH_PART = 700.0, 150.0  # np.concatenate
    GATHER, EACH_NUMBER = 500.0, 30.0  # np.array of numbers
    MOVING = 500.0  # to get at a part of what has no place of its own, such as an input
    GENERAL = 2500.0  # of an instruction that looks up such operands
    COPY = 400.0  # of a result of the program, which would be computed straight into the caller's hands


def loop_pays(pairs: int, flops: int) -> bool:
    """Whether a network of so many pairs and multiply-adds takes less time as one compiled loop."""
    return pairs * (CALL - ENTRY) > LOOP_CALL and 0 < flops * MULTIPLY_ADD < pairs * LARGE_PAIR
