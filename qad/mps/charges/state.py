"""Matrix product states of definite charge, whose site tensors are symmetric."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.archive import understood
from qad.core.errors import ArgumentError, ShapeError
from qad.core.trees import register
from qad.extend import value_of
from qad.mps.amplitudes.reading import Readings
from qad.mps.chain.chain import added, chain_card, listed
from qad.mps.chain.forms import Forms
from qad.mps.chain.methods import OFFERED, Methods
from qad.mps.chain.row import Linear
from qad.mps.charges import storage
from qad.mps.charges.amplitudes import scaled_amplitudes
from qad.mps.charges.axes import in_basis
from qad.mps.charges.rows import SiteTensors, require_alike, total_of
from qad.mps.charges.sampling import drawn
from qad.symmetric.generic import with_numbers
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from qad.mps.charges.quantities import Quantities
    from qad.typing import Array, ArrayLike, FilePath


class SymmetricMPS(Linear, Forms, Methods, Readings, SiteTensors):
    """An open chain of definite charge: site tensors of legs (left, physical, right), of flows (+, +, -).

    Made by ``MPS.product(..., conserve=)``, ``MPS.random(..., conserve=)`` and ``ground_state(..., conserve=)``.  The
    bond right of a site carries the charge of all sites up to it, the last one that of the state.  A pytree of its site
    tensors.

    Parameters
    ----------
    tensors : sequence of SymTensor
    conserved : Quantities
        What is conserved, and the charges of the basis states of every site.

    Raises
    ------
    ShapeError
        If neighbours do not fit, or a physical leg is not that of its site.

    Examples
    --------
    >>> import qad
    >>> qad.mps.MPS.product([0, 1, 0, 1], conserve="Sz")
    SymmetricMPS(4 sites, Sz = 0, bonds 1-1-1-1-1, complex128)
    """

    __slots__ = ("tensors", "conserved")
    tensors: tuple[Any, ...]
    conserved: Quantities

    def __init__(self, tensors: Iterable[SymTensor], conserved: Quantities):
        self.tensors, self.conserved = tuple(tensors), conserved
        check(self)

    @property
    def sector(self) -> int | tuple[int, ...]:
        """The total charge, one number for each quantity that is conserved."""
        return self.conserved.symmetry.shown(self.tensors[-1].legs[2].charges[0])

    def _made_of(self, tensors: Iterable[Any]) -> SymmetricMPS:
        """The chain of other site tensors, of the same quantities, unchecked."""
        return bare(self.conserved, tensors)

    def __repr__(self) -> str:
        sector = self.sector if isinstance(self.sector, tuple) else (self.sector,)
        charges = ", ".join(f"{name} = {q}" for name, q in zip(self.conserved.names, sector, strict=True))
        return f"SymmetricMPS({len(self)} sites, {charges}, bonds {listed(self.bonds)}, {self.dtype})"

    def _repr_html_(self) -> str:
        return chain_card(self, (", ".join(self.conserved.names), self.sector))

    def __add__(self, other: SymmetricMPS) -> SymmetricMPS:
        return sum_of(self, other) if isinstance(other, SymmetricMPS) else NotImplemented

    def __rmatmul__(self, H: Any) -> SymmetricMPS:
        """``H @ psi`` is the state that an operator makes; its bonds are pairs of a channel and a bond."""
        return OFFERED["after"](self, H)

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
        >>> qad.mps.MPS.product([0, 1, 0], conserve="Sz").save(path)
        >>> qad.mps.SymmetricMPS.load(path)
        SymmetricMPS(3 sites, Sz = 1, bonds 1-1-1-1, complex128)
        """
        storage.save(path, self.tensors, self.conserved)

    @classmethod
    def load(cls, path: FilePath) -> SymmetricMPS:
        """The state in a file that `save` wrote.

        Raises
        ------
        ArgumentError
            If the file is damaged or holds something else.

        Examples
        --------
        See `save`.
        """
        tensors, conserved = storage.load(path)
        with understood(path):
            return cls(tensors, conserved)

    def _scaled(self, configurations: ArrayLike) -> tuple[Array, Array]:
        if self.conserved.states[0] is not None:
            return self.without_symmetry()._scaled(configurations)
        return scaled_amplitudes(self.tensors, self.conserved, configurations)

    def _drawn(self, shots: int, rng: np.random.Generator) -> np.ndarray:
        if self.conserved.states[0] is not None:
            return self.without_symmetry()._drawn(shots, rng)
        return drawn([with_numbers(t, value_of(t.data)) for t in self.tensors], self.conserved, shots, rng)

    def without_symmetry(self) -> Any:
        """The same state as an ordinary one, its basis in the order of the sites.

        Examples
        --------
        >>> import numpy as np, qad
        >>> neel = qad.mps.MPS.product([0, 1, 0], conserve="Sz")
        >>> np.array_equal(neel.without_symmetry().to_dense(), qad.mps.MPS.product([0, 1, 0]).to_dense())
        True
        """
        frames = self.conserved.frames
        return OFFERED["MPS"]([in_basis(t.to_dense(), frame, 1) for t, frame in zip(self, frames, strict=True)])


def bare(conserved: Quantities, tensors: Iterable[Any]) -> SymmetricMPS:
    """A chain of whatever stands in a pytree's places, unchecked."""
    chain = object.__new__(SymmetricMPS)
    chain.tensors, chain.conserved = tuple(tensors), conserved
    return chain


def sum_of(one: SymmetricMPS, two: SymmetricMPS) -> SymmetricMPS:
    """The sum of two states of one sector: the dimensions of bonds add up, sector by sector."""
    require_alike(one, two, "a sum")
    if total_of(one) != total_of(two):
        raise ArgumentError(
            f"the sum of states of {', '.join(one.conserved.names)} = {one.sector} and {two.sector} has no definite "
            "charge: give .without_symmetry() of both"
        )
    return SymmetricMPS(added(one, two, SymmetricMPS.RIGHT), one.conserved)


register(SymmetricMPS, lambda chain: (chain.tensors, chain.conserved), bare)


def check(psi: SymmetricMPS) -> None:
    """Raise unless neighbours fit, and physical legs are those of their sites."""
    legs = psi.conserved.legs
    if len(psi) != len(legs) or not len(psi):
        raise ShapeError(f"{len(psi)} site tensors were given for {len(legs)} sites")
    for site, (tensor, leg) in enumerate(zip(psi, legs, strict=True)):
        if not isinstance(tensor, SymTensor) or tensor.ndim != 3 or not tensor.legs[1].alike(leg):
            raise ShapeError(f"site {site} needs a SymTensor of legs (left, {leg!r}, right), not {tensor!r}")
        if site and not psi[site - 1].legs[2].joins(tensor.legs[0]):
            raise ShapeError(
                f"the bond between sites {site - 1} and {site} does not fit: {psi[site - 1].legs[2]!r} and "
                f"{tensor.legs[0]!r}"
            )
    if psi.bonds[0] != 1 or psi.bonds[-1] != 1:
        raise ShapeError(
            f"the outer bonds have dimensions {psi.bonds[0]} and {psi.bonds[-1]}: only open chains conserve"
        )
