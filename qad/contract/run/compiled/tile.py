"""A tile of a product of matrices, which stays in registers while the sum runs.

For each term of the sum a piece of a row of the second matrix is loaded once, and multiplied by one number of every row
of the first.  With complex numbers a tile is two real ones: the rows b of the second matrix are real and imaginary
parts in turn, and for numbers x + iy of the first the real sums ``P = sum x b`` and ``Q = sum y b`` make ``P + iQ``,
once at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qad.contract.run.compiled.lanes import fused, gathered, joined, lanes, numbers, put, scattered, zeros
from qad.native import inlined

if TYPE_CHECKING:
    from qad.native.values import KernelArray

__all__ = ["Place", "packed", "tile"]


class Place(NamedTuple):
    """Where a matrix lies in a block: element (i, j) at ``start + i * row + j * column``."""

    start: int
    row: int
    column: int


@inlined
def tile(
    rows: int, columns: int, first: KernelArray, a: Place, second: KernelArray, b: Place, work: KernelArray, c: Place,
    k: int,
) -> None:  # fmt: skip
    """``C = A B`` for `rows` rows of A, and `columns` columns of B that lie side by side.

    Parameters
    ----------
    rows, columns : int
        Known beforehand.
    first, second, work : arrays
        Blocks of one dtype.
    a, b, c : Place
        Where the matrices begin in them, and the steps along rows and columns.
    k : int
        Terms of the sums.
    """
    sums = [zeros(work, columns) for r in range(rows)]
    for t in range(k):
        x, term = lanes(second, b.start + t * b.row, columns), first[a.start + t * a.column :]
        sums = [
            [fused(x, y, total) for y, total in zip(numbers(term[r * a.row]), sums[r])]  # noqa: B905 - kernels know no keywords
            for r in range(rows)
        ]
    if c.column == 1:
        for r, own in enumerate(sums):
            put(work, c.start + r * c.row, joined(own))
    else:
        for r, own in enumerate(sums):
            scattered(work, c.start + r * c.row, c.column, joined(own))


@inlined
def packed(columns: int, second: KernelArray, b: Place, room: KernelArray, k: int) -> None:
    """Copy `columns` columns of B side by side to the beginning of `room`, a row at a time.

    The rows are stored whole: what `tile` loads at once must not come from several stores that are still under way.
    """
    for t in range(k):
        put(room, t * columns, gathered(second, b.start + t * b.row, b.column, columns))
