"""What LLVM compiles for contractions (the extra ``fast``): loops over tables, and products of small matrices."""

from pathlib import Path

import numpy as np

from qad.contract.compiled import kernel, loop
from qad.contract.compiled.blas import symbols
from qad.contract.costs import LONGEST, WIDTH
from qad.native import COMPLEX, INT, REAL, Block, Kernels

__all__ = ["replay", "stack_product", "warm_up"]

HERE = Path(__file__).parent
FILES = [*HERE.glob("*.py"), *(HERE.parent / name for name in ("costs.py", "entries.py"))]
AXES = 64  # of an array


def kernels(kind):
    """Both kernels for numbers of a kind."""

    def replay(code: Block(INT), kept: Block(kind), work: Block(kind), room: Block(kind), counts: Block(INT)):
        loop.replay(code, kept, work, room, counts)

    def stack_product(
        a: Block(kind, None), b: Block(kind, None), out: Block(kind, None), count: INT, m: INT, k: INT, n: INT,
        to_one: INT, a_row: INT, a_column: INT, to_two: INT, b_row: INT, b_column: INT, room: Block(kind),
    ):  # fmt: skip
        kernel.multiply_stacks(a, b, out, count, m, k, n, to_one, a_row, a_column, to_two, b_row, b_column, room)

    return Kernels(replay, stack_product, files=FILES, fast=False, symbols=symbols)


OF = {"f": kernels(REAL), "c": kernels(COMPLEX)}


def replay(code, kept, work):
    """Carry out a table on two blocks of one dtype (`qad.contract.compiled.loop.replay`)."""
    kind = work.dtype
    room, counts = np.empty(LONGEST * WIDTH // kind.itemsize, kind), np.empty(AXES, np.int64)
    OF[kind.kind](kind).replay(code, kept, work, room, counts)


def stack_product(a, b):
    """``a @ b`` for stacks of small matrices, shapes (count or 1, m, k) and (count or 1, k, n); strides >= 0."""
    kind, (m, k), n = a.dtype, a.shape[1:], b.shape[2]
    out = np.empty((max(a.shape[0], b.shape[0]), m, n), kind)
    room = np.empty(LONGEST * WIDTH // kind.itemsize, kind)
    steps = [step // kind.itemsize for step in (*a.strides, *b.strides)]
    for side, x in ((0, a), (3, b)):
        if x.shape[0] == 1:
            steps[side] = 0
    OF[kind.kind](kind).stack_product(a, b, out, len(out), m, k, n, *steps, room)
    return out


def warm_up(dtypes):
    """Compile all kernels for some dtypes."""
    for dtype in map(np.dtype, dtypes):
        OF[dtype.kind](dtype)
