"""The loop that carries out a table (`qad.frozen.compiled.table`)."""

from qad.frozen.compiled.memory import call_loop, cleared, memory, raised
from qad.frozen.compiled.table import (
    ADVANCE,
    ARGS,
    BASE,
    CALL,
    COSINE,
    COUNT,
    DATA,
    DIMS,
    FUNCTION,
    GIVEN,
    INNER,
    INNER_STEP,
    LAST,
    OPERATION,
    OUTER,
    OUTER_STEP,
    PRODUCT,
    PRODUCT_COMPLEX,
    SCATTER,
    SINE,
    STATUS,
    STEPS,
    SUMS,
    TAKE,
)
from qad.frozen.compiled.waves import waves
from qad.native import COMPLEX128, FLOAT, INT
from qad.native.values import HEAD

__all__ = ["replay"]


def replay(parts, rows, given, status):
    """Carry out all parts of a table.

    Parameters
    ----------
    parts : array of int64, shape (n, 3)
        How many blocks each has, and its first row and the one after its last: these rows are carried out for one block
        after the other.
    rows : array of int64, shape (n, WIDTH)
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
                    rows[i, STATUS] = rows[i, STATUS] | found
                    status[0] = status[0] | found
                    cleared()


def carry_out(row, block, blocks, given):
    """One row, for one block."""
    row[DIMS] = row[LAST] if block == blocks - 1 else row[COUNT]
    one, two, three = beginning(row, 0, block, given), beginning(row, 1, block, given), beginning(row, 2, block, given)
    for i in range(row[OUTER]):
        for j in range(row[INNER]):
            row[ARGS] = one + i * row[OUTER_STEP] + j * row[INNER_STEP]
            row[ARGS + 1] = two + i * row[OUTER_STEP + 1] + j * row[INNER_STEP + 1]
            row[ARGS + 2] = three + i * row[OUTER_STEP + 2] + j * row[INNER_STEP + 2]
            operate(row)


def beginning(row, operand, block, given):
    """Where an operand begins."""
    found = row[BASE + operand] + block * row[ADVANCE + operand]
    if row[GIVEN + operand] >= 0:
        found += memory(INT, given[row[GIVEN + operand]])[HEAD // 8]
    return found


def operate(row):
    """One operation along its own axis."""
    operation = row[OPERATION]
    if operation == CALL:
        call_loop(row[FUNCTION], row[ARGS:], row[DIMS:], row[STEPS:], row[DATA])
    elif operation == SINE:
        waves(memory(FLOAT, row[ARGS]), memory(FLOAT, row[ARGS + 1]), row[DIMS], row[STEPS] // 8, row[STEPS + 1] // 8, 0)
    elif operation == COSINE:
        waves(memory(FLOAT, row[ARGS]), memory(FLOAT, row[ARGS + 1]), row[DIMS], row[STEPS] // 8, row[STEPS + 1] // 8, 1)
    elif operation == TAKE:
        take(memory(FLOAT, row[ARGS]), memory(INT, row[ARGS + 1]), memory(FLOAT, row[ARGS + 2]), row[DIMS])
    elif operation == SCATTER:
        scatter(memory(FLOAT, row[ARGS]), memory(INT, row[ARGS + 1]), memory(FLOAT, row[ARGS + 2]), row[DIMS])
    elif operation == SUMS:
        sums(memory(FLOAT, row[ARGS]), memory(INT, row[ARGS + 1]), memory(FLOAT, row[ARGS + 2]), row[DIMS])
    elif operation == PRODUCT:
        product(memory(FLOAT, row[ARGS]), memory(FLOAT, row[ARGS + 1]), memory(FLOAT, row[ARGS + 2]), row, 8)
    elif operation == PRODUCT_COMPLEX:
        one, two, out = memory(COMPLEX128, row[ARGS]), memory(COMPLEX128, row[ARGS + 1]), memory(COMPLEX128, row[ARGS + 2])
        product(one, two, out, row, 16)


def take(x, places, y, count):
    """``y = x[places]``."""
    for i in range(count):
        y[i] = x[places[i]]


def scatter(x, places, y, count):
    """``y[places] = x``."""
    for i in range(count):
        y[places[i]] = x[i]


def sums(x, bounds, y, count):
    """The sums of x between each bound and the next."""
    for i in range(count):
        total = x[bounds[i]]
        for j in range(bounds[i] + 1, bounds[i + 1]):
            total += x[j]
        y[i] = total


def product(x, y, out, row, size):
    """A stack of products of small matrices; sizes and strides lie in the row as `np.matmul` has them."""
    m, k, n, steps = row[DIMS + 1], row[DIMS + 2], row[DIMS + 3], row[STEPS:]
    for s in range(row[DIMS]):
        for i in range(m):
            for j in range(n):
                one = (s * steps[0] + i * steps[3]) // size
                two = (s * steps[1] + j * steps[6]) // size
                total = x[one] * y[two]
                for t in range(1, k):
                    total += x[one + t * (steps[4] // size)] * y[two + t * (steps[5] // size)]
                out[(s * steps[2] + i * steps[7] + j * steps[8]) // size] = total
