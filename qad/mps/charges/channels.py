"""Charges of the channels of an operator, found by a walk over its non-zeros, and its symmetric site tensors.

A block of a site tensor from channel u to channel v takes the charge of a basis state from ``q_in`` to ``q_out``; so
channel v carries what u does and the difference more.  Outer bonds carry nothing; where a cell repeats, neither do the
first and the last channel of every bond.  The walk goes from both ends, for a channel that only one of them leads to
takes no part in any term, and is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import value_of
from qad.mps.chain.row import distinct_map
from qad.mps.charges.axes import ALONG_X, turned
from qad.mps.charges.quantities import conserved_by, counted, sorting
from qad.symmetric.create import from_dense
from qad.symmetric.legs import Leg

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.mps.charges.quantities import Charge, Names, Quantities
    from qad.symmetric.tensor import SymTensor
    from qad.typing import Array

    Place: TypeAlias = tuple[int, int]  # a bond, left of the site of this number, and a channel of it
    Step: TypeAlias = tuple[int, tuple[int, int], Charge]  # an entry: site, (out, in), what it adds
    Ways: TypeAlias = dict[Place, list[tuple[Place, Step]]]


class Channels:
    """The charges of the channels of every bond of an operator, and its legs.

    Parameters
    ----------
    tensors : sequence of arrays (left, right, out, in)
        Of an open chain; what its last channels stand for are operators of their own.
    conserved : Quantities
    around : bool
        Whether they are a cell in triangular form that repeats: the bond behind the last site is the first one again.

    Raises
    ------
    ArgumentError
        If the operator does not conserve them; the message names a term that does not.
    """

    tensors: list[np.ndarray]
    charges: list[list[Charge]]

    def __init__(self, tensors: Sequence[np.ndarray], conserved: Quantities, around: bool = False):
        self.conserved: Quantities = conserved
        tensors = distinct_map(lambda w, states: turned(np.asarray(w), states), tensors, conserved.states)
        self.tensors, self.charges = walked(tensors, conserved, around)
        self.orders: list[np.ndarray] = [sorting(charges) for charges in self.charges]
        self.legs: list[Leg] = [Leg(counted(charges), 1, conserved.symmetry) for charges in self.charges]

    def sites(self) -> list[SymTensor]:
        """The symmetric site tensors, made once where sites are alike."""
        made, found = {}, []
        for site, w in enumerate(self.tensors):
            key = id(w), *map(tuple, self.charges[site : site + 2]), self.conserved.charges[site]
            if key not in made:
                made[key] = self.tensor(site, w)
            found.append(made[key])
        return found

    def recorded(self, operator: Sequence[Array]) -> list[SymTensor]:
        """The symmetric tensors of an operator like this one; what would break the symmetry is left out."""
        states = self.conserved.states
        return [self.tensor(k, turned(w, s), np.inf) for k, (w, s) in enumerate(zip(operator, states, strict=True))]

    def tensor(self, site: int, w: Array, tol: float = 0.0) -> SymTensor:
        """The symmetric tensor of one of `tensors`, legs (left, right, out, in) of flows (+, -, +, -).

        What does not conserve may be as large as `tol`, and is left out.
        """
        left, right, phys = self.orders[site], self.orders[site + 1], self.conserved.orders[site]
        leg = self.conserved.legs[site]
        legs = self.legs[site], self.legs[site + 1].conj(), leg, leg.conj()
        return from_dense(w[np.ix_(left, right, phys, phys)], legs, tol=tol)


def walked(
    tensors: list[np.ndarray], conserved: Quantities, around: bool
) -> tuple[list[np.ndarray], list[list[Charge]]]:
    """The tensors without what leads nowhere, and the charge of each channel of each bond.

    Channels that only one end leads to, or none, take no part in any term.  Their charge is that which this end leads
    to: a coefficient that is zero now may be differentiated by.
    """
    n, plus, minus = len(tensors), conserved.symmetry.plus, conserved.symmetry.minus
    bonds = n if around else n + 1
    ahead: Ways = {}
    back: Ways = {}
    for site, w in enumerate(tensors):
        own = conserved.charges[site]
        for u, v, out, in_ in np.transpose(np.nonzero(w)).tolist():
            one, two, step = (site, u), ((site + 1) % bonds, v), (site, (out, in_), minus(own[out], own[in_]))
            ahead.setdefault(one, []).append((two, step))
            back.setdefault(two, []).append((one, step))
    sizes = [*(w.shape[0] for w in tensors), tensors[-1].shape[1]][:bonds]
    first = [(bond, 0) for bond in range(n)] if around else [(0, 0)]
    last = [(bond, size - 1) for bond, size in enumerate(sizes)] if around else [(n, k) for k in range(sizes[-1])]
    begun, came = reached(first, ahead, plus, conserved.symmetry.neutral)
    ending, goes = reached(last, back, minus, conserved.symmetry.neutral)
    for one, ways in ahead.items():
        for two, step in ways:
            if one in begun and two in ending and plus(begun[one], step[2]) != ending[two]:
                refuse([*path(came, one)[::-1], step, *path(goes, two)], conserved, around)
    known, live = {**ending, **begun}, begun.keys() & ending.keys()
    charges = [[known.get((b, k), conserved.symmetry.neutral) for k in range(size)] for b, size in enumerate(sizes)]
    alive = [[k for k in range(size) if (b, k) in live] for b, size in enumerate(sizes)]
    tensors = [only(w, alive[site], alive[(site + 1) % bonds]) for site, w in enumerate(tensors)]
    return tensors, [*charges, *charges[: n + 1 - bonds]]


def reached(
    start: list[Place], ways: Ways, add: Callable[[Charge, Charge], Charge], neutral: Charge
) -> tuple[dict[Place, Charge], dict[Place, tuple[Place, Step]]]:
    """All places that a walk comes to, and the charge of each when it is first met; from where that was, and how."""
    found, came, waiting = dict.fromkeys(start, neutral), {}, [*start]
    for place in waiting:  # which grows
        for other, step in ways.get(place, ()):
            if other not in found:
                found[other], came[other] = add(found[place], step[2]), (place, step)
                waiting.append(other)
    return found, came


def path(came: dict[Place, tuple[Place, Step]], place: Place) -> list[Step]:
    """The entries on the way from a place back to the start of a walk."""
    found = []
    while place in came:
        place, step = came[place]
        found.append(step)
    return found


def only(w: np.ndarray, left: list[int], right: list[int]) -> np.ndarray:
    """A site tensor without the channels that lead nowhere; itself where there are none."""
    if len(left) == w.shape[0] and len(right) == w.shape[1]:
        return w
    dead = np.ones(w.shape[:2], bool)
    dead[np.ix_(left, right)] = False
    return np.where(dead[:, :, None, None], 0, w)


def refuse(term: list[Step], conserved: Quantities, around: bool) -> None:
    """Raise: a term changes the charge, given by its entries."""
    group, total = conserved.symmetry, conserved.symmetry.neutral
    for _, _, change in term:
        total = group.plus(total, change)
    moves = [f"{i} to {o} on site {site}{' of the cell' * around}" for site, (o, i), _ in term if o != i]
    raise ArgumentError(
        f"the operator does not conserve {', '.join(map(repr, conserved.names))}: the term that takes basis state "
        f"{' and '.join(moves)} adds {group.shown(total)}; where terms conserve it only together, as Sx Sx + Sy Sy "
        f"does, write {'Uniform' * around}OpSum(...).mpo(conserve=...)"
    )


def conserve_for(H: Any, conserve: Names | None, around: bool = False) -> Names | None:
    """The names themselves; for the "parity" of spins that along x, where `H` conserves that one alone.

    Parameters
    ----------
    H : MPO or OpSum
        Of a finite chain, or `around` a cell that repeats.
    conserve : str, sequence of str or None
    """
    if conserve != "parity" and conserve != ("parity",):
        return conserve
    operator = H.mpo() if hasattr(H, "terms") else H
    for names in (conserve, ALONG_X):
        try:
            Channels([value_of(w) for w in operator], conserved_by(operator, names), around)
            return names
        except ArgumentError:
            continue
    return conserve
