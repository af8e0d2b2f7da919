"""Uniform matrix product states of definite charge per cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.archive import read_format, understood, write_arrays
from qad.core.errors import ShapeError
from qad.core.trees import register
from qad.mps.chain.chain import chain_card, listed
from qad.mps.chain.storage import arrays_of, parts_of
from qad.mps.charges.rows import SiteTensors
from qad.mps.charges.uniform_cell import counted_from_mean
from qad.mps.uniform.state import UniformMPS
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from qad.mps.charges.quantities import Charge, Quantities
    from qad.typing import FilePath

FORMAT = "qad infinite chain of definite charge 1"


class SymmetricUniformMPS(SiteTensors):
    """An infinite chain of definite charge per cell: symmetric site tensors (left, physical, right), flows (+, +, -).

    Made by ``uniform.ground_state(..., conserve=)``.  The bond right of a site carries the charge of all sites of the
    cell up to it; charges of the last site of a cell are counted less `sector`, so that the bond right of it is the
    first one again.  A pytree of its site tensors.

    Parameters
    ----------
    tensors : sequence of SymTensor
    conserved : Quantities
        What is conserved, and the charges of the basis states of every site of the cell.
    sector : int, or tuple of int
        The charge of a cell.

    Raises
    ------
    ShapeError
        If neighbours do not fit, or a physical leg is not that of its site.

    Examples
    --------
    >>> import qad
    >>> H = qad.mps.uniform.xxz(3.0)
    >>> found = qad.mps.uniform.ground_state(H, bond=8, conserve="Sz")
    >>> found.state
    SymmetricUniformMPS(2 sites, repeated, Sz = 0 per cell, bonds 8-8-8, float64)
    """

    __slots__ = ("tensors", "conserved", "total")
    tensors: tuple[Any, ...]
    conserved: Quantities
    total: Charge

    def __init__(self, tensors: Iterable[SymTensor], conserved: Quantities, sector: object):
        self.tensors, self.conserved, self.total = tuple(tensors), conserved, conserved.sector(sector)
        check(self)

    @property
    def sector(self) -> int | tuple[int, ...]:
        """The charge of a cell, one number for each quantity that is conserved."""
        return self.conserved.symmetry.shown(self.total)

    def __repr__(self) -> str:
        sector = self.sector if isinstance(self.sector, tuple) else (self.sector,)
        charges = ", ".join(f"{name} = {q}" for name, q in zip(self.conserved.names, sector, strict=True))
        kind = f"{len(self)} sites, repeated, {charges} per cell"
        return f"SymmetricUniformMPS({kind}, bonds {listed(self.bonds)}, {self.dtype})"

    def _repr_html_(self) -> str:
        return chain_card(self, ("ends", "repeated"), (", ".join(self.conserved.names) + " per cell", self.sector))

    def without_symmetry(self) -> UniformMPS:
        """The same state as an ordinary one, its basis in the order of the sites; differentiable.

        Examples
        --------
        >>> import qad
        >>> found = qad.mps.uniform.ground_state(qad.mps.uniform.xxz(3.0), bond=4, conserve="Sz")
        >>> plain = found.state.without_symmetry()
        >>> plain
        UniformMPS(2 sites, repeated, bonds 4-4-4, float64)
        """
        pairs = zip(self.tensors, self.conserved.orders, strict=True)
        return UniformMPS([t.to_dense()[:, np.argsort(order)] for t, order in pairs])

    def save(self, path: FilePath) -> None:
        """Write the state to an ``.npz`` file; `load` reads it.

        Parameters
        ----------
        path : str or path
            Replaced only once the new file is complete.

        Examples
        --------
        >>> import qad, tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp(), "state.npz")
        >>> qad.mps.uniform.ground_state(qad.mps.uniform.xxz(3.0), bond=4, conserve="Sz").state.save(path)
        >>> qad.mps.uniform.SymmetricUniformMPS.load(path)
        SymmetricUniformMPS(2 sites, repeated, Sz = 0 per cell, bonds 4-4-4, float64)
        """
        write_arrays(
            path, format=np.array(FORMAT), sector=np.array(self.total), **arrays_of(self.tensors, self.conserved)
        )

    @classmethod
    def load(cls, path: FilePath) -> SymmetricUniformMPS:
        """The state in a file that `save` wrote.

        Raises
        ------
        ArgumentError
            If the file is damaged or holds something else.

        Examples
        --------
        See `save`.
        """
        arrays = read_format(path, cls.__name__, FORMAT)
        tensors, conserved = parts_of(arrays, path)
        with understood(path):
            return cls(tensors, conserved, conserved.symmetry.shown(tuple(arrays["sector"].tolist())))


def bare(where: tuple[Quantities, Charge], tensors: Iterable[Any]) -> SymmetricUniformMPS:
    """A chain of whatever stands in a pytree's places, unchecked."""
    chain = object.__new__(SymmetricUniformMPS)
    chain.tensors, (chain.conserved, chain.total) = tuple(tensors), where
    return chain


register(SymmetricUniformMPS, lambda chain: (chain.tensors, (chain.conserved, chain.total)), bare)


def check(psi: SymmetricUniformMPS) -> None:
    """Raise unless neighbours fit, around the cell too, and physical legs are those of their sites."""
    legs = counted_from_mean(psi.conserved, psi.total).legs
    if len(psi) != len(legs) or not len(psi):
        raise ShapeError(f"{len(psi)} site tensors were given for {len(legs)} sites")
    for site, (tensor, leg) in enumerate(zip(psi, legs, strict=True)):
        if not isinstance(tensor, SymTensor) or tensor.ndim != 3 or not tensor.legs[1].alike(leg):
            raise ShapeError(f"site {site} needs a SymTensor of legs (left, {leg!r}, right), not {tensor!r}")
        if not psi[site - 1].legs[2].joins(tensor.legs[0]):
            raise ShapeError(
                f"the bond left of site {site} does not fit: {psi[site - 1].legs[2]!r} and {tensor.legs[0]!r}"
            )
