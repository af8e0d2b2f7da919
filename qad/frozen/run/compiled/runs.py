"""Consecutive steps of a program as one instruction: a table, and the call of the compiled loop.

LLVM compiles one loop for all programs, and each of our own inner loops, once on a machine, when the first program
needs it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.frozen.run.compiled import own_loops
from qad.frozen.run.compiled.loop import run_table
from qad.frozen.run.compiled.rows import address_of
from qad.native import Kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from qad.frozen.program.program import Var
    from qad.frozen.run.compiled.blocks import Part

    Arrays: TypeAlias = Mapping[Var, np.ndarray]
    Instruction: TypeAlias = tuple[Callable[..., None], tuple[Any, ...]]  # what is called, and with what

OWN = own_loops.sine, own_loops.cosine, own_loops.product, own_loops.product_complex
FILES = [Path(__file__).with_name(f"{name}.py") for name in ("loop", "own_loops", "rows")]
KERNELS = {function.__name__: Kernels(function, files=FILES, fast=False) for function in (run_table, *OWN)}
READABLE = 0x101  # flags of an array that is aligned and in C order


def kernel(name: str) -> Any:
    """The kernel of this name, compiled or loaded at first use."""
    return getattr(KERNELS[name](np.dtype(float)), name)


def own(name: str) -> int:
    """The address of our own inner loop of this name."""
    return kernel(name).address


def warm_up() -> None:
    """Compile, or load, all that programs need."""
    for name in KERNELS:
        kernel(name)


def instruction(parts: list[Part], arrays: Arrays, registers: list[Any], number: Mapping[Var, int]) -> Instruction:
    """The instruction that carries out parts of a table.

    Parameters
    ----------
    parts : list of (int, list of Row)
        How many blocks, and the rows.
    arrays : dict of Var -> array
        What is known before the run.
    registers : list
    number : dict of Var -> int
        Where else arrays are read from; and written to, new ones that the instruction makes.
    """
    rows = [row for _, part in parts for row in part]
    written = {row.operands[-1].holder: row.operands[-1] for row in rows}
    given, held = {}, {}

    def address(holder):
        array = holder if isinstance(holder, np.ndarray) else arrays.get(holder)
        if array is None:
            return 0, given.setdefault(holder, len(given))
        if id(array) not in held:
            held[id(array)] = address_of(array), array
        return held[id(array)][0], -1

    numbers = np.array([row.numbers(address, own) for row in rows], np.int64)
    ends = np.cumsum([0, *(len(part) for _, part in parts)]).tolist()
    bounds = np.array([(blocks, *ends[i : i + 2]) for i, (blocks, _) in enumerate(parts)], np.int64)
    reads = [(i, number[var], var.nbytes) for var, i in given.items() if var not in written]
    makes = [(i, number[var], var.shape, var.dtype) for var, i in given.items() if var in written]
    places, native = np.zeros(len(given), np.int64), kernel(run_table.__name__)
    native(bounds[:0], numbers, places)  # the arguments are checked once
    room = registers if given else None
    return carry_out, (native.native, (bounds, numbers, places), memoryview(places), room, reads, makes, held)


def carry_out(
    native: Callable[..., None], tables: tuple[np.ndarray, ...], places: Any, registers: list[Any],
    reads: Iterable[tuple[int, int, int]], makes: Iterable[tuple[int, int, Any, Any]], held: Any,
) -> None:  # fmt: skip
    """The instruction."""
    kept = []
    for i, n, size in reads:
        x = registers[n]
        if x.nbytes != size:  # the loop would read what lies beyond it
            raise AssertionError(
                f"a step of a frozen program gave {x.shape} {x.dtype} where {size} bytes were recorded"
            )
        if x.flags.num & READABLE != READABLE:
            x = np.array(x, order="C")
            kept.append(x)
        places[i] = id(x)
    for i, n, shape, dtype in makes:
        registers[n] = x = np.empty(shape, dtype)
        places[i] = id(x)
    native(*tables)
