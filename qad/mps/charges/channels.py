"""Charges of the channels of an operator, found by a walk over its non-zeros, and its symmetric site tensors.

A block of a site tensor from channel u to channel v takes the charge of a basis state from ``q_in`` to ``q_out``; so
channel v carries what u does and the difference more.  Outer bonds carry nothing.  The walk goes from both ends, for a
channel that only one of them leads to takes no part in any term, and is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.charges.axes import turned
from qad.mps.charges.quantities import counted, sorting
from qad.symmetric.create import from_dense
from qad.symmetric.legs import Leg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.charges.quantities import Charge, Quantities
    from qad.symmetric.tensor import SymTensor
    from qad.typing import Array

    Step: TypeAlias = tuple[int, int, tuple[int, int], Charge]  # an entry: channels, (out, in), what it adds


class Channels:
    """The charges of the channels of every bond of an operator, and its legs.

    Parameters
    ----------
    tensors : sequence of arrays (left, right, out, in)
        Of an open chain.
    conserved : Quantities

    Raises
    ------
    ArgumentError
        If the operator does not conserve them; the message names a term that does not.
    """

    tensors: list[np.ndarray]
    charges: list[list[Charge]]

    def __init__(self, tensors: Sequence[np.ndarray], conserved: Quantities):
        self.conserved: Quantities = conserved
        made: dict[int, np.ndarray] = {}  # sites that share a tensor go on doing so
        pairs = zip(map(np.asarray, tensors), conserved.states, strict=True)
        tensors = [made.setdefault(id(w), turned(w, states)) for w, states in pairs]
        self.tensors, self.charges = walked(tensors, conserved)
        self.orders: list[np.ndarray] = [sorting(charges) for charges in self.charges]
        self.legs: list[Leg] = [Leg(counted(charges), 1, conserved.symmetry) for charges in self.charges]

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


def walked(tensors: list[np.ndarray], conserved: Quantities) -> tuple[list[np.ndarray], list[list[Charge]]]:
    """The tensors without what leads nowhere, and the charge of each channel of each bond.

    Channels that only one end leads to, or none, take no part in any term.  Their charge is that which this end leads
    to: a coefficient that is zero now may be differentiated by.
    """
    group, n = conserved.symmetry, len(tensors)
    steps = [nonzeros(w, conserved, site) for site, w in enumerate(tensors)]
    ahead: list[dict[int, Charge]] = [{0: group.neutral}, *({} for _ in range(n))]
    came: list[dict[int, Step]] = [{} for _ in range(n + 1)]
    goes: list[dict[int, Step]] = [{} for _ in range(n + 1)]
    behind: list[dict[int, Charge]] = [*({} for _ in range(n)), {0: group.neutral}]
    for site in range(n):
        for step in steps[site]:
            u, v, _, change = step
            if u in ahead[site]:
                ahead[site + 1].setdefault(v, group.plus(ahead[site][u], change))
                came[site + 1].setdefault(v, step)
    for site in reversed(range(n)):
        for step in steps[site]:
            u, v, _, change = step
            if v in behind[site + 1]:
                behind[site].setdefault(u, group.minus(behind[site + 1][v], change))
                goes[site].setdefault(u, step)
    live = [{k: charge for k, charge in a.items() if k in b} for a, b in zip(ahead, behind, strict=True)]
    if live[n].get(0, group.neutral) != group.neutral:
        refuse([path_to(came, n, 0)], conserved)
    for site in range(n):
        for step in steps[site]:
            u, v, _, change = step
            if u in live[site] and v in live[site + 1] and live[site + 1][v] != group.plus(live[site][u], change):
                rest = path_from(goes, site + 1, v)  # of two terms that end alike one changes the charge
                refuse([[*path_to(came, site, u), step, *rest], [*path_to(came, site + 1, v), *rest]], conserved)
    sizes = [tensors[0].shape[0], *(w.shape[1] for w in tensors)]
    known = [b | a for a, b in zip(ahead, behind, strict=True)]
    charges = [[found.get(k, group.neutral) for k in range(size)] for found, size in zip(known, sizes, strict=True)]
    return [only(w, *live[site : site + 2]) for site, w in enumerate(tensors)], charges


def only(w: np.ndarray, left: dict[int, Charge], right: dict[int, Charge]) -> np.ndarray:
    """A site tensor without the channels that lead nowhere; itself where there are none."""
    if len(left) == w.shape[0] and len(right) == w.shape[1]:
        return w
    dead = np.ones(w.shape[:2], bool)
    dead[np.ix_(list(left), list(right))] = False
    return np.where(dead[:, :, None, None], 0, w)


def nonzeros(w: np.ndarray, conserved: Quantities, site: int) -> list[Step]:
    """The entries of a site tensor that are not zero: both channels, (out, in), and the charge that they add."""
    charges, minus = conserved.charges[site], conserved.symmetry.minus
    places = np.transpose(np.nonzero(w)).tolist()
    return [(u, v, (out, in_), minus(charges[out], charges[in_])) for u, v, out, in_ in places]


def path_to(came: list[dict[int, Step]], site: int, channel: int) -> list[Step]:
    """Entries of the sites before this one that lead to a channel from the left end."""
    path: list[Step] = []
    while site:
        path.append(came[site][channel])
        site, channel = site - 1, path[-1][0]
    return path[::-1]


def path_from(goes: list[dict[int, Step]], site: int, channel: int) -> list[Step]:
    """Entries of this site and those behind it that lead from a channel to the right end."""
    path: list[Step] = []
    while site < len(goes) - 1:
        path.append(goes[site][channel])
        site, channel = site + 1, path[-1][1]
    return path


def refuse(terms: list[list[Step]], conserved: Quantities) -> None:
    """Raise: the operator changes the charge, by the first of some terms that does, each given by its entries."""
    group, names = conserved.symmetry, ", ".join(map(repr, conserved.names))
    for term in terms:
        total = group.neutral
        for *_, change in term:
            total = group.plus(total, change)
        if total != group.neutral:
            moves = [f"{i} to {o} on site {site}" for site, (_, _, (o, i), _) in enumerate(term) if o != i]
            raise ArgumentError(
                f"the operator does not conserve {names}: the term that takes basis state {' and '.join(moves)} adds "
                f"{group.shown(total)}; where terms conserve it only together, as Sx Sx + Sy Sy does, write "
                "OpSum(...).mpo(conserve=...)"
            )
