"""Rows of a finite network as matrix product states: the halves of <psi|psi> above and below a row, cut to chi.

A site of the double layer has legs ``(open, up, left, down, right)``: the last four are pairs (bra, ket) of bonds, the
first is the pair of physical legs, or closed with dimension 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.contract import einsum
from qad.core.errors import ArgumentError
from qad.extend import value_of
from qad.linalg import lq, qr, split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array

    Row = list[Array]

TINY = 1e-13  # relative singular values below this are rounding


def double_layer(site: Array) -> Array:
    """Bra and ket of a site, physical legs open as the pair (out, in)."""
    both = einsum("tuldr,sULDR->tsuUlLdDrR", site.conj(), site)
    d, bonds = site.shape[0], site.shape[1:]
    return both.reshape(d * d, *(n * n for n in bonds))


def closed(double: Array) -> Array:
    """The double layer with its physical legs joined, its first leg of dimension 1."""
    d = round(double.shape[0] ** 0.5)
    return einsum("ssuldr->uldr", double.reshape(d, d, *double.shape[1:]))[None]


def rim(columns: int, dtype: np.dtype) -> Row:
    """Nothing above the first row: legs of dimension 1."""
    return [np.ones((1, 1, 1), dtype) for _ in range(columns)]


def absorbed(above: Row, row: Row, chi: int, multiplets: str = "drop") -> tuple[Row, float]:
    """The row below included, bonds cut to `chi`, every site of size one; and the logarithm of what was divided out."""
    joined = []
    for a, e in zip(above, row, strict=True):
        t = einsum("aub,uldr->aldbr", a, e[0])
        joined.append(t.reshape(t.shape[0] * t.shape[1], t.shape[2], -1))
    if max(t.shape[0] for t in joined) > chi:
        joined = cut(joined, chi, multiplets)
    sizes = [float(np.max(np.abs(value_of(t)))) for t in joined]
    if not all(0 < size < np.inf for size in sizes):
        raise ArgumentError("the state is zero, or has entries that are not finite")
    return [t / size for t, size in zip(joined, sizes, strict=True)], float(np.sum(np.log(sizes)))


def cut(row: Row, chi: int, multiplets: str) -> Row:
    """The nearest matrix product state of bonds up to `chi`: QR to the right, cuts to the left."""
    row, n = list(row), len(row)
    for j in range(n - 1):
        a, u, b = row[j].shape
        q, r = orthogonal(row[j].reshape(a * u, b))
        row[j], row[j + 1] = q.reshape(a, u, -1), einsum("ab,bud->aud", r, row[j + 1])
    for j in range(n - 1, 0, -1):
        a, u, b = row[j].shape
        left, right = split(row[j].reshape(a, u * b), chi, TINY, multiplets=multiplets)
        lower, isometry = lq(right)
        row[j] = isometry.reshape(-1, u, b)
        row[j - 1] = einsum("aub,bc->auc", row[j - 1], left @ lower)
    return row


def orthogonal(matrix: Array) -> tuple[Array, Array]:
    """The factors Q and R; of a matrix of lower rank, whose Q has no derivative, so many columns as its rank."""
    if matrix.shape[0] <= matrix.shape[1]:
        return np.eye(len(matrix), dtype=matrix.dtype), matrix
    values = np.linalg.svd(value_of(matrix), compute_uv=False)
    if values[-1] > 1e-10 * values[0]:
        return qr(matrix)
    left, right = split(matrix, None, TINY)
    q, r = qr(left)
    return q, r @ right


def check_ranks(sites: Sequence[Sequence[np.ndarray]], chi: int) -> None:
    """Raise where a bond that is cut holds fewer states than it would for a state nearby: derivatives would miss those.

    Fewer by the structure of the lattice is right: then states nearby hold as few.
    """
    widths = [np.prod([row[c].shape[4] ** 2 for row in sites[:-1]]) for c in range(len(sites[0]))]
    if max(widths) <= chi:
        return  # nothing is cut
    rng, held = np.random.default_rng(0), []
    for noise in (0.0, 0.1):
        near = [[t + noise * np.abs(t).max() * rng.standard_normal(t.shape) for t in row] for row in sites]
        sweeps = boundaries([[closed(double_layer(t)) for t in row] for row in near], chi, "cut")
        held.append([t.shape[0] for sweep in sweeps for row in sweep for t in row])
    if any(a < b for a, b in zip(*held, strict=True)):
        raise ArgumentError(
            "finite: a bond of the boundary holds fewer states than it could, so that the derivative of the cut lacks "
            "some: add a little noise to the state, or raise chi until nothing is cut"
        )


def flipped(row: Sequence[Array]) -> Row:
    """The row upside down: sites with up and down exchanged."""
    return [e.transpose(0, 3, 2, 1, 4) for e in row]


def boundaries(rows: Sequence[Row], chi: int, multiplets: str = "drop") -> tuple[list[Row], list[Row]]:
    """The network above each row, and that below it: one sweep down and one up serve all rows."""
    columns, dtype = len(rows[0]), np.result_type(*(e.dtype for row in rows for e in row))
    above, below = [rim(columns, dtype)], [rim(columns, dtype)]
    for row in rows[:-1]:
        above.append(absorbed(above[-1], row, chi, multiplets)[0])
    for row in rows[:0:-1]:
        below.append(absorbed(below[-1], flipped(row), chi, multiplets)[0])
    return above, below[::-1]


def environments(columns: Sequence[Row]) -> Row:
    """Of each column of a strip what stands before it, without open legs."""
    found = [np.ones((1,) * (1 + len(columns[0])), columns[0][0].dtype)]
    for column in columns[:-1]:
        found.append(passed(found[-1], column))
    return found


def passed(before: Array, column: Row) -> Array:
    """What stands behind a column, which is the site above, those of one row or two, and the site below.

    Open legs of the sites come behind those that are open before them.
    """
    out = einsum(("xalc,aub,yuldr,cde->xybre", "xalmc,aub,yuldr,zdmfs,cfe->xyzbrse")[len(column) - 3], before, *column)
    return out.reshape(-1, *out.shape[len(column) - 1 :])


def mirrored(column: Row) -> Row:
    """A column with left and right exchanged."""
    above, *sites, below = column
    return [above.transpose(2, 1, 0), *(e.transpose(0, 1, 4, 3, 2) for e in sites), below.transpose(2, 1, 0)]


class Strip:
    """One row or two between what is above and below, with the environments of each column from both sides."""

    columns: list[Row]
    left: Row
    right: Row

    def __init__(self, above: Row, rows: Sequence[Row], below: Row):
        self.columns = [list(column) for column in zip(above, *rows, below, strict=True)]
        self.left = environments(self.columns)
        self.right = environments([mirrored(column) for column in reversed(self.columns)])[::-1]

    def density(self, opened: dict[int, Sequence[Array]]) -> Array:
        """All open legs of the columns in `opened` as one vector, those of one column in the order of the rows."""
        first, last = min(opened), max(opened)
        left = self.left[first]
        for j in range(first, last + 1):
            above, *sites, below = self.columns[j]
            left = passed(left, [above, *opened.get(j, sites), below])
        return left.reshape(left.shape[0], -1) @ self.right[last].reshape(-1)
