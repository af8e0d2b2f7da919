"""The loop that carries out a table (`qad.frozen.compiled.table`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.frozen.compiled import table
from qad.frozen.compiled.memory import call_loop, cleared, memory, raised
from qad.frozen.compiled.waves import waves
from qad.native import COMPLEX128, FLOAT, INT
from qad.native.values import HEAD

if TYPE_CHECKING:
    from qad.native.values import KernelArray

__all__ = ["replay"]


def replay(parts: KernelArray, rows: KernelArray, given: KernelArray, status: KernelArray) -> None:
    """Carry out all parts of a table.

    Parameters
    ----------
    parts : array of int64, shape (n, 3)
        How many blocks each has, and its first row and the one after its last: these rows are carried out for one block
        after the other.
    rows : array of int64, shape (n, `table.WIDTH`)
    given : array of int64
        Addresses of array objects.
    status : array of int64, shape (1,)
        Is set to the floating-point errors that were met.
    """
    cleared()
    status[0] = 0
    for p in range(parts.shape[0]):
        for block in range(parts[p, 0]):
            for i in range(parts[p, 1], parts[p, 2]):
                carry_out(rows[i], block, parts[p, 0], given)
                found = raised()
                if found:
                    cleared()
                    if rows[i, table.OPERATION] in (table.SINE, table.COSINE):
                        found = found & (table.UNDERFLOW ^ -1)  # of terms that make no difference to the result
                    rows[i, table.STATUS] = rows[i, table.STATUS] | found
                    status[0] = status[0] | found


def carry_out(row: KernelArray, block: int, blocks: int, given: KernelArray) -> None:
    """One row, for one block."""
    row[table.DIMS] = row[table.LAST] if block == blocks - 1 else row[table.COUNT]
    one, two, three = beginning(row, 0, block, given), beginning(row, 1, block, given), beginning(row, 2, block, given)
    for i in range(row[table.OUTER]):
        for j in range(row[table.INNER]):
            row[table.ARGS] = one + i * row[table.OUTER_STEP] + j * row[table.INNER_STEP]
            row[table.ARGS + 1] = two + i * row[table.OUTER_STEP + 1] + j * row[table.INNER_STEP + 1]
            row[table.ARGS + 2] = three + i * row[table.OUTER_STEP + 2] + j * row[table.INNER_STEP + 2]
            operate(row)


def beginning(row: KernelArray, operand: int, block: int, given: KernelArray) -> int:
    """Where an operand begins."""
    found = row[table.BASE + operand] + block * row[table.ADVANCE + operand]
    if row[table.GIVEN + operand] >= 0:
        found += memory(INT, given[row[table.GIVEN + operand]])[HEAD // 8]
    return found


def operate(row: KernelArray) -> None:
    """One operation along its own axis."""
    operation, count, steps = row[table.OPERATION], row[table.DIMS], row[table.STEPS :]
    if operation == table.CALL:
        call_loop(row[table.FUNCTION], row[table.ARGS :], row[table.DIMS :], steps, row[table.DATA])
        return
    one, two, three = [memory(FLOAT, row[table.ARGS + i]) for i in range(3)]
    places = memory(INT, row[table.ARGS + 1])
    if operation == table.SINE:
        waves(one, two, count, steps[0] // 8, steps[1] // 8, 0)
    elif operation == table.COSINE:
        waves(one, two, count, steps[0] // 8, steps[1] // 8, 1)
    elif operation == table.TAKE:
        take(one, places, three, count)
    elif operation == table.SCATTER:
        scatter(one, places, three, count)
    elif operation == table.SUMS:
        sums(one, places, three, count)
    elif operation == table.PRODUCT:
        product(one, two, three, row, 8)
    else:
        pairs = [memory(COMPLEX128, row[table.ARGS + i]) for i in range(3)]
        product(pairs[0], pairs[1], pairs[2], row, 16)


def take(x: KernelArray, places: KernelArray, y: KernelArray, count: int) -> None:
    """``y = x[places]``."""
    for i in range(count):
        y[i] = x[places[i]]


def scatter(x: KernelArray, places: KernelArray, y: KernelArray, count: int) -> None:
    """``y[places] = x``."""
    for i in range(count):
        y[places[i]] = x[i]


def sums(x: KernelArray, bounds: KernelArray, y: KernelArray, count: int) -> None:
    """The sums of x between each bound and the next."""
    for i in range(count):
        total = x[bounds[i]]
        for j in range(bounds[i] + 1, bounds[i + 1]):
            total += x[j]
        y[i] = total


def product(x: KernelArray, y: KernelArray, out: KernelArray, row: KernelArray, size: int) -> None:
    """A stack of products of small matrices; sizes and strides lie in the row as `np.matmul` has them."""
    m, k, n, steps = row[table.DIMS + 1], row[table.DIMS + 2], row[table.DIMS + 3], row[table.STEPS :]
    for s in range(row[table.DIMS]):
        for i in range(m):
            for j in range(n):
                one = (s * steps[0] + i * steps[3]) // size
                two = (s * steps[1] + j * steps[6]) // size
                total = x[one] * y[two]
                for t in range(1, k):
                    total += x[one + t * (steps[4] // size)] * y[two + t * (steps[5] // size)]
                out[(s * steps[2] + i * steps[7] + j * steps[8]) // size] = total
