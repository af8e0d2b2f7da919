"""Projected entangled pair states of finite lattices."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from qad import symmetric
from qad.contract import ncon
from qad.core.errors import ArgumentError, ShapeError
from qad.core.trees import register
from qad.extend import operand
from qad.linalg.support.random import normal
from qad.mps.charges.axes import in_basis
from qad.mps.charges.quantities import kinds
from qad.mps.operators.local import site as site_of
from qad.peps.charges import charges_of_lattice, check_signs, in_states_of_sites, legs_of_site
from qad.peps.checks import check_charged, ends, leg_of, meet
from qad.peps.finite.terms import in_rows
from qad.symmetric.generic import dense
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, Self

    from qad.mps.charges.quantities import Names, Quantities
    from qad.mps.operators.local import Site
    from qad.typing import Array, ArrayLike, DTypeLike, Seed

MOST_AMPLITUDES = 2**24  # what to_dense is willing to write out


class FinitePEPS:
    """A state of a finite square lattice, a tensor per site; neighbours share a bond.

    Parameters
    ----------
    tensors : sequence of rows, each a sequence of arrays or symmetric tensors
        Legs ``(physical, up, left, down, right)``. Legs up of the first row and down of the last have dimension 1. Legs
        left of the first column and right of the last have dimension 1, or are joined: then the rows are rings, and the
        lattice is a cylinder. They may be Tensors.
    conserved : Quantities, optional
        Of sites that are symmetric tensors, of flows ``(+, +, +, -, -)`` and neutral: what the basis states of each
        site carry, row by row, counted from a product state. `random` makes such states, with ``conserve=``.
    kind : str or Site, optional
        What stands on the sites, by which operators are named; spins where nothing is said.

    Attributes
    ----------
    tensors : tuple of tuples of arrays
    shape : (rows, columns)
    cylinder : bool
    conserved, kind

    Raises
    ------
    ShapeError
        If a tensor has not five legs, or legs that meet are different.
    ArgumentError
        If rows differ in length, dtypes are mixed, or a site is not as `conserved` says.

    Examples
    --------
    >>> import qad
    >>> state = qad.peps.finite.FinitePEPS.random(3, 4, bond=2)
    >>> state
    FinitePEPS(3 x 4 sites, open, bond 2, complex128)
    >>> state[0, 1].shape
    (2, 1, 2, 2, 2)
    """

    __slots__ = ("tensors", "conserved", "kind")
    tensors: tuple[tuple[Any, ...], ...]
    conserved: Quantities | None
    kind: Site | None

    def __init__(
        self,
        tensors: Iterable[Iterable[ArrayLike | SymTensor]],
        conserved: Quantities | None = None,
        kind: str | Site | None = None,
    ):
        self.tensors = tuple(tuple(t if conserved else operand(t) for t in row) for row in tensors)
        self.conserved, self.kind = conserved, None if kind is None else site_of(kind)
        check(self.tensors)
        check_signs(conserved, self.kind)
        if conserved is not None:
            sites = [t for row in self.tensors for t in row]
            for number, (t, leg) in enumerate(zip(sites, conserved.legs, strict=True)):
                check_charged(divmod(number, self.shape[1]), t, leg)

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
        kind: str | Site | None = None,
        conserve: Names | None = None,
        states: Sequence[Sequence[int | str]] | None = None,
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
        kind : str or Site, optional
            What stands on the sites, in place of `phys`.
        conserve : str or sequence of str, optional
            What the state conserves, ``"Sz"`` or ``("N", "Sz")``: its sites are symmetric tensors then. Fermions always
            conserve their parity.
        states : rows of int or str, optional
            A product of basis states, by number or name, whose totals the state has. Near charges, as this product
            has them, are those of the bonds.

        Returns
        -------
        FinitePEPS

        Raises
        ------
        ArgumentError
            If a number is none, the sites know no such charge, or `states` is not a state for each site.

        Examples
        --------
        >>> import qad
        >>> neel = [["up", "down"], ["down", "up"]]
        >>> qad.peps.finite.FinitePEPS.random(2, 2, bond=2, kind="spin-1/2", conserve="Sz", states=neel)
        FinitePEPS(2 x 2 sites, open, bond 2, Sz conserved, complex128)
        """
        for name, n in (("rows", rows), ("columns", columns), ("bond", bond), ("phys", phys)):
            if not isinstance(n, (int, np.integer)) or n < 1:
                raise ArgumentError(f"{name} is {n!r}: write a whole number of at least 1")
        (own,) = kinds(kind, [phys])
        conserved = charges_of_lattice(own, conserve, states, (rows, columns))
        rng, dtype, sites = np.random.default_rng(seed), np.dtype(dtype), []
        for r, c in product(range(rows), range(columns)):
            inside = (r > 0, c > 0 or cylinder, r < rows - 1, c < columns - 1 or cylinder)
            shape = (own.phys, *[bond if leads else 1 for leads in inside])
            size = np.sqrt(np.prod(shape) / max(own.phys, bond)).astype(dtype)
            if conserved is None:
                sites.append(normal(rng, shape, dtype) / size)
            else:
                neighbours = [(r - 1, c), (r, c - 1), (r + 1, c), (r, c + 1)]
                around = zip(neighbours, inside, strict=True)
                numbers = [i * columns + j % columns if leads else None for (i, j), leads in around]
                legs = legs_of_site(conserved, r * columns + c, numbers, bond)
                sites.append(symmetric.random(legs, dtype=dtype, seed=rng) / size)
        return cls(in_rows(sites, (rows, columns)), conserved, kind)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self.tensors), len(self.tensors[0])

    @property
    def cylinder(self) -> bool:
        """Whether the ends of the rows are joined."""
        return any(not ends(row[0], 2) for row in self.tensors)

    @property
    def bond(self) -> int:
        """The largest bond dimension."""
        return max(n for row in self.tensors for t in row for n in t.shape[1:])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of all tensors."""
        return self.tensors[0][0].dtype

    @property
    def site(self) -> Site:
        """What stands on the sites: the kind that was said, else spins."""
        return kinds(self.kind, [self[0, 0].shape[0]])[0]

    def __getitem__(self, site: tuple[int, int]) -> Array:
        row, column = site
        return self.tensors[row][column]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.tensors)

    def __repr__(self) -> str:
        rows, columns = self.shape
        rim = "cylinder" if self.cylinder else "open"
        names = "" if self.conserved is None else f", {', '.join(self.conserved.names)} conserved"
        return f"FinitePEPS({rows} x {columns} sites, {rim}, bond {self.bond}{names}, {self.dtype})"

    def without_symmetry(self) -> FinitePEPS:
        """The same state of plain arrays, in the basis of the sites.

        Raises
        ------
        ArgumentError
            Of fermions, whose signs arrays do not know.
        """
        if self.conserved is None:
            return self
        if self.site.fermionic:
            raise ArgumentError("fermions on a lattice are no arrays, whose exchange changes no sign: see to_dense()")
        frames, columns = self.conserved.frames, self.shape[1]
        rows = [
            [in_basis(dense(t), frames[r * columns + c], 0) for c, t in enumerate(row)]
            for r, row in enumerate(self.tensors)
        ]
        return FinitePEPS(rows, kind=self.kind)

    def to_dense(self) -> Array:
        """All amplitudes, of shape ``(phys,) * sites``, row by row.

        Those of fermions are of the states ``(c_1^+)^x (c_2^+)^y ... |0>``, which chains have too.

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
        found = dense(ncon([t for row in self.tensors for t in row], labels_of(self))).reshape(dims)
        return found if self.conserved is None else in_states_of_sites(found, self.conserved, self.site)


register(
    FinitePEPS,
    lambda state: (state.tensors, (state.conserved, state.kind)),
    lambda rest, tensors: bare(tensors, *rest),
)


def bare(tensors: Any, conserved: Quantities | None = None, kind: Site | None = None) -> FinitePEPS:
    """A state without checks: gradients and containers of whatever trees hold."""
    state = object.__new__(FinitePEPS)
    state.tensors, state.conserved, state.kind = tensors, conserved, kind
    return state


def labels_of(state: FinitePEPS) -> list[list[int]]:
    """The network of a state in the notation of `qad.ncon`: physical legs are open, and those of the rim after them."""
    rows, columns = state.shape
    count, ring = rows * columns, state.cylinder

    def down(r: int, c: int) -> int:  # the bond above a site
        number = 1 + r * columns + c
        return number if 0 < r < rows else -count - number

    def right(r: int, c: int) -> int:  # the bond before it
        number = 1 + (rows + 1) * columns + r * (columns + 1) + (c % columns if ring else c)
        return number if ring or 0 < c < columns else -count - number

    return [
        [-1 - r * columns - c, down(r, c), right(r, c), down(r + 1, c), right(r, c + 1)]
        for r, c in product(range(rows), range(columns))
    ]


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
            if not meet(t, 4, row[(c + 1) % columns], 2):
                raise ShapeError(
                    f"site {r, c}: its bond to the right, {leg_of(t, 4)}, is {leg_of(row[(c + 1) % columns], 2)} there"
                )
            fits = meet(t, 3, tensors[r + 1][c], 1) if r < rows - 1 else ends(t, 3)
            if not fits or (r == 0 and not ends(t, 1)):
                raise ShapeError(
                    f"site {r, c}: bonds up {leg_of(t, 1)} and down {leg_of(t, 3)} do not fit (the rim has 1, neutral)"
                )
