"""What LLVM compiles for frozen functions: one loop for all programs, and inner loops that only some programs need.

Each part is compiled once on a machine, when the first program that needs it is made.
"""

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Annotated, TypeAlias

import numpy as np

from qad.frozen.run.compiled import loop, own_loops, table, waves
from qad.native import INT, Block, Kernels
from qad.native.kernels import Kernel

Table: TypeAlias = Annotated[np.ndarray, Block(INT, 2)]
Integers: TypeAlias = Annotated[np.ndarray, Block(INT)]


def run_table(parts: Table, rows: Table, given: Integers) -> None:
    loop.replay(parts, rows, given)


def compiled(*functions: Callable[..., None], files: Iterable[str]) -> Kernels:
    """Kernels of functions in these files."""
    names = (*files, "memory", "table")
    return Kernels(*functions, files=[Path(__file__).with_name(f"{name}.py") for name in names], fast=False)


LOOP = compiled(run_table, files=("kernel", "loop"))
WAVES = compiled(waves.sine, waves.cosine, files=("waves",))
PRODUCTS = compiled(own_loops.product, own_loops.product_complex, files=("own_loops",))
OWN = {
    table.SINE: (WAVES, "sine"), table.COSINE: (WAVES, "cosine"), table.PRODUCT: (PRODUCTS, "product"),
    table.PRODUCT_COMPLEX: (PRODUCTS, "product_complex"),
}  # fmt: skip


def kernel() -> Kernel:
    """The compiled `qad.frozen.run.compiled.loop.replay`."""
    return LOOP(np.dtype(float)).run_table


@cache
def own(operation: int) -> int:
    """The address of our own inner loop for an operation."""
    kernels, name = OWN[operation]
    return getattr(kernels(np.dtype(float)), name).address


def ready(operations: Iterable[int]) -> None:
    """Compile, or load, what programs with these operations need."""
    kernel()
    for operation in {*operations} - {table.CALL}:
        own(operation)


def warm_up() -> None:
    """The same for all programs."""
    ready(OWN)
