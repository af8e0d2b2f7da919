"""The loop that carries out a table of rows (`qad.frozen.run.compiled.rows`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import numpy as np

from qad.frozen.run.compiled import rows as table
from qad.native import INT, Block, intrinsic
from qad.native.values import HEAD, Array, Number

if TYPE_CHECKING:
    from qad.native.statements import KernelFunction
    from qad.native.values import KernelArray, Kind, Scalar


Int: TypeAlias = Annotated[int, INT]  # what inner loops are given: addresses, and a number of the caller's
Table: TypeAlias = Annotated[np.ndarray, Block(INT, 2)]
Integers: TypeAlias = Annotated[np.ndarray, Block(INT)]


def run_table(parts: Table, rows: Table, given: Integers) -> None:
    """Carry out all parts of a table.

    Parameters
    ----------
    parts : array of int64, shape (n, 3)
        How many blocks each has, and its first row and the one after its last: these rows are carried out for one block
        after the other.
    rows : array of int64, shape (n, `rows.WIDTH`)
    given : array of int64
        Addresses of array objects.
    """
    for p in range(parts.shape[0]):
        for block in range(parts[p, 0]):
            for i in range(parts[p, 1], parts[p, 2]):
                carry_out(rows[i], block, parts[p, 0], given)


def carry_out(row: KernelArray, block: int, blocks: int, given: KernelArray) -> None:
    """One row, for one block."""
    row[table.DIMS] = row[table.LAST] if block == blocks - 1 else row[table.COUNT]
    one, two, three = beginning(row, 0, block, given), beginning(row, 1, block, given), beginning(row, 2, block, given)
    for i in range(row[table.OUTER]):
        for j in range(row[table.INNER]):
            row[table.ARGS] = one + i * row[table.OUTER_STEP] + j * row[table.INNER_STEP]
            row[table.ARGS + 1] = two + i * row[table.OUTER_STEP + 1] + j * row[table.INNER_STEP + 1]
            row[table.ARGS + 2] = three + i * row[table.OUTER_STEP + 2] + j * row[table.INNER_STEP + 2]
            call_loop(row[table.FUNCTION], row[table.ARGS :], row[table.DIMS :], row[table.STEPS :], row[table.DATA])


def beginning(row: KernelArray, operand: int, block: int, given: KernelArray) -> int:
    """Where an operand begins."""
    found = row[table.BASE + operand] + block * row[table.ADVANCE + operand]
    if row[table.GIVEN + operand] >= 0:
        found += memory(INT, given[row[table.GIVEN + operand]])[HEAD // 8]
    return found


# -- memory at an address, and NumPy's inner loops, as kernels use them ------------------------------------------------


@intrinsic
def memory(code: KernelFunction, kind: Kind, address: Scalar) -> Array:
    """The array, of unknown length, of a kind of numbers at an address."""
    return Array(kind, code.emit("ptr", f"inttoptr i64 {code.whole(address).name} to ptr"), (0,))


@intrinsic
def call_loop(code: KernelFunction, function: Scalar, args: Array, dims: Array, steps: Array, data: Scalar) -> None:
    """Call an inner loop of NumPy's: ``loop(char **args, npy_intp *dims, npy_intp *steps, void *data)``."""
    where, data = (code.emit("ptr", f"inttoptr i64 {code.whole(x).name} to ptr") for x in (function, data))
    given = ", ".join(f"ptr {x.at.name}" for x in (args, dims, steps))
    code.say(f"call void {where.name}({given}, ptr {data.name})")


@intrinsic
def bits(code: KernelFunction, x: Scalar) -> Number:
    """The bits of a real number in double precision, as an integer."""
    return code.emit("i64", f"bitcast double {code.cast(x, 'double').name} to i64")


@intrinsic
def from_bits(code: KernelFunction, x: Scalar) -> Number:
    """The real number in double precision of these bits."""
    return Number("double", code.emit("double", f"bitcast i64 {code.whole(x).name} to double").name)
