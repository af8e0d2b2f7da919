"""What LLVM compiles for contractions (the extra ``fast``): loops over tables, small products, searches for orders."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from qad.contract.costs import LONGEST, WIDTH
from qad.contract.run.compiled import kernel, loop
from qad.contract.run.compiled.blas import symbols
from qad.contract.run.compiled.exchange import EXCHANGES
from qad.native import COMPLEX, INT, REAL, Block, Kernels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qad.native.values import Kind
    from qad.typing import DTypeLike

__all__ = ["replay", "stack_product", "warm_up"]

HERE = Path(__file__).parent
FILES = [*HERE.glob("*.py"), HERE.parents[1] / "costs.py", HERE.parent / "entries.py"]
AXES = 64  # of an array


def tables(kind: "Kind") -> Kernels:
    """The kernel that carries out tables, for numbers of a kind."""

    def replay(code: Block(INT), kept: Block(kind), work: Block(kind), room: Block(kind), counts: Block(INT)):
        loop.replay(code, kept, work, room, counts)

    return Kernels(replay, files=FILES, fast=False, symbols=symbols)


def stacks(kind: "Kind") -> Kernels:
    """The kernel of products of stacks: compiled by itself, for most programs need one of the two."""
    stack = Block(kind, 3, strided=True)

    def stack_product(a: stack, b: stack, out: stack, room: Block(kind)):
        kernel.multiply_stacks(a, b, out, room)

    return Kernels(stack_product, files=FILES, fast=False, symbols=symbols)


TABLES, STACKS = ({"f": kernels(REAL), "c": kernels(COMPLEX)} for kernels in (tables, stacks))


def replay(code: np.ndarray, kept: np.ndarray, work: np.ndarray) -> None:
    """Carry out a table on two blocks of one dtype (`qad.contract.run.compiled.loop.replay`)."""
    kind = work.dtype
    room, counts = np.empty(LONGEST * WIDTH // kind.itemsize, kind), np.empty(AXES, np.int64)
    TABLES[kind.kind](kind).replay(code, kept, work, room, counts)


def stack_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a @ b`` for stacks of small matrices, shapes (count or 1, m, k) and (count or 1, k, n); strides >= 0."""
    kind = a.dtype
    out = np.empty((max(len(a), len(b)), a.shape[1], b.shape[2]), kind)
    STACKS[kind.kind](kind).stack_product(a, b, out, np.empty(LONGEST * WIDTH // kind.itemsize, kind))
    return out


def warm_up(dtypes: "Iterable[DTypeLike]") -> None:
    """Compile all kernels for some dtypes."""
    for dtype in map(np.dtype, dtypes):
        TABLES[dtype.kind](dtype)
        STACKS[dtype.kind](dtype)
    EXCHANGES(np.dtype(float))
