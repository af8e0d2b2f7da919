"""Charges of the channels of an operator, found by a walk over its non-zeros, and its symmetric site tensors.

A block of a site tensor from channel u to channel v takes the charge of a basis state from ``q_in`` to ``q_out``; so
channel v carries what u does and the difference more.  Outer bonds carry nothing; where a cell repeats, neither do the
first and the last channel of every bond.  The walk goes from both ends, for a channel that only one of them leads to
takes no part in any term, and is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import value_of
from qad.mps.chain.row import distinct_map
from qad.mps.charges.axes import ALONG_X, turned
from qad.mps.charges.quantities import conserved_by, counted, sorting
from qad.symmetric.create import from_dense
from qad.symmetric.legs import Leg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.charges.quantities import Charge, Names, Quantities
    from qad.symmetric.tensor import SymTensor
    from qad.typing import Array


UNMET, START = -2, -1  # instead of the number of an entry that led to a channel


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


class Steps(NamedTuple):
    """The non-zeros of a site tensor, as arrays with one number or one row per entry."""

    left: np.ndarray  # channels
    right: np.ndarray
    out: np.ndarray  # basis states
    into: np.ndarray
    change: np.ndarray  # (entries, factors of the symmetry), what the entry adds to the charge


def steps_of(w: np.ndarray, charges: Sequence[Charge]) -> Steps:
    """The non-zeros of a site tensor, whose basis states have these charges."""
    left, right, out, into = np.nonzero(w)
    own = np.array(charges)
    return Steps(left, right, out, into, own[out] - own[into])


def walked(
    tensors: list[np.ndarray], conserved: Quantities, around: bool
) -> tuple[list[np.ndarray], list[list[Charge]]]:
    """The tensors without what leads nowhere, and the charge of each channel of each bond.

    Channels that only one end leads to, or none, take no part in any term.  Their charge is that which this end leads
    to: a coefficient that is zero now may be differentiated by.
    """
    n = len(tensors)
    bonds = n if around else n + 1
    entries = [steps_of(w, charges) for w, charges in zip(tensors, conserved.charges, strict=True)]
    sizes = [*(w.shape[0] for w in tensors), tensors[-1].shape[1]][:bonds]
    first = [[0] if around or bond == 0 else [] for bond in range(bonds)]
    last = [[size - 1] if around else [] for size in sizes]
    if not around:
        last[n] = [*range(sizes[n])]
    begun, ending = Walk(1, first, sizes, entries), Walk(-1, last, sizes, entries)
    for site, found in enumerate(entries):
        there = (site + 1) % bonds
        sum_ = begun.charges[site][found.left] + found.change - ending.charges[there][found.right]
        broken = np.any(conserved.symmetry.residues(sum_) != 0, axis=1)
        met = (begun.came[site][found.left] != UNMET) & (ending.came[there][found.right] != UNMET)
        for entry in np.flatnonzero(broken & met)[:1]:
            before, after = begun.path(site, found.left[entry]), ending.path(there, found.right[entry])
            refuse([*before[::-1], (site, entry), *after], entries, conserved, around)
    charges, alive = [], []
    for bond in range(bonds):
        ahead, back = begun.came[bond] != UNMET, ending.came[bond] != UNMET
        known = np.where(ahead[:, None], begun.charges[bond], ending.charges[bond])
        charges.append([tuple(charge) for charge in conserved.symmetry.residues(known).tolist()])
        alive.append(tuple(np.flatnonzero(ahead & back)))
    same = {channels: channels for channels in alive}  # sites that are alike go on sharing their tensor
    ends = [same[channels] for channels in (*alive, *alive[: n + 1 - bonds])]
    tensors = distinct_map(only, tensors, ends[:-1], ends[1:])
    return tensors, [*charges, *charges[: n + 1 - bonds]]


class Walk:
    """All channels that a walk over non-zeros comes to, the charge of each when it is first met, and the entry to it.

    Parameters
    ----------
    way : int
        1 to the right, -1 to the left.
    start : list of list of int
        The channels of each bond where it begins, neutral.
    sizes : list of int
        Numbers of channels.
    entries : list of Steps
        Of every site; the last bond is the first one again where there are as many bonds as sites.
    """

    def __init__(self, way: int, start: list[list[int]], sizes: list[int], entries: list[Steps]):
        self.way: int = way
        self.entries: list[Steps] = entries
        factors = entries[0].change.shape[1]
        self.charges: list[np.ndarray] = [np.zeros((size, factors), int) for size in sizes]
        self.came: list[np.ndarray] = [np.full(size, UNMET) for size in sizes]
        for came, channels in zip(self.came, start, strict=True):
            came[channels] = START
        while sum(self.passes(site) for site in range(len(entries))[::way]):
            pass

    def passes(self, site: int) -> int:
        """Walk over the entries of a site; returns how many channels were met for the first time."""
        found = self.entries[site]
        (here, one), (there, two) = self.ends(site)
        new = np.flatnonzero((self.came[here][one] != UNMET) & (self.came[there][two] == UNMET))
        channels, first = np.unique(two[new], return_index=True)
        entry = new[first]
        self.came[there][channels] = entry
        self.charges[there][channels] = self.charges[here][one[entry]] + self.way * found.change[entry]
        return len(channels)

    def ends(self, site: int) -> list[tuple[int, np.ndarray]]:
        """Bonds and channels that the entries of a site lead from, and to."""
        found = self.entries[site]
        return [(site, found.left), ((site + 1) % len(self.came), found.right)][:: self.way]

    def path(self, bond: int, channel: int) -> list[tuple[int, int]]:
        """The entries on the way back to the start: site, and number of the entry."""
        steps = []
        while (entry := self.came[bond][channel]) != START:
            site = (bond - 1) % len(self.entries) if self.way > 0 else bond
            steps.append((site, entry))
            bond, channels = self.ends(site)[0]
            channel = channels[entry]
        return steps


def only(w: np.ndarray, left: tuple[int, ...], right: tuple[int, ...]) -> np.ndarray:
    """A site tensor without the channels that lead nowhere; itself where there are none."""
    if len(left) == w.shape[0] and len(right) == w.shape[1]:
        return w
    dead = np.ones(w.shape[:2], bool)
    dead[np.ix_(left, right)] = False
    return np.where(dead[:, :, None, None], 0, w)


def refuse(term: list[tuple[int, int]], entries: list[Steps], conserved: Quantities, around: bool) -> None:
    """Raise: a term changes the charge, given by sites and numbers of their entries."""
    group = conserved.symmetry
    total = tuple(group.residues(sum(entries[site].change[entry] for site, entry in term)).tolist())
    moved = [(site, entries[site].into[entry], entries[site].out[entry]) for site, entry in term]
    moves = [f"{i} to {o} on site {site}{' of the cell' * around}" for site, i, o in moved if o != i]
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
