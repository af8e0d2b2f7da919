"""Matrix product states of definite charge, whose site tensors are symmetric."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from qad.archive import understood
from qad.core.errors import ArgumentError, ShapeError
from qad.core.keywords import keywords_told
from qad.core.trees import register
from qad.mps.canonical import canonical, truncated
from qad.mps.chain import added, chain_card, listed, site_count
from qad.mps.conserving import storage
from qad.mps.conserving.reading import Readings
from qad.mps.conserving.site_tensors import SiteTensors, require_alike, total_of
from qad.mps.methods import Methods
from qad.mps.sandwich import inner, normalised, product
from qad.mps.scales import cut_in_range
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from qad.mps.conserving.quantities import Quantities
    from qad.typing import FilePath, Number, Real, Scalar


class SymmetricMPS(SiteTensors, Methods, Readings):
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
    ordinary: ClassVar[Any]  # `qad.mps.MPS`, which stands above and says so
    after: ClassVar[Any]  # the state that an operator makes, likewise

    def __init__(self, tensors: Iterable[SymTensor], conserved: Quantities):
        self.tensors, self.conserved = tuple(tensors), conserved
        check(self)

    @property
    def sector(self) -> int | tuple[int, ...]:
        """The total charge, one number for each quantity that is conserved."""
        return self.conserved.symmetry.shown(self.tensors[-1].legs[2].charges[0])

    def made_of(self, tensors: Iterable[Any]) -> SymmetricMPS:
        """The chain of other site tensors, of the same quantities, unchecked."""
        return bare(self.conserved, tensors)

    def __repr__(self) -> str:
        sector = self.sector if isinstance(self.sector, tuple) else (self.sector,)
        charges = ", ".join(f"{name} = {q}" for name, q in zip(self.conserved.names, sector, strict=True))
        return f"SymmetricMPS({len(self)} sites, {charges}, bonds {listed(self.bonds)}, {self.dtype})"

    def _repr_html_(self) -> str:
        return chain_card(self, (", ".join(self.conserved.names), self.sector))

    def __mul__(self, factor: Number) -> SymmetricMPS:
        if np.ndim(factor) != 0:
            return NotImplemented
        return SymmetricMPS([factor * self.tensors[0], *self.tensors[1:]], self.conserved)

    __rmul__ = __mul__
    __array_ufunc__ = None

    def __truediv__(self, divisor: Number) -> SymmetricMPS:
        return self * (1 / divisor) if np.ndim(divisor) == 0 else NotImplemented

    def __neg__(self) -> SymmetricMPS:
        return -1.0 * self

    def __add__(self, other: SymmetricMPS) -> SymmetricMPS:
        return sum_of(self, other) if isinstance(other, SymmetricMPS) else NotImplemented

    def __sub__(self, other: SymmetricMPS) -> SymmetricMPS:
        return self + -other if isinstance(other, SymmetricMPS) else NotImplemented

    def __matmul__(self, other: SymmetricMPS) -> Scalar:
        """``psi @ phi`` is the overlap ``<psi|phi>``: `qad.mps.overlap`."""
        if not isinstance(other, SymmetricMPS):
            return NotImplemented
        return inner(self, other)

    def __rmatmul__(self, H: Any) -> SymmetricMPS:
        """``H @ psi`` is the state that an operator makes; its bonds are pairs of a channel and a bond."""
        return self.after(H)

    def normalized(self) -> SymmetricMPS:
        """The state with norm 1: its norm, of any size, is divided out evenly.

        Raises
        ------
        ArgumentError
            If the norm is zero.

        Examples
        --------
        >>> import qad
        >>> psi = 7.0 * qad.mps.MPS.random(6, 4, conserve="Sz")
        >>> round(float(qad.mps.norm(psi.normalized())), 12)
        1.0
        """
        return normalised(self)

    def canonicalize(self, center: int) -> SymmetricMPS:
        """The same state in mixed canonical form, as `qad.mps.MPS.canonicalize`.

        Parameters
        ----------
        center : int
            Sites before it become isometries from their right bond, those after it from their left one.

        Raises
        ------
        ArgumentError
            If there is no site `center`; in a derivative as there.

        Examples
        --------
        >>> import qad
        >>> psi = qad.mps.MPS.random(6, 4, conserve="Sz").canonicalize(2)
        >>> round(float(psi[2].norm()), 12)
        1.0
        """
        if not -len(self) <= center < len(self):
            raise ArgumentError(f"there is no site {center} among {len(self)}")
        return self.made_of(canonical(self.tensors, center % len(self)))

    @keywords_told
    def truncate(self, max_bond: int | None = None, cutoff: float = 1e-14) -> tuple[SymmetricMPS, Real]:
        """The state with smaller bonds that is nearest to this one, bond by bond, as `qad.mps.MPS.truncate`.

        Parameters
        ----------
        max_bond : int, optional
            Keep at most so many Schmidt values on a bond, of all sectors together; of equal ones those of the lower
            charge.
        cutoff : float
            Keep those above ``cutoff`` times the largest.

        Returns
        -------
        state : SymmetricMPS
            Canonical around the last site; not normalised anew.
        error : real scalar
            Norm of the difference from this state.

        Raises
        ------
        ArgumentError
            In a derivative as there.

        Examples
        --------
        >>> import qad
        >>> psi = qad.mps.MPS.random(8, 8, conserve="Sz")
        >>> small, error = (psi + psi).truncate(max_bond=8)
        >>> small.bond, bool(error < 1e-12)
        (8, True)
        """
        if max_bond is not None:
            max_bond = site_count(max_bond, 1, "max_bond")
        tensors, error = cut_in_range(truncated, product, self.tensors, max_bond, cutoff)
        return SymmetricMPS(tensors, self.conserved), error

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

    def without_symmetry(self) -> Any:
        """The same state as an ordinary one, its basis in the order of the sites.

        Examples
        --------
        >>> import numpy as np, qad
        >>> neel = qad.mps.MPS.product([0, 1, 0], conserve="Sz")
        >>> np.array_equal(neel.without_symmetry().to_dense(), qad.mps.MPS.product([0, 1, 0]).to_dense())
        True
        """
        orders = self.conserved.orders
        return self.ordinary(
            [t.to_dense()[:, np.argsort(order)] for t, order in zip(self.tensors, orders, strict=True)]
        )


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
