"""Consecutive steps of a program as one instruction: a table, and the call of the compiled loop."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.frozen.run.compiled import table
from qad.frozen.run.compiled.kernel import kernel
from qad.frozen.run.memory_plan import address_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from qad.frozen.program.program import Var
    from qad.frozen.run.compiled.blocks import Part

    Arrays: TypeAlias = Mapping[Var, np.ndarray]
    Instruction: TypeAlias = tuple[Callable[..., None], tuple[Any, ...]]  # what is called, and with what

ERRORS = [
    (bit, mode, text)
    for bit, mode, text in zip(
        table.ERRORS or (),
        ("invalid", "divide", "over", "under"),
        ("invalid value", "divide by zero", "overflow", "underflow"),
        strict=False,
    )
]
READABLE = 0x101  # flags of an array that is aligned and in C order


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
        held[id(array)] = array
        return address_of(array), -1

    numbers = np.array([row.numbers(address) for row in rows], np.int64)
    ends = np.cumsum([0, *(len(part) for _, part in parts)]).tolist()
    bounds = np.array([(blocks, *ends[i : i + 2]) for i, (blocks, _) in enumerate(parts)], np.int64)
    reads = [(i, number[var], var.nbytes) for var, i in given.items() if var not in written]
    makes = [(i, number[var], var.shape, var.dtype) for var, i in given.items() if var in written]
    places, status = np.zeros(len(given), np.int64), np.zeros(1, np.int64)
    native = kernel()
    native(bounds[:0], numbers, places, status)  # the arguments are checked once
    tables, names = (bounds, numbers, places, status), [row.name for row in rows]
    room = registers if given else None
    return carry_out, (native.native, tables, memoryview(status), names, memoryview(places), room, reads, makes, held)


def carry_out(
    native: Callable[..., None], tables: tuple[np.ndarray, ...], status: Any, names: Sequence[str], places: Any,
    registers: list[Any], reads: Iterable[tuple[int, int, int]], makes: Iterable[tuple[int, int, Any, Any]],
    held: Sequence[Any],
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
    if status[0]:
        warn(tables[1], names)


def warn(rows: np.ndarray, names: Sequence[str]) -> None:
    """Warn of floating-point errors, as NumPy does where it is told to."""
    modes = np.geterr()
    found, rows[:, table.STATUS] = rows[:, table.STATUS].tolist(), 0
    for name, met in zip(names, found, strict=True):
        for bit, mode, text in ERRORS:
            if met & bit and modes[mode] == "warn":
                warnings.warn(f"{text} encountered in {name}", RuntimeWarning, stacklevel=2)
            elif met & bit and modes[mode] != "ignore":  # the function itself says what becomes of it
                raise FloatingPointError(f"{text} encountered in {name}")
