"""Which quantities a chain conserves, and how much of them the basis states of its sites carry."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import isqrt
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.charges.axes import ALONG_X, PAIRS_ALONG_X, along_x, turned
from qad.mps.operators.local import each_of
from qad.mps.operators.local import site as site_of
from qad.symmetric.create import from_dense
from qad.symmetric.groups import symmetry
from qad.symmetric.legs import Leg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from qad.mps.operators.local import Site
    from qad.symmetric.groups import Symmetry
    from qad.symmetric.tensor import SymTensor

    Charge: TypeAlias = tuple[int, ...]
    Names: TypeAlias = "str | Sequence[str]"
    Kinds: TypeAlias = "str | Site | Sequence[str | Site] | None"  # of sites; None: spins

FERMIONS = "fermions"  # the parity, where exchanges of odd states change signs: lattices, whose sites have no order
MODULO_TWO = ("parity", ALONG_X, PAIRS_ALONG_X, FERMIONS)  # the only names whose charges are not whole numbers of U(1)


@dataclass(frozen=True)
class Quantities:
    """What a chain conserves.

    Attributes
    ----------
    names : tuple of str
    charges : tuple of tuples
        For each site and each of its basis states the charge, one number per name.
    """

    names: tuple[str, ...]
    charges: tuple[tuple[Charge, ...], ...]

    @cached_property
    def symmetry(self) -> Symmetry:
        """The group: U(1) for each name, Z2 for the parity, fZ2 for that of fermions."""
        return symmetry(["fZ2" if name == FERMIONS else "Z2" if name in MODULO_TWO else "U1" for name in self.names])

    @cached_property
    def legs(self) -> tuple[Leg, ...]:
        """The physical leg of each site, of flow +1; its sectors stand in the order in which the basis meets them."""
        return tuple(Leg(counted(charges), 1, self.symmetry) for charges in self.charges)

    @cached_property
    def orders(self) -> tuple[np.ndarray, ...]:
        """For each site the basis states in the order of its leg."""
        return tuple(sorting(charges) for charges in self.charges)

    @cached_property
    def states(self) -> tuple[np.ndarray | None, ...]:
        """For each site the states that are counted, as columns; None where they are its basis states."""
        if PAIRS_ALONG_X in self.names:
            return tuple(np.kron(*[along_x(isqrt(len(own)))] * 2) for own in self.charges)
        return tuple(along_x(len(own)) if ALONG_X in self.names else None for own in self.charges)

    @cached_property
    def frames(self) -> tuple[np.ndarray, ...]:
        """For each site the order of its basis states on its leg, or the states of the leg as columns."""
        pairs = zip(self.states, self.orders, strict=True)
        return tuple(order if states is None else states[:, order] for states, order in pairs)

    def term(self, h: np.ndarray, site: int, tol: float | None = None) -> SymTensor:
        """The symmetric tensor of an operator on this site and the next one, legs (out, out, in, in).

        What does not conserve may be as large as `tol` (by default rounding), and is left out.
        """
        legs, orders = self.legs[site : site + 2], self.orders[site : site + 2]
        if self.states[site] is not None:
            both = np.kron(*self.states[site : site + 2])
            h = turned(h.reshape(both.shape), both).reshape(h.shape)
        return from_dense(h[np.ix_(*orders, *orders)], (*legs, *[leg.conj() for leg in legs]), split=2, tol=tol)

    def pairs(self) -> Quantities:
        """The same with an ancilla beside every site, which carries the opposite charge."""
        names, minus = tuple([PAIRS_ALONG_X if name == ALONG_X else name for name in self.names]), self.symmetry.minus
        return Quantities(names, tuple([tuple([minus(p, q) for p in own for q in own]) for own in self.charges]))

    def sector(self, given: object) -> Charge:
        """A total charge as the caller writes it, as a tuple."""
        return self.symmetry.charge(given)


def quantities(conserve: Names, sites: Sequence[str | Site]) -> Quantities:
    """What a chain of these sites conserves; raises where a site knows no such charge."""
    names = tuple(conserve) if isinstance(conserve, (list, tuple)) else (conserve,)
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ArgumentError(f'conserve={conserve!r} must name quantities, each once: conserve="Sz", or ("N", "Sz")')
    if ALONG_X in names and len(names) > 1:
        raise ArgumentError(f"conserve={conserve!r}: spins are counted along x or along z: give {ALONG_X!r} alone")
    charges = []
    for kind in map(site_of, sites):
        for name in names:
            if name not in kind.charges:
                known = ", ".join(map(repr, kind.charges)) or "none: give Site(..., charges={name: numbers})"
                raise ArgumentError(f"a site of kind {kind.name!r} knows no charges {name!r}; it knows {known}")
        charges.append(tuple(zip(*(kind.charges[name] for name in names), strict=True)))
    return Quantities(names, tuple(charges))


def counted(charges: Iterable[Charge]) -> dict[Charge, int]:
    """How often each charge stands in a row, in the order of first appearance."""
    return dict(Counter(charges))


def sorting(charges: Sequence[Charge]) -> np.ndarray:
    """The order that brings equal charges together, each where it first appears."""
    place = {charge: i for i, charge in enumerate(counted(charges))}
    return np.argsort([place[charge] for charge in charges], kind="stable")


def changes(charges: Sequence[Any], minus: Callable[[Any, Any], Any]) -> dict[Any, np.ndarray]:
    """By the charge that they add, ascending: which entries (out, in) of an operator on these basis states do so."""
    numbers = {charge: i for i, charge in enumerate(dict.fromkeys(charges))}
    table = [[minus(out, in_) for in_ in numbers] for out in numbers]
    found, places = sorted({change for row in table for change in row}), [numbers[charge] for charge in charges]
    whole = np.array([[found.index(change) for change in row] for row in table])[np.ix_(places, places)]
    return {change: whole == i for i, change in enumerate(found)}


def sites_of_dimension(dims: Sequence[int]) -> tuple[Site, ...]:
    """Spins of these dimensions: what stands on a chain where nobody says."""
    kinds = [f"spin-{d // 2}" if d % 2 else f"spin-{d - 1}/2" for d in dims]
    return tuple(map(site_of, kinds))


def kinds(kind: Kinds, dims: Sequence[int]) -> tuple[Site, ...]:
    """What stands on every site: what the caller says, else spins of these dimensions."""
    return sites_of_dimension(dims) if kind is None else each_of(kind, len(dims))


def standing(psi: Any, kind: Kinds = None) -> tuple[Site, ...]:
    """What stands on every site: what the caller says, else what the state knows, or its charges tell, else spins."""
    if kind is None and psi.sites is not None:
        return psi.sites
    if kind is not None or psi.conserved is None:
        return kinds(kind, psi.phys)
    return tuple(of_charges(psi.conserved.names, charges) for charges in psi.conserved.charges)


@lru_cache
def of_charges(names: tuple[str, ...], charges: tuple[Charge, ...]) -> Site:
    """The first kind of site whose basis states have these charges; a spin if there is none."""
    known = of_dimension(len(charges))
    for kind in known:
        found = [kind.charges.get(name, ()) for name in names]
        if tuple(zip(*found, strict=False)) == charges:
            return kind
    return known[0]


def of_dimension(size: int) -> tuple[Site, ...]:
    """The kinds of site of one dimension, the spin first."""
    others = [site_of(name) for name in ("fermion", "electron", "t-J", f"boson-{max(size - 1, 1)}")]
    return (*sites_of_dimension([size]), *[kind for kind in others if kind.phys == size])


def named(psi: Any, name: str, kind: Kinds = None, places: Sequence[int] | None = None) -> list[np.ndarray]:
    """The operator of a name on every site, or some; raises where nothing tells of which kind of site it is."""
    found = standing(psi, kind)
    found = found if places is None else [found[place] for place in places]
    if kind is psi.sites is psi.conserved is None:
        for spin in dict.fromkeys(found):
            check_one_meaning(spin, name)
    return [site.matrix(name) for site in found]


def check_one_meaning(spin: Site, name: str) -> None:
    """Raise where a name may be that of another operator: of a kind of site of the same dimension as the spin."""
    having = [kind for kind in of_dimension(spin.phys) if name in kind.operators]
    alike = all(np.array_equal(kind.operators[name], having[0].operators[name]) for kind in having)
    if not having or (alike and having[0] is spin):
        return
    names, kind = ", ".join(kind.name for kind in having), next(kind.name for kind in having if kind is not spin)
    raise ArgumentError(
        f"a state does not say what stands on its sites, and of dimension {spin.phys} {names} "
        f"{'have' if len(having) > 1 else 'has'} {name!r}: make the state with kind={kind!r}, or give that to "
        f"local_expectations and correlators, or the matrix, qad.mps.site({kind!r}).operators[{name!r}]"
    )


def conserved_by(H: Any, conserve: Names) -> Quantities:
    """What an operator is to conserve, by the sites that it stands on; spins 1/2 where it does not say."""
    sites, dims = H.sites, [w.shape[2] for w in H]
    if sites is None and set(dims) != {2}:
        raise ArgumentError(
            "the operator does not say what stands on its sites: make it by qad.mps.OpSum, or of an infinite chain by "
            "UniformOpSum, or give a start state, qad.mps.MPS.random(..., conserve=..., kind=...)"
        )
    return quantities(conserve, sites_of_dimension(dims) if sites is None else sites)


def check_no_vacuum(conserved: Quantities) -> None:
    """Raise where charge 0 is that of one state: of a number that no site has less than none of."""
    for k, name in enumerate(conserved.names):
        found = {charge[k] for states in conserved.charges for charge in states}
        if name not in MODULO_TWO and min(found) == 0 < max(found):
            shown = conserved.names[0] if len(conserved.names) == 1 else conserved.names
            raise ArgumentError(
                f"conserve={shown!r} needs sector=, how much of it there is: {name!r} is 0 in the vacuum alone "
                "(qad.mps.sectors(H, conserve) lists the others)"
            )


def filled(
    charges: Sequence[Sequence[Charge]], start: Charge, add: Callable[[Charge, Charge], Charge]
) -> list[dict[Charge, int]]:
    """How many states each charge has after every site, as whole numbers of any size."""
    found = [{start: 1}]
    for states in charges:
        counts: Counter[Charge] = Counter()
        for before, count in found[-1].items():
            for charge in states:
                counts[add(before, charge)] += count
        found.append(dict(counts))
    return found


def sectors(H: Any, conserve: Names) -> dict[Any, int]:
    """The sectors of a chain, by their charges, and how many basis states each has.

    Parameters
    ----------
    H : MPO or OpSum
        An operator on it, which says what stands on its sites; spins 1/2 where it does not.
    conserve : str or sequence of str
        As in `ground_state`.

    Returns
    -------
    dict
        Charges as `ground_state` takes them, ascending, to the dimension of the sector.

    Raises
    ------
    ArgumentError
        If the sites know no such charge.

    Examples
    --------
    >>> import qad
    >>> H = qad.mps.heisenberg(4)
    >>> qad.mps.sectors(H, "Sz")
    {-4: 1, -2: 4, 0: 6, 2: 4, 4: 1}
    >>> [round(qad.mps.ground_state(H, 4, "dmrg2", conserve="Sz", sector=q).energy, 6) for q in (0, 2, 4)]
    [-1.616025, -0.957107, 0.75]
    """
    H = H.mpo() if hasattr(H, "mpo") else H
    if "out" not in getattr(H, "LEGS", ()):
        raise ArgumentError(
            f"an MPO or a sum of terms is needed, not {type(H).__name__}: functions of infinite ones are in "
            "qad.mps.uniform"
        )
    conserved = conserved_by(H, conserve)
    group = conserved.symmetry
    found = filled(conserved.charges, group.neutral, group.plus)[-1]
    return {group.shown(charge): found[charge] for charge in sorted(found)}
