"""Matrix product states."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.elsewhere import attributes_told
from qad.keywords import keywords_told
from qad.mps.amplitudes.reading import Readings
from qad.mps.chain import gauge
from qad.mps.chain.chain import Chain, site_count
from qad.mps.chain.methods import Methods
from qad.mps.chain.row import check_row, total_of
from qad.mps.chain.sandwich import normalised
from qad.mps.chain.site_tensors import basis_or_vector, numbered, random_gaussian, random_isometry
from qad.mps.charges.axes import in_basis
from qad.mps.charges.make import product_tensors, random_tensors
from qad.mps.charges.quantities import Quantities, kinds, quantities
from qad.mps.operators.local import each_of
from qad.symmetric.generic import join
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qad.mps.charges.quantities import Kinds
    from qad.typing import Array, ArrayLike, DTypeLike, Seed

MOST_AMPLITUDES = 2**28  # what to_dense is willing to write out: 4 GiB of complex128


class StateChain(Chain):
    """Site tensors of a state, a finite one or the cell of an infinite one."""

    __slots__ = ()
    _check_row: Any  # raises unless neighbours of symmetric tensors fit, and physical legs are those of their sites
    LEGS: tuple[str, ...] = ("left", "physical", "right")
    RIGHT: int = 2

    @property
    def phys(self) -> tuple[int, ...]:
        """Dimensions of the physical legs; of an infinite chain those of the cell."""
        return tuple(t.shape[1] for t in self.tensors)

    def without_symmetry(self) -> Self:
        """The same state of plain arrays, its basis in the order of the sites; itself where nothing is conserved.

        Differentiable.

        Examples
        --------
        >>> import numpy as np, qad
        >>> neel = qad.mps.MPS.product([0, 1, 0], conserve="Sz")
        >>> np.array_equal(neel.without_symmetry().to_dense(), qad.mps.MPS.product([0, 1, 0]).to_dense())
        True
        >>> found = qad.mps.uniform.ground_state(qad.mps.uniform.heisenberg(), bond=8, conserve="Sz")
        >>> found.state.without_symmetry()
        UniformMPS(2 sites, repeated, bonds 8-8-8, float64)
        """
        if self.conserved is None:
            return self
        frames = self.conserved.frames
        plain = [in_basis(t.to_dense(), frame, 1) for t, frame in zip(self, frames, strict=True)]
        return type(self)(plain, kind=self.sites)

    def _check(self) -> None:
        if self.conserved is None:
            if SymTensor in map(type, self.tensors):
                raise ArgumentError(
                    "SymTensors make a state together with what they conserve: "
                    f"{type(self).__name__}(tensors, psi.conserved)"
                )
            super()._check()
        elif isinstance(self.conserved, Quantities):
            self._check_row()
        else:
            raise ArgumentError(
                f"conserved= is what another state conserves, psi.conserved, not {self.conserved!r}: names "
                "of quantities are for MPS.product(..., conserve=) and MPS.random(..., conserve=)"
            )


@attributes_told
class MPS(Methods, Readings, StateChain):
    """A matrix product state ``psi[s1, ..., sn] = tr(A1[s1] A2[s2] ... An[sn])``.

    Parameters
    ----------
    tensors : sequence of arrays, or of SymTensors
        Site tensors with legs ``(left, physical, right)``.  An open chain has outer bonds of dimension 1, a
        periodic one any dimension that both ends share.  Arrays are kept, not copied; Tensors are welcome.
    kind : str, Site, or a sequence of them, optional
        What stands on the sites, "electron" for example, so that operators can be named.
    conserved : optional
        Of SymTensors, of flows ``(+, +, -)``: what is conserved, and the charges of the basis states of every site, as
        ``product(..., conserve=)``, ``random(..., conserve=)`` and ``ground_state(..., conserve=)`` find it.  The bond
        right of a site carries the charge of all sites up to it, the last one that of the state.

    Attributes
    ----------
    tensors : tuple of arrays, or of SymTensors
    bonds, bond, periodic, dtype
        See `qad.mps.chain.chain.Chain`.

    Raises
    ------
    ShapeError
        If a tensor has not three legs, or a bond does not fit, or a physical leg is not that of its site; the message
        names the site.
    ArgumentError
        If SymTensors come without what they conserve, or there are no tensors.

    Examples
    --------
    >>> import numpy as np, qad
    >>> psi = qad.mps.MPS.random(n=4, bond=8, seed=1)
    >>> psi
    MPS(4 sites, open, bonds 1-2-4-2-1, complex128)
    >>> psi[1].shape, psi.to_dense().shape
    ((2, 2, 4), (2, 2, 2, 2))
    >>> qad.mps.MPS.product([0, 1, 0, 1], conserve="Sz")
    MPS(4 sites, Sz = 0, bonds 1-1-1-1-1, complex128)
    """

    __slots__ = ()

    @property
    def sector(self) -> int | tuple[int, ...] | None:
        """The total charge, one number for each quantity that is conserved; None where nothing is."""
        return None if self.conserved is None else self.conserved.symmetry.shown(total_of(self))

    def _kind(self) -> dict[str, Any]:
        if self.conserved is None:
            return super()._kind()
        sector = self.sector if isinstance(self.sector, tuple) else (self.sector,)
        return dict(zip(self.conserved.names, sector, strict=True))

    def _check_row(self) -> None:
        check_row(self, lambda: self.conserved.legs)

    @classmethod
    @keywords_told
    def random(
        cls, n: int, bond: int, phys: int = 2, dtype: DTypeLike = complex, seed: Seed = 0, periodic: bool = False, *,
        conserve: str | Sequence[str] | None = None, sector: int | tuple[int, ...] | None = None, kind: Kinds = None,
    ) -> Self:  # fmt: skip
        """A random state of norm 1 with site tensors of even scale.

        In an open chain every site is a random isometry from its left bond, ``sum_{s,b} A[a,s,b] conj(A[c,s,b]) =
        delta_ac`` (Haar distributed, by QR of a Gaussian matrix), so that nothing grows or decays along the chain
        and the norm is 1.  In a periodic one every site is Gaussian, of that size on average, and the norm is
        divided out evenly, at the cost of computing it, ``O(n phys bond**5)``.

        Parameters
        ----------
        n : int
            Number of sites.
        bond : int
            Bond dimension; in an open chain no bond exceeds what the shorter side can fill.
        phys : int
            Dimension of every physical leg, where `kind` does not say what stands there.
        dtype : real or complex floating dtype
        seed : int or numpy.random.Generator
        periodic : bool
        conserve, sector : optional
            For a state with charges: "Sz" or ("N", "Sz"), and their total (2 Sz for spins; 0).
        kind : str, Site, or a sequence of them, optional
            What stands on the sites, "electron" for example: the state knows it when operators are named.

        Raises
        ------
        ArgumentError
            If a size is no positive whole number or the dtype is no floating one.

        Examples
        --------
        >>> import qad
        >>> psi = qad.mps.MPS.random(n=20, bond=16, dtype=float, seed=3)
        >>> round(float(qad.mps.norm(psi)), 12)
        1.0
        """
        n, bond, phys = map(site_count, (n, bond, phys), (1, 1, 1), ("n", "bond", "phys"))
        if (dtype := np.dtype(dtype)).kind not in "fc":
            raise ArgumentError(f"a random MPS needs a float or complex dtype, not {dtype}: write dtype=complex")
        if conserve is not None:
            if periodic:
                raise ArgumentError("symmetric states are open chains: leave out periodic, or conserve")
            conserved = quantities(conserve, kinds(kind, [phys] * n))
            return cls(random_tensors(bond, conserved, sector, dtype, seed), conserved, kind)
        if sector is not None:
            raise ArgumentError("sector= is of what is conserved: give conserve= too")
        rng = np.random.default_rng(seed)
        dims = [phys] * n if kind is None else [site.phys for site in each_of(kind, n)]
        left, right = np.cumprod([1.0, *dims]), np.cumprod([1.0, *dims[::-1]])[::-1]
        bonds = [bond] * (n + 1) if periodic else [int(min(bond, *sides)) for sides in zip(left, right, strict=True)]
        make = random_gaussian if periodic else random_isometry
        psi = cls([make(rng, a, d, b, dtype) for d, (a, b) in zip(dims, pairwise(bonds), strict=True)], None, kind)
        return normalised(psi) if periodic else psi

    @classmethod
    @keywords_told
    def product(
        cls, states: Iterable[int | str | ArrayLike], phys: int = 2, dtype: DTypeLike = complex, *,
        conserve: str | Sequence[str] | None = None, kind: Kinds = None,
    ) -> Self:  # fmt: skip
        """A product state, all bonds 1.

        Parameters
        ----------
        states : sequence
            Per site a vector of amplitudes (an array or a Tensor), or a basis state: its number, or its name, such as
            "up" and "down" of spins, "empty", "full", and "updown" of electrons.
        phys, dtype : int, dtype
            Dimension of the physical leg, and dtype, of sites given by number.
        kind : str, Site, or a sequence of them, optional
            What stands on the sites, "electron" for example; spins by default.
        conserve : optional
            As in `random`, of sites given by number or name.

        Examples
        --------
        >>> import qad
        >>> neel = qad.mps.MPS.product(["up", "down", "up", "down"])  # or [0, 1, 0, 1]
        >>> neel.to_dense()[0, 1, 0, 1]
        np.complex128(1+0j)
        """
        states, dims = numbered(states, phys, kind)
        if conserve is not None:
            conserved = quantities(conserve, kinds(kind, [phys] * len(states)))
            return cls(product_tensors(states, conserved, dtype), conserved, kind)
        rows = [basis_or_vector(state, i, dims[i], dtype) for i, state in enumerate(states)]
        return cls([row[None, :, None] for row in rows], None, kind)

    def to_dense(self) -> Array:
        """All amplitudes, an array of shape `phys` with site 0 leftmost.

        Raises
        ------
        ArgumentError
            If there are more than 2**28 of them.
        """
        if (count := float(np.prod(np.array(self.phys, float)))) > MOST_AMPLITUDES:
            raise ArgumentError(
                f"to_dense would write {count:.3g} amplitudes, more than 2**28: qad.mps.expectation and "
                "qad.mps.overlap need none of them"
            )
        whole = reduce(join, self.without_symmetry().tensors)
        return np.trace(whole, axis1=0, axis2=whole.ndim - 1) if self.periodic else whole.reshape(self.phys)

    @classmethod
    @keywords_told
    def from_dense(cls, amplitudes: ArrayLike, bond: int | None = None, cutoff: float = 1e-14) -> Self:
        """The open chain of a dense state, by singular value decompositions from the left.

        Parameters
        ----------
        amplitudes : array or Tensor
            One axis per site; not by charges, which `product` and `random` take.
        bond, cutoff
            As in `truncate`; a recorded array keeps directions without weight, which a change may fill.

        Examples
        --------
        >>> import numpy as np, qad
        >>> ghz = np.zeros((2,) * 5)
        >>> ghz[0, 0, 0, 0, 0] = ghz[1, 1, 1, 1, 1] = 2**-0.5
        >>> qad.mps.MPS.from_dense(ghz)
        MPS(5 sites, open, bonds 1-2-2-2-2-1, float64)
        """
        bond = None if bond is None else site_count(bond, 1, "bond")
        if type(amplitudes) is SymTensor:
            raise ArgumentError("from_dense makes a plain state: give the array, amplitudes.to_dense()")
        amplitudes = amplitudes if hasattr(amplitudes, "dtype") else np.asarray(amplitudes)
        if amplitudes.ndim == 0 or 0 in amplitudes.shape:
            raise ShapeError(f"a dense state has one axis per site, not shape {amplitudes.shape}")
        return cls(gauge.factorised(amplitudes, bond, cutoff))

    def opened(self) -> Self:
        """The state as an open chain: a ring's outer bond is carried along, and its bonds become ``bond * outer``.

        Examples
        --------
        >>> import qad
        >>> qad.mps.MPS.random(5, 2, periodic=True).opened()
        MPS(5 sites, open, bonds 1-4-4-4-4-1, complex128)
        """
        return self if not self.periodic else self._made_of(gauge.opened(self.tensors))
