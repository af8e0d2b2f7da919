"""What LLVM compiles for frozen functions: one loop for all programs, compiled once on a machine."""

from pathlib import Path
from typing import Annotated, TypeAlias

import numpy as np

from qad.frozen.compiled import loop
from qad.native import INT, Block, Kernels
from qad.native.kernels import Kernel

__all__ = ["kernel"]

Table: TypeAlias = Annotated[np.ndarray, Block(INT, 2)]
Integers: TypeAlias = Annotated[np.ndarray, Block(INT)]


def run_table(parts: Table, rows: Table, given: Integers, status: Integers) -> None:
    loop.replay(parts, rows, given, status)


FILES = [Path(__file__).with_name(f"{name}.py") for name in ("kernel", "loop", "memory", "table", "waves")]
KERNELS = Kernels(run_table, files=FILES, fast=False)


def kernel() -> Kernel:
    """The compiled `qad.frozen.compiled.loop.replay`."""
    return KERNELS(np.dtype(float)).run_table
