"""Charges of the channels of an operator, found by a walk over its non-zeros, and its symmetric site tensors.

A block of a site tensor from channel u to channel v takes the charge of a basis state from ``q_in`` to ``q_out``; so
channel v carries what u does and the difference more.  Outer bonds carry nothing.  The walk goes from both ends, for a
channel that only one of them leads to takes no part in any term, and is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.conserving.quantities import counted, sorting
from qad.symmetric.create import from_dense
from qad.symmetric.legs import Leg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.conserving.quantities import Charge, Quantities
    from qad.symmetric.tensor import SymTensor


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
        If the operator does not conserve them; the message names site and channel.
    """

    conserved: Quantities
    tensors: list[np.ndarray]
    charges: list[list[Charge]]
    orders: list[np.ndarray]
    legs: list[Leg]

    def __init__(self, tensors: Sequence[np.ndarray], conserved: Quantities):
        self.conserved = conserved
        self.tensors, self.charges = walked([np.asarray(w) for w in tensors], conserved)
        self.orders = [sorting(charges) for charges in self.charges]
        self.legs = [Leg(counted(charges), 1, conserved.symmetry) for charges in self.charges]

    def tensor(self, site: int, w: np.ndarray) -> SymTensor:
        """The symmetric tensor of a site tensor, legs (left, right, out, in) of flows (+, -, +, -)."""
        left, right, phys = self.orders[site], self.orders[site + 1], self.conserved.orders[site]
        leg = self.conserved.legs[site]
        legs = self.legs[site], self.legs[site + 1].conj(), leg, leg.conj()
        return from_dense(w[np.ix_(left, right, phys, phys)], legs, tol=0.0)


def walked(tensors: list[np.ndarray], conserved: Quantities) -> tuple[list[np.ndarray], list[list[Charge]]]:
    """The tensors without what leads nowhere, and the charge of each channel of each bond.

    Channels that only one end leads to, or none, take no part in any term; their charge is put down as neutral.
    """
    group, n = conserved.symmetry, len(tensors)
    steps = [nonzeros(w, conserved, site) for site, w in enumerate(tensors)]
    ahead: list[dict[int, Charge]] = [{0: group.neutral}, *({} for _ in range(n))]
    behind: list[set[int]] = [*(set() for _ in range(n)), {0}]
    for site in range(n):
        for u, v, _, change in steps[site]:
            if u in ahead[site]:
                ahead[site + 1].setdefault(v, group.plus(ahead[site][u], change))
    for site in reversed(range(n)):
        behind[site].update(u for u, v, _, _ in steps[site] if v in behind[site + 1])
    live = [{k: charge for k, charge in a.items() if k in b} for a, b in zip(ahead, behind, strict=True)]
    if live[n].get(0, group.neutral) != group.neutral:
        refuse(f"a term of it adds {group.shown(live[n][0])}", conserved)
    for site in range(n):
        for u, v, entry, change in steps[site]:
            if u in live[site] and v in live[site + 1] and live[site + 1][v] != group.plus(live[site][u], change):
                took = f"takes basis state {entry[1]} to {entry[0]}"
                refuse(
                    f"on site {site}, between channels {u} and {v}, a term {took} and adds another charge", conserved
                )
    sizes = [tensors[0].shape[0], *(w.shape[1] for w in tensors)]
    charges = [[found.get(k, group.neutral) for k in range(size)] for found, size in zip(live, sizes, strict=True)]
    return [only(w, *live[site : site + 2]) for site, w in enumerate(tensors)], charges


def only(w: np.ndarray, left: dict[int, Charge], right: dict[int, Charge]) -> np.ndarray:
    """A site tensor without the channels that lead nowhere; itself where there are none."""
    if len(left) == w.shape[0] and len(right) == w.shape[1]:
        return w
    dead = np.ones(w.shape[:2], bool)
    dead[np.ix_(list(left), list(right))] = False
    return np.where(dead[:, :, None, None], 0, w)


def nonzeros(w: np.ndarray, conserved: Quantities, site: int) -> list[tuple[int, int, tuple[int, int], Charge]]:
    """The entries of a site tensor that are not zero: both channels, (out, in), and the charge that they add."""
    charges, minus = conserved.charges[site], conserved.symmetry.minus
    places = np.transpose(np.nonzero(w)).tolist()
    return [(u, v, (out, in_), minus(charges[out], charges[in_])) for u, v, out, in_ in places]


def refuse(why: str, conserved: Quantities) -> None:
    """Raise: the operator changes the charge."""
    names = ", ".join(map(repr, conserved.names))
    raise ArgumentError(
        f"the operator does not conserve {names}: {why}; where terms conserve it only together, as Sx Sx + Sy Sy does, "
        "write OpSum(...).mpo(conserve=...)"
    )
