"""Charges of the channels of an operator whose cell repeats, found by a walk over its non-zeros.

As `qad.mps.charges.channels` for open chains: the first and the last channel of every bond carry nothing, and a
channel in between what the operators have added that lead to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.charges.axes import turned
from qad.mps.charges.channels import Channels, nonzeros, only
from qad.mps.charges.quantities import Quantities, counted, sorting
from qad.symmetric.legs import Leg

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.mps.charges.channels import Step
    from qad.mps.charges.quantities import Charge

    Place = tuple[int, int]  # a bond, left of the site of this number, and a channel of it


class UniformChannels(Channels):
    """The charges of the channels of every bond of a cell, and its legs; the bond behind it is the first one again.

    Parameters
    ----------
    tensors : sequence of arrays (left, right, out, in)
        Of a cell, in triangular form.
    conserved : Quantities

    Raises
    ------
    ArgumentError
        If the operator does not conserve them.
    """

    conserved: Quantities
    tensors: list[np.ndarray]
    charges: list[list[Charge]]
    orders: list[np.ndarray]
    legs: list[Leg]

    def __init__(self, tensors: Sequence[np.ndarray], conserved: Quantities):
        self.conserved = conserved
        pairs = zip(tensors, conserved.states, strict=True)
        self.tensors, charges = walked_around([turned(w, states) for w, states in pairs], conserved)
        self.charges = [*charges, charges[0]]
        self.orders = [sorting(found) for found in self.charges]
        self.legs = [Leg(counted(found), 1, conserved.symmetry) for found in self.charges]


def walked_around(tensors: Sequence[np.ndarray], conserved: Quantities) -> tuple[list[np.ndarray], list[list[Charge]]]:
    """The tensors without channels that take part in no term, and the charge of each channel of each bond."""
    n, group = len(tensors), conserved.symmetry
    steps = [nonzeros(w, conserved, site) for site, w in enumerate(tensors)]
    ahead: dict[Place, list[tuple[Place, Charge]]] = {}
    back: dict[Place, list[tuple[Place, Charge]]] = {}
    for site, here in enumerate(steps):
        for u, v, _, change in here:
            one, two = (site, u), ((site + 1) % n, v)
            ahead.setdefault(one, []).append((two, change))
            back.setdefault(two, []).append((one, change))
    known = reached({(site, 0): group.neutral for site in range(n)}, ahead, group.plus)
    ending = reached({(site, w.shape[0] - 1): group.neutral for site, w in enumerate(tensors)}, back, group.minus)
    for site, here in enumerate(steps):
        for step in here:
            if (site, step[0]) in known and ((site + 1) % n, step[1]) in ending:
                check_step(site, step, known, ending, n, conserved)
    live = [{k: known[b, k] for k in range(w.shape[0]) if (b, k) in known and (b, k) in ending}
            for b, w in enumerate(tensors)]  # fmt: skip
    charges = [[live[b].get(k, group.neutral) for k in range(w.shape[0])] for b, w in enumerate(tensors)]
    return [only(w, live[b], live[(b + 1) % n]) for b, w in enumerate(tensors)], charges


def reached(
    start: dict[Place, Charge],
    ways: dict[Place, list[tuple[Place, Charge]]],
    add: Callable[[Charge, Charge], Charge],
) -> dict[Place, Charge]:
    """All places that a walk from the given ones comes to, and the charge of each when it is first met."""
    found, waiting = dict(start), list(start)
    while waiting:
        place = waiting.pop()
        for other, change in ways.get(place, ()):
            if other not in found:
                found[other] = add(found[place], change)
                waiting.append(other)
    return found


def check_step(
    site: int, step: Step, known: dict[Place, Charge], ending: dict[Place, Charge], n: int, conserved: Quantities
) -> None:
    """Raise unless what a term has added up to an entry, by the entry, and what it adds behind it make nothing."""
    u, v, (out, in_), change = step
    group = conserved.symmetry
    if group.plus(known[site, u], change) != ending[(site + 1) % n, v]:
        raise ArgumentError(
            f"the operator does not conserve {', '.join(map(repr, conserved.names))}: a term that takes basis state "
            f"{in_} to {out} on site {site} of the cell adds a charge; where terms conserve it only together, as "
            "Sx Sx + Sy Sy does, write UniformOpSum(...).mpo(conserve=...)"
        )
