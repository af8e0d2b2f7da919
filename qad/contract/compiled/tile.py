"""A tile of a product of matrices, which stays in registers while the sum runs.

For each term of the sum a piece of a row of the second matrix is loaded once, and multiplied by one number of every row
of the first.  With complex numbers a tile is two real ones: the rows b of the second matrix are real and imaginary
parts in turn, and for numbers x + iy of the first the real sums ``P = sum x b`` and ``Q = sum y b`` make ``P + iQ``,
once at the end.
"""

from qad.contract.compiled.lanes import fused, gathered, joined, lanes, numbers, put, scattered, zeros
from qad.native import inlined

__all__ = ["packed", "tile"]


@inlined
def tile(rows, columns, first, a, second, b, work, c, k):
    """``C = A B`` for `rows` rows of A, and `columns` columns of B that lie side by side.

    Parameters
    ----------
    rows, columns : int
        Known beforehand.
    first, second, work : arrays
        Blocks of one dtype.
    a, b, c : Place
        Where the matrices begin in them, and the steps along rows and columns; see `qad.contract.compiled.kernel`.
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
def packed(columns, second, b, room, k):
    """Copy `columns` columns of B side by side to the beginning of `room`, a row at a time.

    The rows are stored whole: what `tile` loads at once must not come from several stores that are still under way.
    """
    for t in range(k):
        put(room, t * columns, gathered(second, b.start + t * b.row, b.column, columns))
