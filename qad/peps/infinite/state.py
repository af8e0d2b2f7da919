"""Infinite projected entangled pair states: a cell of site tensors, repeated over the square lattice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.core.trees import register
from qad.extend import as_array, operand, value_of
from qad.linalg.support.random import normal
from qad.mps.operators.local import site
from qad.peps.charges import check_signs
from qad.peps.checks import LEGS, check_charged, leg_of, meet
from qad.peps.infinite.symmetry import check_symmetry
from qad.symmetric.generic import numbers
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Self

    from qad.mps.charges.quantities import Quantities
    from qad.mps.operators.local import Site
    from qad.typing import Array, ArrayLike, DTypeLike, Seed

STEPS = {1: (-1, 0), 2: (0, -1), 3: (1, 0), 4: (0, 1)}  # of a leg: (rows, columns)


class PEPS:
    """An infinite state of the square lattice: a cell of site tensors that repeats in both directions.

    Parameters
    ----------
    tensors : sequence of arrays
        One for each letter of `cell`, in the order in which they first appear there, row by row. Legs ``(physical, up,
        left, down, right)``. They may be Tensors.
    cell : sequence of str
        The pattern: a string per row, a letter per site. Sites of one letter share their tensor.
    symmetry : str, optional
        "c4v", "c4" or "c2v", for arrays and cells of one site: the state is that of the symmetric part of the tensor.
        "c4v": all rotations and reflections, the latter together with complex conjugation where the tensor is complex.
        "c4": the rotations. "c2v": the reflections of rows and of columns.
    conserved : Quantities, optional
        Of sites that are symmetric tensors, of flows ``(+, +, +, -, -)`` and neutral: what the basis states of each
        letter carry. `simple_update` and `ground_state` make such states, with ``conserve=``.
    kind : str or Site, optional
        What stands on the sites, by which operators are named; spins where nothing is said.

    Raises
    ------
    ShapeError
        If legs that meet have different dimensions.
    ArgumentError
        If pattern and tensors do not fit, or dtypes are mixed.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.peps.PEPS([np.ones((2, 3, 3, 3, 3))])
    PEPS(cell A, bond 3, physical 2, float64)
    """

    __slots__ = ("tensors", "cell", "symmetry", "conserved", "kind")
    tensors: tuple[Any, ...]
    cell: tuple[str, ...]
    symmetry: str | None
    conserved: Quantities | None
    kind: Site | None

    def __init__(
        self,
        tensors: Iterable[ArrayLike | SymTensor],
        cell: Sequence[str] = ("A",),
        symmetry: str | None = None,
        conserved: Quantities | None = None,
        kind: str | Site | None = None,
    ):
        self.cell = pattern(cell)
        self.tensors = tuple([x if conserved else operand(x) for x in tensors])
        self.symmetry, self.conserved = symmetry, conserved
        self.kind = None if kind is None else site(kind)
        self._check()

    @classmethod
    def random(
        cls,
        bond: int,
        cell: Sequence[str] = ("A",),
        seed: Seed = 0,
        phys: int = 2,
        dtype: DTypeLike = complex,
        symmetry: str | None = None,
        kind: str | Site | None = None,
    ) -> Self:
        """A state of random tensors of norm 1.

        Parameters
        ----------
        bond : int
        cell : sequence of str
        seed : int or numpy.random.Generator
        phys : int
            Dimension of a site.
        dtype : dtype
            float or complex, in double precision.
        symmetry : str, optional
        kind : str or Site, optional
            What stands on the sites, in place of `phys`.

        Examples
        --------
        >>> import qad
        >>> qad.peps.PEPS.random(bond=2, cell=["AB", "BA"], seed=0)
        PEPS(cell AB/BA, bond 2, physical 2, complex128)
        """
        phys = phys if kind is None else site(kind).phys
        if int(bond) != bond or int(phys) != phys or bond < 1 or phys < 1:
            raise ArgumentError(f"bond and phys are positive whole numbers, not {bond!r} and {phys!r}")
        dtype, rng = np.dtype(dtype), np.random.default_rng(seed)
        if dtype not in (np.float64, np.complex128):
            raise ArgumentError(f"a random state is float or complex, in double precision, not {dtype}")
        shape = (int(phys), *(int(bond),) * 4)

        sites = (normal(rng, shape, dtype) for _ in letters(pattern(cell)))
        return cls([x / np.linalg.norm(x) for x in sites], cell, symmetry, kind=kind)

    def _check(self) -> None:
        names = letters(self.cell)
        if len(names) != len(self.tensors):
            raise ArgumentError(f"cell {self} has the letters {names}, but {len(self.tensors)} tensors are given")
        if self.conserved is not None:
            check_charges(self)
        for name, x in zip(names, self.tensors, strict=True):
            if x.ndim != 5:
                raise ShapeError(f"site {name} has shape {x.shape}; a site has the legs {LEGS}")
            if x.dtype not in (np.float64, np.complex128) or x.dtype != self.dtype:
                raise ArgumentError(
                    f"the sites have dtypes {self.dtype} and {x.dtype}: make them all float or complex, in double "
                    "precision, which environments need"
                )
            if not np.isfinite(as_array(value_of(numbers(x)))).all():
                raise ArgumentError(f"site {name} holds numbers that are not finite")
        for row, column in self.positions:
            for leg in (3, 4):
                rows, columns = STEPS[leg]
                one, two = self[row, column], self[row + rows, column + columns]
                if not meet(one, leg, two, leg - 2):
                    raise ShapeError(
                        f"the {LEGS[leg]} leg of site {(row, column)} has dimension {leg_of(one, leg)}, "
                        f"the {LEGS[leg - 2]} leg that it meets {leg_of(two, leg - 2)}"
                    )
        check_symmetry(self.symmetry, self.cell, self.tensors[0].shape)

    @property
    def rows(self) -> int:
        """Rows of the cell."""
        return len(self.cell)

    @property
    def columns(self) -> int:
        """Columns of the cell."""
        return len(self.cell[0])

    @property
    def positions(self) -> list[tuple[int, int]]:
        """The sites of the cell, ``(row, column)``, row by row."""
        return [(row, column) for row in range(self.rows) for column in range(self.columns)]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the tensors."""
        return self.tensors[0].dtype

    @property
    def bond(self) -> int:
        """The largest dimension of a leg between sites."""
        return max(max(x.shape[1:]) for x in self.tensors)

    @property
    def phys(self) -> int:
        """The largest dimension of a physical leg."""
        return max(x.shape[0] for x in self.tensors)

    def __getitem__(self, position: tuple[int, int]) -> Array:
        """The tensor at ``(row, column)`` of the infinite lattice."""
        return self.tensors[self.letter(*position)]

    def letter(self, row: int, column: int) -> int:
        """The number of the letter at a site of the infinite lattice: that of its tensor."""
        return letters(self.cell).index(self.cell[row % self.rows][column % self.columns])

    def __repr__(self) -> str:
        symmetry = f", {self.symmetry}" if self.symmetry else ""
        if self.conserved is not None:
            symmetry = f", {', '.join(self.conserved.names)} conserved"
        return f"PEPS(cell {'/'.join(self.cell)}, bond {self.bond}, physical {self.phys}, {self.dtype}{symmetry})"


def pattern(cell: Sequence[str]) -> tuple[str, ...]:
    """The rows of a cell, checked."""
    rows = (cell,) if isinstance(cell, str) else tuple(cell)
    if not rows or not all(isinstance(row, str) and row and len(row) == len(rows[0]) for row in rows):
        raise ArgumentError(f'a cell is a list of strings of one length, such as ["AB", "BA"], not {cell!r}')
    return rows


def letters(cell: tuple[str, ...]) -> list[str]:
    """The letters of a pattern in the order in which they first appear."""
    return list(dict.fromkeys("".join(cell)))


def check_charges(state: PEPS) -> None:
    """Raise unless the sites are neutral symmetric tensors of the right flows, with the charges of the state."""
    check_signs(state.conserved, state.kind)
    if state.symmetry is not None:
        raise ArgumentError(f"symmetry {state.symmetry!r} is for arrays: leave it out where charges are conserved")
    for name, x, leg in zip(letters(state.cell), state.tensors, state.conserved.legs, strict=True):
        check_charged(name, x, leg)


def bare(tensors: Iterable[Any], *static: Any) -> PEPS:
    """A state that is not checked: what a gradient is, and what a tree holds while it is taken apart."""
    state = object.__new__(PEPS)
    state.tensors = tuple(tensors)
    state.cell, state.symmetry, state.conserved, state.kind = static
    return state


register(
    PEPS,
    lambda state: (state.tensors, (state.cell, state.symmetry, state.conserved, state.kind)),
    lambda rest, tensors: bare(tensors, *rest),
)
