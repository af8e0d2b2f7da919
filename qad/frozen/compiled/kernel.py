"""What LLVM compiles for frozen functions: one loop for all programs, compiled once on a machine."""

from pathlib import Path

import numpy as np

from qad.frozen.compiled import loop
from qad.native import INT, Block, Kernels

__all__ = ["kernel"]


def run_table(parts: Block(INT, 2), rows: Block(INT, 2), given: Block(INT), status: Block(INT)):
    loop.replay(parts, rows, given, status)


FILES = [Path(__file__).with_name(f"{name}.py") for name in ("kernel", "loop", "memory", "table", "waves")]
KERNELS = Kernels(run_table, files=FILES, fast=False)


def kernel():
    """The compiled `qad.frozen.compiled.loop.replay`."""
    return KERNELS(np.dtype(float)).run_table
