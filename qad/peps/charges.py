"""Charges of the sites of a lattice: from which product state they are counted, and operators as graded tensors.

All site tensors are neutral.  The filling is that of a product of basis states, the reference: a site counts charges
from those of its basis state there.  Fermions are graded tensors (`qad.symmetric`, the factor fZ2): their signs are
those of the exchange of legs, and operators need no strings.  A reference of odd parity is a mode of its own behind
its site, whose exchange with the sites before it gives the signs of `graded`.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import as_array, value_of
from qad.mps.charges.axes import in_basis, turned
from qad.mps.charges.make import shared_out
from qad.mps.charges.quantities import FERMIONS, Quantities, kinds, quantities
from qad.peps.fillings import lowest_product
from qad.symmetric.create import from_dense
from qad.symmetric.legs import Leg

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from qad.mps.charges.quantities import Charge, Names
    from qad.mps.operators.local import Site
    from qad.peps.fillings import Placed
    from qad.peps.models import Model
    from qad.symmetric.groups import Symmetry
    from qad.symmetric.tensor import SymTensor
    from qad.typing import Array


def kind_of(model: Model) -> Site:
    """What stands on the sites of a model: what it says, else spins."""
    return kinds(model.kind, model.terms[0].operator.shape[:1])[0]


def charges_of_cell(
    model: Model, cell: Sequence[str], conserve: Names | None = None, sector: object = None
) -> tuple[Quantities | None, tuple[int, ...]]:
    """What the letters of a cell conserve, counted from the reference, and the reference: a basis state of each letter.

    Parameters
    ----------
    model : Model
    cell : sequence of str
    conserve : str or sequence of str, optional
        Names of the charges of the kind of site. The parity of fermions is conserved always.
    sector : int or tuple of int, optional
        The totals of a cell, in the units of chains: N, 2 Sz. By default those of the product state of lowest energy.

    Returns
    -------
    Quantities or None
        One entry per letter; None where nothing is conserved.
    tuple of int
        Empty where nothing is conserved.

    Raises
    ------
    ArgumentError
        If the sites know no such charge, or no product of basis states has these totals.
    """
    names = list(dict.fromkeys("".join(cell)))
    places = list(product(range(len(cell)), range(len(cell[0]))))
    placed = [
        (t.operator, tuple(names.index(cell[(r + i) % len(cell)][(c + j) % len(cell[0])]) for i, j in t.sites))
        for t in model.terms
        for r, c in places
    ]
    counts = ["".join(cell).count(name) for name in names]
    return charges_of_sites(kind_of(model), placed, counts, conserve, sector)


def charges_of_sites(
    kind: Site, placed: Iterable[Placed], counts: Sequence[int], conserve: Names | None, sector: object
) -> tuple[Quantities | None, tuple[int, ...]]:
    """As `charges_of_cell`: of letters that occur so often, and of terms on them."""
    given = conserved_names(kind, conserve)
    if conserve is None and sector is not None:
        raise ArgumentError("sector= is a total of what is conserved: give conserve= too, such as conserve='N'")
    if not given:
        return None, ()
    total = None if sector is None else Quantities(given, ()).sector(sector)
    reference = lowest_product(placed, counts, charges_of_states(kind, given), total, Quantities(given, ()))
    return counted_from(kind, given, reference), reference


def counted_from(kind: Site, given: tuple[str, ...], reference: Sequence[int]) -> Quantities:
    """The charges of sites, counted from a basis state of each; the parity of fermions is among them."""
    names = given if FERMIONS in given or not kind.fermionic else (*given, FERMIONS)
    charges, group = charges_of_states(kind, names), Quantities(names, ()).symmetry
    return Quantities(names, tuple(tuple(group.minus(q, charges[x]) for q in charges) for x in reference))


def charges_of_lattice(
    kind: Site, conserve: Names | None, states: Sequence[Sequence[int | str]] | None, shape: tuple[int, int]
) -> Quantities | None:
    """What the sites of a finite lattice conserve, counted from a product of basis states, row by row."""
    given = conserved_names(kind, conserve)
    if not given:
        return None
    rows = [] if states is None else [list(row) for row in states]
    if [len(row) for row in rows] != [shape[1]] * shape[0]:
        raise ArgumentError(
            f"{' and '.join(given)} of {shape[0]} x {shape[1]} sites of kind {kind.name!r} are those of a product of "
            f"basis states: give states=, {shape[0]} rows of {shape[1]} names or numbers"
        )
    found = [kind.state(x) if isinstance(x, str) else int(x) for row in rows for x in row]
    if not all(0 <= x < kind.phys for x in found):
        raise ArgumentError(f"basis states of kind {kind.name!r} have the numbers 0 to {kind.phys - 1}, not {found}")
    return counted_from(kind, given, found)


def legs_of_site(conserved: Quantities, site: int, neighbours: Sequence[int | None], bond: int) -> list[Leg]:
    """The legs of a random site, whose neighbours are those (up, left, down, right); None at the rim."""
    charges, group, legs = conserved.charges, conserved.symmetry, [conserved.legs[site]]
    for number, flow in zip(neighbours, (1, 1, -1, -1), strict=True):
        if number is None:
            sectors = {group.neutral: 1}
        else:
            sectors = sectors_of_bond(*[charges[i] for i in (site, number)[::-flow]], bond, group)
        legs.append(Leg(sectors, flow, group))
    return legs


def sectors_of_bond(one: Sequence[Charge], other: Sequence[Charge], bond: int, group: Symmetry) -> dict[Charge, int]:
    """How often a bond has each charge: those that the site before it leaves, or the site behind it takes, and sums."""
    counts = Counter(one) + Counter(map(group.opposite, other))
    steps = list(counts)
    while len(steps) > 1 and counts.total() < bond:
        counts = Counter(add(p, q) for p in counts.elements() for q in steps for add in (group.plus, group.minus))
    others = counts.total() - counts[group.neutral]
    counts[group.neutral] = max(*counts.values(), bond - others - 1) + 1  # that of the product comes first
    return shared_out(counts, bond)


def conserved_names(kind: Site, conserve: Names | None) -> tuple[str, ...]:
    """The names that the caller gives; the parity of fermions is called so, and is there if nothing is given."""
    if conserve is None:
        return (FERMIONS,) if kind.fermionic else ()
    names = quantities(conserve, [kind]).names
    return tuple(FERMIONS if kind.fermionic and name == "parity" else name for name in names)


def charges_of_states(kind: Site, names: tuple[str, ...]) -> tuple[Charge, ...]:
    """The charges of the basis states of a site, as its kind counts them."""
    found = [odd_states(kind) if name == FERMIONS else kind.charges[name] for name in names]
    return tuple(zip(*found, strict=True))


def odd_states(kind: Site) -> tuple[int, ...]:
    """1 for the basis states with an odd number of fermions, else 0."""
    return tuple((kind.operators["F"].diagonal().real < 0).astype(int).tolist())


def graded(
    operator: Array, letters: Sequence[int], conserved: Quantities, kind: Site, sites: object = None
) -> SymTensor:
    """The graded tensor of a term, legs ``(out, ..., in, ...)`` of flows +1 and -1.

    Parameters
    ----------
    operator : array (d, ..., d)
        Legs ``(out, ..., in, ...)``: elements between ``(c_1^+)^x (c_2^+)^y ... |0>``, in the order of the sites of the
        term. It may be a Tensor.
    letters : sequence of int
        The entry of `conserved` that each site is.
    conserved : Quantities
        Charges counted from a reference.
    kind : Site
    sites : object
        Where the term stands, for the error.

    Raises
    ------
    ArgumentError
        If the term does not conserve the charges.
    """
    k = len(letters)
    legs, orders = [conserved.legs[i] for i in letters], [conserved.orders[i] for i in letters]
    if (states := conserved.states[letters[0]]) is not None:
        every = states
        for _ in letters[1:]:
            every = np.kron(every, states)
        operator = turned(operator.reshape(every.shape), every).reshape(operator.shape)
    if kind.fermionic:
        signs = signs_of_references(letters, conserved, kind)
        operator = operator * signs.reshape(*signs.shape, *[1] * k) * signs
    inwards = (*range(k), *range(2 * k - 1, k - 1, -1))  # the bras of a product stand in reversed order
    operator = operator[np.ix_(*orders, *orders)].transpose(inwards)
    try:
        found = from_dense(operator, (*legs, *[leg.conj() for leg in reversed(legs)]), split=k)
    except ArgumentError as error:
        raise broken(operator.transpose(inwards), legs, conserved, sites) from error
    return found.transpose(*inwards)


def check_signs(conserved: Quantities | None, kind: Site | None) -> None:
    """Raise where a state has charges of fermions, and does not know which of its states are odd."""
    if conserved is not None and (FERMIONS in conserved.names) != (kind is not None and bool(kind.fermionic)):
        raise ArgumentError(
            "states of fermions have kind=, such as 'electron', and 'fermions' among what they conserve"
        )


def check_same_kind(model: Any, conserved: Quantities | None, kind: Site | None) -> None:
    """Raise where a model stands on other kinds of sites than a state, or on fermions where it has no signs."""
    own = getattr(model, "kind", None)
    if own is not None and own.fermionic and conserved is None:
        raise ArgumentError(
            f"a model of kind {own.name!r} needs sites that know the signs of fermions, not arrays: simple_update of "
            "qad.peps or qad.peps.finite makes such states"
        )
    if kind is not None and (own != kind if own is not None else kind.fermionic):
        there = "spins: say which, qad.peps.Model(terms, kind)" if own is None else repr(own.name)
        raise ArgumentError(f"the state is of kind {kind.name!r}, the model of {there}")


def check_conserves(model: Model, conserved: Quantities | None) -> None:
    """Raise, and name the term, where a model changes what is conserved."""
    for t in model.terms if conserved else ():
        graded(t.operator, [0] * len(t.sites), conserved, kind_of(model), t.sites)


def signs_of_references(letters: Sequence[int], conserved: Quantities, kind: Site) -> np.ndarray:
    """The sign of each product of basis states: odd references are exchanged with the sites before theirs.

    ``sigma(x) = prod_j (-1)^(r_j sum_(i<j) p_i(x))``, with the parities p of the basis states x, and r of references.
    """
    place, parities = conserved.names.index(FERMIONS), np.array(odd_states(kind))
    signs, before = np.ones(()), np.zeros((), int)
    for letter in letters:
        reference = (conserved.charges[letter][0][place] - parities[0]) % 2
        signs = np.multiply.outer(signs * (-1) ** (reference * before), np.ones(len(parities)))
        before = np.add.outer(before, parities)
    return signs


def in_states_of_sites(amplitudes: Array, conserved: Quantities, kind: Site) -> Array:
    """Amplitudes with a leg of each site in its basis; of fermions those of ``(c_1^+)^x (c_2^+)^y ... |0>``."""
    for axis, frame in enumerate(conserved.frames):
        amplitudes = in_basis(amplitudes, frame, axis)
    return amplitudes * signs_of_references(range(amplitudes.ndim), conserved, kind) if kind.fermionic else amplitudes


def broken(operator: Array, legs: Sequence[Leg], conserved: Quantities, sites: object) -> ArgumentError:
    """The error for a term that changes a charge: its largest element that does."""
    group, k = conserved.symmetry, len(legs)
    charges = [np.repeat(leg.charges, leg.dims, axis=0).reshape(-1, len(conserved.names)) for leg in legs]
    totals = np.zeros((1, len(conserved.names)), int)
    for own in charges:
        totals = (totals[:, None] + own).reshape(-1, len(conserved.names))
    changes = group.residues(totals[:, None] - totals)
    sizes = np.abs(as_array(value_of(operator))).reshape(len(totals), -1) * changes.any(-1)
    change = changes.reshape(-1, len(conserved.names))[int(np.argmax(sizes))]
    name, amount = next((name, int(q)) for name, q in zip(conserved.names, change, strict=True) if q)
    shown = f"{amount / 2:g}" if name == "Sz" else amount
    where = f"the term on {tuple(sites)}" if sites is not None else f"a term on {k} sites"
    return ArgumentError(f"{where} changes {name} by {shown}: leave {name!r} out of conserve=, or the term")
