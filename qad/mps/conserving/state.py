"""Matrix product states of definite charge, whose site tensors are symmetric."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.core.trees import register
from qad.extend import is_foreign
from qad.mps.chain import site_count
from qad.mps.conserving.quantities import quantities, sites_of_dimension
from qad.mps.local import site as site_of
from qad.symmetric.contraction import tensordot
from qad.symmetric.create import from_dense, random
from qad.symmetric.decompositions import qr
from qad.symmetric.legs import Leg
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from qad.mps.conserving.quantities import Charge, Quantities
    from qad.mps.local import Site
    from qad.typing import DTypeLike, Number, Seed


class SymmetricMPS:
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

    def __init__(self, tensors: Iterable[SymTensor], conserved: Quantities):
        self.tensors, self.conserved = tuple(tensors), conserved
        check(self)

    def __len__(self) -> int:
        return len(self.tensors)

    def __getitem__(self, site: Any) -> Any:
        return self.tensors[site]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tensors)

    @property
    def bonds(self) -> tuple[int, ...]:
        """Dimensions of the bonds: the one left of site 0, then the one right of every site."""
        return (self.tensors[0].shape[0], *(t.shape[2] for t in self.tensors))

    @property
    def bond(self) -> int:
        """The largest bond dimension."""
        return max(self.bonds)

    @property
    def phys(self) -> tuple[int, ...]:
        """Dimensions of the physical legs."""
        return tuple(t.shape[1] for t in self.tensors)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype in which all site tensors fit."""
        return np.result_type(*{t.dtype for t in self.tensors})

    @property
    def sector(self) -> int | tuple[int, ...]:
        """The total charge, one number for each quantity that is conserved."""
        return self.conserved.symmetry.shown(self.tensors[-1].legs[2].charges[0])

    def __repr__(self) -> str:
        sector = self.sector if isinstance(self.sector, tuple) else (self.sector,)
        charges = ", ".join(f"{name} = {q}" for name, q in zip(self.conserved.names, sector, strict=True))
        sizes = self.bonds if len(self.bonds) <= 12 else (*self.bonds[:5], "...", *self.bonds[-5:])
        return f"SymmetricMPS({len(self)} sites, {charges}, bonds {'-'.join(map(str, sizes))}, {self.dtype})"

    def __mul__(self, factor: Number) -> SymmetricMPS:
        if np.ndim(factor) != 0:
            return NotImplemented
        return SymmetricMPS([factor * self.tensors[0], *self.tensors[1:]], self.conserved)

    __rmul__ = __mul__
    __array_ufunc__ = None

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


def bare(conserved, tensors):
    """A chain of whatever stands in a pytree's places, unchecked."""
    chain = object.__new__(SymmetricMPS)
    chain.tensors, chain.conserved = tuple(tensors), conserved
    return chain


register(SymmetricMPS, lambda chain: (chain.tensors, chain.conserved), bare)


def check(psi):
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


def kinds(sites: str | Site | Sequence[str | Site] | None, dims: Sequence[int]) -> tuple[Site, ...]:
    """What stands on every site: what the caller says, else spins of these dimensions."""
    if sites is None:
        return sites_of_dimension(dims)
    found = [sites] * len(dims) if isinstance(sites, str) or not hasattr(sites, "__iter__") else list(sites)
    if len(found) != len(dims):
        raise ArgumentError(
            f"{len(found)} kinds of site were given for {len(dims)} sites: give one for all, or one each"
        )
    return tuple(map(site_of, found))


def product_state(states: Sequence[int], conserved: Quantities, dtype: DTypeLike) -> SymmetricMPS:
    """The product of basis states, given by number."""
    group, tensors = conserved.symmetry, []
    charge = group.neutral
    for site, state in enumerate(states):
        charges = conserved.charges[site]
        if np.ndim(state) != 0 or is_foreign(state) or int(state) != state or not 0 <= state < len(charges):
            raise ArgumentError(
                f"site {site}: a product state of definite charge needs the number of one of the {len(charges)} basis "
                f"states, not {state!r}"
            )
        before, charge = charge, group.plus(charge, charges[int(state)])
        legs = Leg({before: 1}, 1, group), conserved.legs[site], Leg({charge: 1}, -1, group)
        dense = np.eye(len(charges), dtype=dtype)[int(state)][conserved.orders[site]]
        tensors.append(from_dense(dense[None, :, None], legs, split=2))
    return SymmetricMPS(tensors, conserved)


def random_state(bond: int, conserved: Quantities, sector: object, dtype: DTypeLike, seed: Seed) -> SymmetricMPS:
    """A random state of norm 1 of a total charge, its bonds as large as asked for, or as the charges allow."""
    bond, rng, group = site_count(bond, 1, "bond"), np.random.default_rng(seed), conserved.symmetry
    dims = bond_sectors(conserved, conserved.sector(sector), bond)
    legs = [Leg(sizes, 1, group) for sizes in dims]
    tensors, carried = [], None
    for site, phys in enumerate(conserved.legs):
        tensor = random((legs[site], phys, legs[site + 1].conj()), dtype=dtype, seed=rng, split=2)
        tensor = tensor if carried is None else tensordot(carried, tensor, 1)
        tensor, carried = qr(tensor * (1 / tensor.norm()), 2)
        tensors.append(tensor)
    return SymmetricMPS(tensors, conserved)


def bond_sectors(conserved: Quantities, total: Charge, bond: int) -> list[dict[Charge, int]]:
    """Charges and dimensions of every bond: no more than either side can fill, shared out in proportion to that."""
    group = conserved.symmetry
    left = filled(conserved.charges, group.neutral, group.plus, bond)
    right = filled(conserved.charges[::-1], total, group.minus, bond)[::-1]
    found = []
    for one, two in zip(left, right, strict=True):
        sizes = {charge: min(count, two[charge]) for charge, count in one.items() if charge in two}
        if not sizes:
            raise ArgumentError(
                f"no state of these sites has {', '.join(conserved.names)} = {group.shown(total)}: the charges count "
                "what the basis states of the sites carry (2 Sz for spins)"
            )
        found.append(shared_out(sizes, bond))
    return found


def filled(charges, start, add, most):
    """How many states each charge has after every site, counted up to `most`."""
    found = [{start: 1}]
    for states in charges:
        counts: dict = {}
        for before, count in found[-1].items():
            for charge in states:
                after = add(before, charge)
                counts[after] = min(counts.get(after, 0) + count, most)
        found.append(counts)
    return found


def shared_out(sizes, most):
    """Dimensions in proportion to `sizes`, at least 1 while that goes, `most` in all; ties go to the earlier charge."""
    total = sum(sizes.values())
    if total <= most:
        return dict(sorted(sizes.items()))
    exact = {charge: size * most / total for charge, size in sizes.items()}
    found = {charge: int(share) for charge, share in exact.items()}
    rest = sorted(sizes, key=lambda charge: (found[charge] - exact[charge], charge))
    for charge in rest[: most - sum(found.values())]:
        found[charge] += 1
    return {charge: size for charge, size in sorted(found.items()) if size}


def random_start(dims, bond, conserve, sector, sites, dtype, seed, periodic) -> SymmetricMPS:
    """`MPS.random` of definite charge."""
    if periodic:
        raise ArgumentError("states of definite charge are open chains: leave out periodic, or conserve")
    conserved = quantities(conserve, kinds(sites, dims))
    total = conserved.symmetry.neutral if sector is None else conserved.sector(sector)
    return random_state(bond, conserved, conserved.symmetry.shown(total), dtype, seed)


def product_start(states, phys, conserve, sites, dtype) -> SymmetricMPS:
    """`MPS.product` of definite charge."""
    return product_state(states, quantities(conserve, kinds(sites, [phys] * len(states))), dtype)
