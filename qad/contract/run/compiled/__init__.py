"""What LLVM compiles for contractions (the extra ``fast``): loops over tables, small products, searches for orders."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from qad.contract.run.compiled import loop
from qad.contract.run.compiled.blas import symbols
from qad.contract.run.compiled.exchange import EXCHANGES
from qad.contract.run.compiled.kernel import LONGEST, WIDTH
from qad.native import COMPLEX, INT, REAL, Block, Kernels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qad.native.values import Kind
    from qad.typing import DTypeLike

__all__ = ["replay", "warm_up"]

HERE = Path(__file__).parent
FILES = [*HERE.glob("*.py"), HERE.parent / "entries.py"]


def tables(kind: "Kind") -> Kernels:
    """The kernel that carries out tables, for numbers of a kind."""

    def replay(code: Block(INT), work: Block(kind), room: Block(kind)):
        loop.replay(code, work, room)

    return Kernels(replay, files=FILES, fast=False, symbols=symbols)


TABLES = {"f": tables(REAL), "c": tables(COMPLEX)}


def replay(code: np.ndarray, work: np.ndarray) -> None:
    """Carry out a table on a block of numbers (`qad.contract.run.compiled.loop.replay`)."""
    room = np.empty(LONGEST * WIDTH // work.itemsize, work.dtype)
    TABLES[work.dtype.kind](work.dtype).replay(code, work, room)


def warm_up(dtypes: "Iterable[DTypeLike]") -> None:
    """Compile all kernels for some dtypes."""
    for dtype in map(np.dtype, dtypes):
        TABLES[dtype.kind](dtype)
    EXCHANGES(np.dtype(float))
