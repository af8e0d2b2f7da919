"""Projected entangled pair states of finite lattices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.contract import einsum
from qad.core.errors import ArgumentError, ShapeError
from qad.core.trees import register
from qad.extend import operand
from qad.linalg.support.random import normal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, Self

    from qad.typing import Array, ArrayLike, DTypeLike, Seed

MOST_AMPLITUDES = 2**24  # what to_dense is willing to write out


class FinitePEPS:
    """A state of a finite square lattice, a tensor per site; neighbours share a bond.

    Parameters
    ----------
    tensors : sequence of rows, each a sequence of arrays
        Legs ``(physical, up, left, down, right)``. Legs up of the first row and down of the last have dimension 1. Legs
        left of the first column and right of the last have dimension 1, or are joined: then the rows are rings, and the
        lattice is a cylinder. They may be Tensors.

    Attributes
    ----------
    tensors : tuple of tuples of arrays
    shape : (rows, columns)
    cylinder : bool

    Raises
    ------
    ShapeError
        If a tensor has not five legs, or legs that meet have different dimensions.
    ArgumentError
        If rows differ in length, or dtypes are mixed.

    Examples
    --------
    >>> import qad
    >>> state = qad.peps.finite.FinitePEPS.random(3, 4, bond=2)
    >>> state
    FinitePEPS(3 x 4 sites, open, bond 2, complex128)
    >>> state[0, 1].shape
    (2, 1, 2, 2, 2)
    """

    __slots__ = ("tensors",)
    tensors: tuple[tuple[Any, ...], ...]

    def __init__(self, tensors: Iterable[Iterable[ArrayLike]]):
        self.tensors = tuple(tuple(operand(t) for t in row) for row in tensors)
        check(self.tensors)

    @classmethod
    def random(
        cls,
        rows: int,
        columns: int,
        bond: int,
        *,
        phys: int = 2,
        dtype: DTypeLike = complex,
        seed: Seed = 0,
        cylinder: bool = False,
    ) -> Self:
        """A state of Gaussian tensors.

        Parameters
        ----------
        rows, columns : int
        bond : int
            Dimension of all bonds.
        phys : int
            Dimension of a site.
        dtype : dtype
        seed : int or numpy.random.Generator
        cylinder : bool
            Join the ends of each row.

        Returns
        -------
        FinitePEPS
        """
        for name, n in (("rows", rows), ("columns", columns), ("bond", bond), ("phys", phys)):
            if not isinstance(n, (int, np.integer)) or n < 1:
                raise ArgumentError(f"{name} is {n!r}: write a whole number of at least 1")
        rng, dtype, ring = np.random.default_rng(seed), np.dtype(dtype), bond if cylinder else 1

        def site(r: int, c: int) -> np.ndarray:
            up, down = bond if r else 1, bond if r < rows - 1 else 1
            left, right = bond if c else ring, bond if c < columns - 1 else ring
            shape = (phys, up, left, down, right)
            return normal(rng, shape, dtype) / np.sqrt(np.prod(shape) / max(phys, bond)).astype(dtype)

        return cls([[site(r, c) for c in range(columns)] for r in range(rows)])

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self.tensors), len(self.tensors[0])

    @property
    def cylinder(self) -> bool:
        """Whether the ends of the rows are joined."""
        return any(row[0].shape[2] > 1 for row in self.tensors)

    @property
    def bond(self) -> int:
        """The largest bond dimension."""
        return max(n for row in self.tensors for t in row for n in t.shape[1:])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of all tensors."""
        return self.tensors[0][0].dtype

    def __getitem__(self, site: tuple[int, int]) -> Array:
        row, column = site
        return self.tensors[row][column]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.tensors)

    def __repr__(self) -> str:
        rows, columns = self.shape
        kind = "cylinder" if self.cylinder else "open"
        return f"FinitePEPS({rows} x {columns} sites, {kind}, bond {self.bond}, {self.dtype})"

    def to_dense(self) -> Array:
        """All amplitudes, of shape ``(phys,) * sites``, row by row.

        Raises
        ------
        ArgumentError
            If there are more than 2**24.
        """
        dims = [t.shape[0] for row in self.tensors for t in row]
        if np.prod(dims, dtype=float) > MOST_AMPLITUDES:
            raise ArgumentError(
                f"{len(dims)} sites have {np.prod(dims, dtype=float):.3g} amplitudes, too many to write out"
            )
        rows = opened(self)
        state = np.ones((1,) + (1,) * len(rows[0]), self.dtype)  # amplitudes so far, then a leg down per column
        for row in rows:
            state = state[..., None]  # the bond to the right
            for t in row:  # takes the first leg down, gives the last
                state = einsum("xu...l,suldr->xs...dr", state, t)
                state = state.reshape(-1, *state.shape[2:])
            state = state[..., 0]
        return state.reshape(dims)


register(FinitePEPS, lambda state: (state.tensors, None), lambda _, tensors: bare(tensors))


def bare(tensors: Any) -> FinitePEPS:
    """A state without checks: gradients and containers of whatever trees hold."""
    state = object.__new__(FinitePEPS)
    state.tensors = tensors
    return state


def check(tensors: tuple[tuple[Array, ...], ...]) -> None:
    """Raise unless the tensors make a lattice."""
    if not tensors or not tensors[0] or len({len(row) for row in tensors}) > 1:
        raise ArgumentError("a finite FinitePEPS is a list of rows of equal length, each a list of site tensors")
    if len({t.dtype for row in tensors for t in row}) > 1:
        found = ", ".join(sorted({str(t.dtype) for row in tensors for t in row}))
        raise ArgumentError(f"site tensors have mixed dtypes ({found}): cast all of them to one")
    rows, columns = len(tensors), len(tensors[0])
    for r, row in enumerate(tensors):
        for c, t in enumerate(row):
            if t.ndim != 5:
                raise ShapeError(f"site {r, c}: legs are (physical, up, left, down, right), not shape {t.shape}")
    for r, row in enumerate(tensors):
        for c, t in enumerate(row):
            if t.shape[4] != row[(c + 1) % columns].shape[2]:
                raise ShapeError(
                    f"site {r, c}: its bond to the right, {t.shape[4]}, is {row[(c + 1) % columns].shape[2]} there"
                )
            below = tensors[r + 1][c].shape[1] if r < rows - 1 else 1
            if t.shape[3] != below or (r == 0 and t.shape[1] != 1):
                raise ShapeError(f"site {r, c}: bonds up {t.shape[1]} and down {t.shape[3]} do not fit (the rim has 1)")


def opened(state: FinitePEPS) -> list[list[Array]]:
    """The rows as those of an open lattice: the bond that closes a ring runs along all bonds of its row."""
    return [list(row) if row[0].shape[2] == 1 else unrolled(row) for row in state.tensors]


def unrolled(row: tuple[Array, ...]) -> list[Array]:
    """The sites of a ring as those of an open row."""
    if len(row) == 1:
        return [einsum("suldl->sud", row[0])[:, :, None, :, None]]
    ring, first, last = row[0].shape[2], row[0], row[-1]
    s, u, _, d, r = first.shape
    sites = [first.transpose(0, 1, 3, 4, 2).reshape(s, u, 1, d, r * ring)]
    for t in row[1:-1]:
        s, u, left, d, r = t.shape
        sites.append(
            einsum("suldr,wv->sulwdrv", t, np.eye(ring, dtype=t.dtype)).reshape(s, u, left * ring, d, r * ring)
        )
    s, u, left, d, _ = last.shape
    return [*sites, last.transpose(0, 1, 2, 4, 3).reshape(s, u, left * ring, d, 1)]
