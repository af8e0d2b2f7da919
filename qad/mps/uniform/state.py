"""Uniform matrix product states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.chain.chain import Chain, chain_card, site_count
from qad.mps.chain.site_tensors import random_isometry

if TYPE_CHECKING:
    from typing import Self

    from qad.typing import DTypeLike, Seed


class UniformMPS(Chain):
    """An infinite chain that repeats a cell of site tensors, ``... A1 A2 ... Ak A1 A2 ...``.

    Parameters
    ----------
    tensors : sequence of arrays
        The cell: site tensors with legs ``(left, physical, right)``; the last right leg fits the first left one.

    Examples
    --------
    >>> import qad
    >>> qad.mps.uniform.UniformMPS.random(bond=4, cell=2)
    UniformMPS(2 sites, repeated, bonds 4-4-4, complex128)
    """

    __slots__ = ()
    LEGS: tuple[str, ...] = ("left", "physical", "right")
    RIGHT: int = 2

    @property
    def phys(self) -> tuple[int, ...]:
        """Dimensions of the physical legs of the cell."""
        return tuple(t.shape[1] for t in self.tensors)

    @classmethod
    def random(cls, bond: int, phys: int = 2, cell: int = 1, dtype: DTypeLike = complex, seed: Seed = 0) -> Self:
        """A cell of random isometries from their left bonds.

        Parameters
        ----------
        bond, phys, cell : int
            Dimensions of bonds and of physical legs, and number of sites in the cell.
        dtype : dtype
            Real or complex floating.
        seed : int or numpy.random.Generator
        """
        bond, phys, cell = (site_count(x, 1, name) for x, name in ((bond, "bond"), (phys, "phys"), (cell, "cell")))
        dtype, rng = np.dtype(dtype), np.random.default_rng(seed)
        if dtype.kind not in "fc":
            raise ArgumentError(f"a random state needs a float or complex dtype, not {dtype}: write dtype=complex")
        return cls([random_isometry(rng, bond, phys, bond, dtype) for _ in range(cell)])

    def _repr_html_(self) -> str:
        return chain_card(self, ("ends", "repeated"))

    def __repr__(self) -> str:
        return super().__repr__().replace("periodic", "repeated").replace("open", "repeated")
