"""The loop that carries out a table (`qad.frozen.run.compiled.table`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.frozen.run.compiled import table
from qad.frozen.run.compiled.memory import call_loop, memory
from qad.native import INT
from qad.native.values import HEAD

if TYPE_CHECKING:
    from qad.native.values import KernelArray


def replay(parts: KernelArray, rows: KernelArray, given: KernelArray) -> None:
    """Carry out all parts of a table.

    Parameters
    ----------
    parts : array of int64, shape (n, 3)
        How many blocks each has, and its first row and the one after its last: these rows are carried out for one block
        after the other.
    rows : array of int64, shape (n, `table.WIDTH`)
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
