"""Environments of states of definite charge, and the effective operator of two sites between them.

Legs and flows: site tensors A (left, physical, right) ``(+, +, -)``, operators W (left, right, out, in) ``(+, -, +, -)``,
environments (bra, operator, ket), on the left ``(+, -, -)``, on the right ``(-, +, +)``.  Terms left of, right of, and
across the two sites stand apart, as in `qad.mps.effective`, which finds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.conserving.channels import Channels
from qad.mps.effective import Row, identities
from qad.symmetric.contraction import contraction, tensordot
from qad.symmetric.create import from_dense
from qad.symmetric.layout import layout
from qad.symmetric.legs import Leg
from qad.symmetric.moves import between, move
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.mps.conserving.quantities import Quantities
    from qad.symmetric.layout import Layout


def past_left(environment: SymTensor, ket: SymTensor, w: SymTensor, bra: SymTensor | None = None) -> SymTensor:
    """A left environment past one more site; the bra is the ket where it is not given."""
    half = tensordot(environment, ket, ([2], [0]))  # bra u s b
    half = tensordot(half, w, ([1, 2], [0, 3]))  # bra b v s'
    bra = (ket if bra is None else bra).conj()
    return tensordot(bra, half, ([0, 1], [0, 3])).transpose(0, 2, 1)


def past_right(environment: SymTensor, ket: SymTensor, w: SymTensor, bra: SymTensor | None = None) -> SymTensor:
    """A right environment past one more site; the bra is the ket where it is not given."""
    half = tensordot(ket, environment, ([2], [2]))  # a s bra v
    half = tensordot(half, w, ([1, 3], [3, 1]))  # a bra u s'
    bra = (ket if bra is None else bra).conj()
    return tensordot(bra, half, ([1, 2], [3, 1])).transpose(0, 2, 1)


class Operator:
    """An operator on a chain that conserves charges: its symmetric site tensors, and its terms around two sites.

    Parameters
    ----------
    tensors : sequence of arrays (left, right, out, in)
    conserved : Quantities
    """

    def __init__(self, tensors: Sequence[np.ndarray], conserved: Quantities):
        self.tensors, self.channels = [np.asarray(w) for w in tensors], Channels(tensors, conserved)
        made: dict[int, list[tuple[list, SymTensor]]] = {}
        self.sites = [self.site_tensor(site, made) for site in range(len(self.tensors))]
        mirrored = [w.swapaxes(0, 1) for w in reversed(self.tensors)]
        self.known = identities(self.tensors), identities(mirrored)[::-1]
        self.pairs: dict[int, Pair] = {}

    def site_tensor(self, site: int, made: dict) -> SymTensor:
        """The symmetric tensor of a site, made once where sites are alike."""
        key = id(self.tensors[site]), tuple(self.channels.charges[site]), tuple(self.channels.charges[site + 1])
        if key not in made:
            made[key] = self.channels.tensor(site, self.tensors[site])
        return made[key]

    def pair(self, site: int) -> Pair:
        """The terms around `site` and the next one."""
        if site not in self.pairs:
            before, after = self.known
            row = Row(*self.tensors[site : site + 2], before[site], before[site + 1], after[site + 1], after[site + 2])
            self.pairs[site] = Pair(row, self.channels, site)
        return self.pairs[site]


class Pair:
    """What the terms of an operator do on two neighbours, as symmetric tensors.

    Attributes
    ----------
    left : SymTensor or None
        With each channel u of the bond on the left, (u, s', t', s, t); what happens within the pair goes with a channel
        that stands for the identity.
    right : SymTensor or None
        With each channel w of the bond on the right, (s', t', s, t, w).
    one, two : SymTensor or None
        Site tensors of what crosses the pair.
    """

    def __init__(self, row: Row, channels: Channels, site: int):
        self.one = self.two = None
        conserved = channels.conserved
        legs, orders = conserved.legs[site : site + 2], conserved.orders[site : site + 2]
        self.phys = (*legs, legs[0].conj(), legs[1].conj())
        self.order = np.ix_(*orders, *orders)
        self.dims = tuple(len(order) for order in orders)
        left, right = self.on_both_sides(row)
        u, w = channels.orders[site], channels.orders[site + 2]
        self.left = self.symmetric(left, u, channels.legs[site], True)
        self.right = self.symmetric(right, w, channels.legs[site + 2].conj(), False)
        if len(row.across):
            one, two = np.zeros_like(row.one), np.zeros_like(row.two)
            one[np.ix_(row.open_left, row.across)] = row.one[np.ix_(row.open_left, row.across)]
            two[np.ix_(row.across, row.open_right)] = row.two[np.ix_(row.across, row.open_right)]
            self.one, self.two = channels.tensor(site, one), channels.tensor(site + 1, two)

    @staticmethod
    def on_both_sides(row: Row) -> tuple[np.ndarray, np.ndarray]:
        """Terms by their channel on the left, and on the right; those within the pair with one of them."""
        left = np.zeros((len(row.before), *row.left.shape[1:]), row.left.dtype)
        right = np.zeros((len(row.after), *row.right.shape[1:]), row.right.dtype)
        left[row.open_left], right[row.open_right] = row.left, row.right
        for into, multiples in ((left, row.before), (right, row.after)):
            channels = np.flatnonzero(~np.isnan(multiples) & (multiples != 0))
            if len(channels):
                into[channels[0]] += row.inner / multiples[channels[0]]
                break
        return left, right

    def symmetric(self, terms: np.ndarray, order: np.ndarray, leg: Leg, ahead: bool) -> SymTensor | None:
        """A symmetric tensor of the terms, their channel's leg in front or behind; None where all are zero."""
        if not terms.any():
            return None
        shaped = terms.reshape(len(terms), *self.dims, *self.dims)[order]
        shaped = shaped[(slice(None), *self.order)]
        if ahead:
            return from_dense(shaped, (leg, *self.phys), tol=0.0)
        return from_dense(shaped.transpose(1, 2, 3, 4, 0), (*self.phys, leg), tol=0.0)

    def effective(self, left: SymTensor, right: SymTensor, theta: SymTensor) -> Effective:
        """The effective operator between two environments."""
        on_left = on_right = chain = None
        if self.left is not None:
            on_left = tensordot(left, self.left, ([1], [0])).transpose(0, 2, 3, 1, 4, 5)
        if self.right is not None:
            on_right = tensordot(self.right, right, ([4], [1])).transpose(2, 3, 5, 0, 1, 4)
        if self.one is not None:
            chain = (
                tensordot(left, self.one, ([1], [0])).transpose(0, 2, 3, 1, 4),  # a' v s' a s
                tensordot(self.two, right, ([1], [1])).transpose(0, 2, 4, 1, 3),  # v t b t' b'
            )
        return Effective(on_left, on_right, chain, theta)


class Effective:
    """The sum of the parts of an effective operator, as a function of the flat arrays of a pair of sites.

    Attributes
    ----------
    layout : Layout
        Of those arrays, legs (a, s, t, b).
    """

    def __init__(self, on_left, on_right, chain, theta: SymTensor):
        split = 3 if on_left is not None else 1
        self.layout = theta.resplit(split).layout
        self.parts: list[Callable[[np.ndarray], np.ndarray]] = []
        if on_left is not None:
            on_left = on_left.resplit(3)
            self.add(contraction(on_left.layout, self.layout, (3, 4, 5), (0, 1, 2)), on_left.data, True, (0, 1, 2, 3))
        if on_right is not None:
            on_right = on_right.resplit(3)
            self.add(contraction(self.layout, on_right.layout, (1, 2, 3), (0, 1, 2)), on_right.data, False, (0, 1, 2, 3))
        if chain is not None:
            self.parts.append(self.across(*chain))

    def add(self, how, operator, ahead, axes):
        """One more matrix, in front of the vector or behind it."""
        back = between(how.out, self.layout, axes)

        def part(x):
            y = how.run(operator, x) if ahead else how.run(x, operator)
            return y if back is None else move(y, table=back)

        self.parts.append(part)

    def across(self, left, right):
        """The terms that cross the pair, all channels at once."""
        first = contraction(left.layout, self.layout, (3, 4), (0, 1))  # a' v s' t b
        second = contraction(first.out, right.layout, (1, 3, 4), (0, 1, 2))  # a' s' t' b'
        back = between(second.out, self.layout, (0, 1, 2, 3))

        def part(x):
            y = second.run(first.run(left.data, x), right.data)
            return y if back is None else move(y, table=back)

        return part

    def __call__(self, x: np.ndarray) -> np.ndarray:
        if not self.parts:
            return 0 * x
        out = self.parts[0](x)
        for part in self.parts[1:]:
            out = out + part(x)
        return out


def edges(total: tuple[int, ...], conserved: Quantities, dtype: np.dtype) -> tuple[SymTensor, SymTensor]:
    """The environments beyond both ends, legs (bra, operator, ket)."""
    group, found = conserved.symmetry, []
    for charge, flows in ((group.neutral, (1, -1, -1)), (total, (-1, 1, 1))):
        legs = [Leg({q: 1}, flow, group) for q, flow in zip((charge, group.neutral, charge), flows, strict=True)]
        found.append(SymTensor(layout(tuple(legs), 1, group.neutral, group), np.ones(1, dtype)))
    return found[0], found[1]
