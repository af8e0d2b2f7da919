"""Rows of a finite network as matrix product states: the halves of <psi|psi> above and below a row, cut to chi.

A site of the double layer has legs ``(up, left, down, right)``, pairs (bra, ket) of bonds that are fused, and in front
of them the physical legs of bra and ket where these are open.  Sites are arrays, or symmetric tensors.
"""

from __future__ import annotations

from string import ascii_uppercase
from typing import TYPE_CHECKING

import numpy as np

from qad.contract import einsum
from qad.core.errors import ArgumentError
from qad.extend import value_of
from qad.linalg import split as split_matrix
from qad.peps.checks import FLOWS, ends
from qad.symmetric.generic import fused, join, lq, numbers, plain, qr, split, straight, unit, with_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.peps.finite.state import FinitePEPS
    from qad.typing import Array

    Row = list[Any]

TINY = 1e-13  # relative singular values below this are rounding


def opened(state: FinitePEPS) -> list[list[Any]]:
    """The rows as those of an open lattice: the bond that closes a ring runs along all bonds of its row."""
    return [list(row) if ends(row[0], 2) else unrolled(row) for row in state.tensors]


def unrolled(row: tuple[Any, ...]) -> list[Any]:
    """The sites of a ring as those of an open row."""
    edge = unit(row[0], (1,))
    if len(row) == 1:
        return [einsum("suldl,x,y->suxdy", row[0], edge, edge.conj())]
    through = straight(row[0], 2)  # the bond that closes the ring
    first = fused(einsum("suldr,x->suxdrl", row[0], edge), (1, 1, 1, 1, 2), FLOWS)
    inner = [fused(einsum("suldr,wv->sulwdrv", t, through), (1, 1, 2, 1, 2), FLOWS) for t in row[1:-1]]
    last = fused(einsum("suldr,x->sulrdx", row[-1], edge.conj()), (1, 1, 2, 1, 1), FLOWS)
    return [first, *inner, last]


def double_layer(site: Any) -> Any:
    """Bra and ket of a site, physical legs (out, in) open."""
    both = einsum("tuldr,sULDR->tsuUlLdDrR", site.conj(), site)
    return fused(both, (1, 1, 2, 2, 2, 2), (-1, 1, 1, 1, -1, -1))


def closed(double: Any) -> Any:
    """The double layer with its physical legs joined."""
    return einsum("ssuldr->uldr", double)


def rim(row: Row, flow: int = -1) -> Row:
    """Nothing above the first row: legs of dimension 1, those down of this flow."""
    return [unit(e, (1, flow, -1)) for e in row]


def absorbed(above: Row, row: Row, chi: int, multiplets: str = "drop") -> tuple[Row, float]:
    """The row below included, bonds cut to `chi`, every site of size one; and the logarithm of what was divided out."""
    pairs = [einsum("aub,uldr->aldbr", a, e) for a, e in zip(above, row, strict=True)]
    joined = [fused(t, (2, 1, 2), (1, 1, -1)) for t in pairs]
    if max(t.shape[0] for t in joined) > chi:
        joined = cut(joined, chi, multiplets)
    sizes = [largest(t) for t in joined]
    if not all(0 < size < np.inf for size in sizes):
        raise ArgumentError("the state is zero, or has entries that are not finite")
    return [t / size for t, size in zip(joined, sizes, strict=True)], float(np.sum(np.log(sizes)))


def largest(x: Any) -> float:
    """The largest entry of a tensor."""
    return float(np.max(np.abs(value_of(numbers(x))), initial=0.0))


def cut(row: Row, chi: int, multiplets: str) -> Row:
    """The nearest matrix product state of bonds up to `chi`: QR to the right, cuts to the left."""
    row, n = list(row), len(row)
    for j in range(n - 1):
        row[j], r = qr(row[j], 2, orthogonal)
        row[j + 1] = join(r, row[j + 1])
    for j in range(n - 1, 0, -1):
        left, right = split(row[j], 1, chi, TINY, multiplets)
        lower, row[j] = lq(right)
        row[j - 1] = join(row[j - 1], join(left, lower))
    return row


def orthogonal(matrix: Array) -> tuple[Array, Array]:
    """The factors Q and R; of a matrix of lower rank, whose Q has no derivative, so many columns as its rank.

    Of a matrix of zeros, which a sector of charges may be, Q is the unit matrix.
    """
    if matrix.shape[0] <= matrix.shape[1] or not np.any(value_of(matrix)):
        return np.eye(len(matrix), dtype=matrix.dtype), matrix
    values = np.linalg.svd(value_of(matrix), compute_uv=False)
    if values[-1] > 1e-10 * values[0]:
        return np.linalg.qr(matrix)
    left, right = split_matrix(matrix, None, TINY)
    q, r = np.linalg.qr(left)
    return q, r @ right


def check_ranks(sites: Sequence[Row], chi: int) -> None:
    """Raise where a bond that is cut holds fewer states than it would for a state nearby: derivatives would miss those.

    Fewer by the structure of the lattice is right: then states nearby hold as few.
    """
    widths = [np.prod([row[c].shape[4] ** 2 for row in sites[:-1]]) for c in range(len(sites[0]))]
    if max(widths) <= chi:
        return  # nothing is cut
    rng, held = np.random.default_rng(0), []
    for noise in (0.0, 0.1):
        near = [[noisy(t, noise, rng) for t in row] for row in sites]
        sweeps = boundaries([[closed(double_layer(t)) for t in row] for row in near], chi, "cut")
        held.append([t.shape[0] for sweep in sweeps for row in sweep for t in row])
    if any(a < b for a, b in zip(*held, strict=True)):
        raise ArgumentError(
            "finite: a bond of the boundary holds fewer states than it could, so that the derivative of the cut lacks "
            "some: add a little noise to the state, or raise chi until nothing is cut"
        )


def noisy(x: Any, noise: float, rng: np.random.Generator) -> Any:
    """A plain tensor with noise of a fraction of its largest entry."""
    values = numbers(plain(x))
    return with_numbers(plain(x), values + noise * largest(x) * rng.standard_normal(values.shape))


def flipped(row: Row) -> Row:
    """The row upside down: sites with up and down exchanged."""
    return [e.transpose(2, 1, 0, 3) for e in row]


def boundaries(rows: Sequence[Row], chi: int, multiplets: str = "drop") -> tuple[list[Row], list[Row]]:
    """The network above each row, and that below it: one sweep down and one up serve all rows."""
    above, below = [rim(rows[0])], [rim(rows[-1], 1)]
    for row in rows[:-1]:
        above.append(absorbed(above[-1], row, chi, multiplets)[0])
    for row in rows[:0:-1]:
        below.append(absorbed(below[-1], flipped(row), chi, multiplets)[0])
    return above, below[::-1]


def environments(columns: Sequence[Row], flow: int) -> Row:
    """Of each column of a strip what stands before it; its legs have this flow."""
    found = [unit(columns[0][0], [flow] * len(columns[0]))]
    for column in columns[:-1]:
        found.append(passed(found[-1], column))
    return found


def passed(before: Any, column: Row) -> Any:
    """What stands behind a column, which is the site above, those of one row or two, and the site below.

    Open legs of the sites come behind those that are open before them.
    """
    above, *sites, below = column
    names = iter(ascii_uppercase)
    counts = before.ndim - len(sites) - 2, *[e.ndim - 4 for e in sites]  # of open legs
    x, y, *z = ["".join([next(names) for _ in range(count)]) for count in counts]
    if not z:
        return einsum(f"{x}alc,aub,{y}uldr,cde->{x}{y}bre", before, above, *sites, below)
    return einsum(f"{x}almc,aub,{y}uldr,{z[0]}dmfs,cfe->{x}{y}{z[0]}brse", before, above, *sites, below)


def mirrored(column: Row) -> Row:
    """A column with left and right exchanged."""
    above, *sites, below = column
    return [above.transpose(2, 1, 0), *(e.transpose(0, 3, 2, 1) for e in sites), below.transpose(2, 1, 0)]


class Strip:
    """One row or two between what is above and below, with the environments of each column from both sides."""

    columns: list[Row]
    left: Row
    right: Row

    def __init__(self, above: Row, rows: Sequence[Row], below: Row):
        self.columns = [list(column) for column in zip(above, *rows, below, strict=True)]
        self.left = environments(self.columns, -1)
        self.right = environments([mirrored(column) for column in reversed(self.columns)], 1)[::-1]

    def density(self, opened: dict[int, Row]) -> Any:
        """The open legs of the columns in `opened`, (out, in) of each site, those of a column in the order of rows."""
        first, last = min(opened), max(opened)
        left = self.left[first]
        for j in range(first, last + 1):
            above, *sites, below = self.columns[j]
            left = passed(left, [above, *opened.get(j, sites), below])
        count = self.right[last].ndim
        return join(left, self.right[last], (tuple(range(left.ndim - count, left.ndim)), tuple(range(count))))

    def fix(self, column: int, site: Any) -> None:
        """Put another site, without open legs, in the only row: what stands behind it changes."""
        self.columns[column][1] = site
        if column + 1 < len(self.columns):
            behind = passed(self.left[column], self.columns[column])
            self.left[column + 1] = behind / largest(behind)
