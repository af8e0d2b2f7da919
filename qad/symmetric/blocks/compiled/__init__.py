"""What LLVM compiles for symmetric tensors (the extra ``fast``): moves of blocks, and products of sectors.

At bonds of 64 a contraction takes a fifth of the time that it takes in NumPy's functions, whose calls cost more than
their work.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from qad.contract.run.compiled import FILES
from qad.contract.run.compiled.blas import symbols
from qad.native import COMPLEX, INT, REAL, Block, Kernels
from qad.native.values import Kind
from qad.symmetric.blocks.compiled import loops

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qad.typing import DTypeLike

__all__ = ["added", "copied", "multiplied", "warm_up"]

HERE = Path(__file__).parent


def kernels(kind: Kind) -> Kernels:
    """The kernels for numbers of a kind."""

    def copy_blocks(table: Block(INT), kept: INT, x: Block(kind), out: Block(kind)):
        loops.copy_blocks(table, kept, x, out)

    def add_blocks(table: Block(INT), factors: Block(kind), x: Block(kind), out: Block(kind)):
        loops.add_blocks(table, factors, x, out)

    def multiply_sectors(table: Block(INT), form: INT, x: Block(kind), y: Block(kind), out: Block(kind)):
        loops.multiply_sectors(table, form, x, y, out)

    files = [*FILES, *HERE.glob("*.py")]
    return Kernels(copy_blocks, add_blocks, multiply_sectors, files=files, fast=False, symbols=symbols)


OF: dict[str, Kernels] = {"f": kernels(REAL), "c": kernels(COMPLEX)}


def copied(x: np.ndarray, out: np.ndarray, table: np.ndarray, kept: int) -> None:
    """Write the blocks of `x` (size,) into `out` (size,), where a table of numbers says; the first keep their sign."""
    OF[x.dtype.kind](x.dtype).copy_blocks(table, kept, x, out)


def added(x: np.ndarray, out: np.ndarray, table: np.ndarray, factors: np.ndarray) -> None:
    """Add the blocks of `x` (size,), each times its factor, to `out` (size,), where a table of numbers says."""
    OF[x.dtype.kind](x.dtype).add_blocks(table, factors, x, out)


def multiplied(x: np.ndarray, y: np.ndarray, out: np.ndarray, table: np.ndarray, form: int) -> None:
    """Write the product of each sector of `x` and `y` into `out`; all are flat arrays of one dtype."""
    OF[x.dtype.kind](x.dtype).multiply_sectors(table, form, x, y, out)


def warm_up(dtypes: "Iterable[DTypeLike]") -> None:
    """Compile the kernels for some dtypes."""
    for dtype in map(np.dtype, dtypes):
        OF[dtype.kind](dtype)
