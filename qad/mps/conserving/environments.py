"""Environments of states of definite charge, and the effective operator of two sites between them.

Legs and flows: site tensors (left, physical, right) ``(+, +, -)``, operators (left, right, out, in) ``(+, -, +, -)``,
environments (bra, operator, ket), on the left ``(+, -, -)``, on the right ``(-, +, +)``.  Terms left of, right of, and
across the two sites stand apart, as in `qad.mps.effective`, which finds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.conserving.channels import Channels
from qad.mps.effective import Row, identities, nothing_on
from qad.symmetric.contraction import contraction, tensordot
from qad.symmetric.create import from_dense
from qad.symmetric.layout import layout
from qad.symmetric.legs import Leg
from qad.symmetric.moves import between, move
from qad.symmetric.sparse import Entries, applied
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

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


def onwards(environment: SymTensor, tensor: SymTensor, w: Entries) -> SymTensor:
    """`past_left` of plain numbers, bra and ket alike."""
    half = tensordot(environment, tensor, ([2], [0]))  # bra u s b
    half = applied(w, half, ((1, 2), (0, 3)), (0, 3, 2, 1), 2)  # bra s', v b
    return tensordot(tensor.conj(), half, ([0, 1], [0, 1]))


def backwards(environment: SymTensor, tensor: SymTensor, w: Entries) -> SymTensor:
    """`past_right` of plain numbers, bra and ket alike."""
    half = tensordot(tensor, environment, ([2], [2]))  # a s bra v
    half = applied(w, half, ((1, 3), (3, 1)), (3, 1, 2, 0), 2)  # s' bra, u a
    return tensordot(tensor.conj(), half, ([1, 2], [0, 1]))


class Operator:
    """An operator on a chain that conserves charges: its symmetric site tensors, and its terms around two sites.

    Parameters
    ----------
    tensors : sequence of arrays (left, right, out, in)
    conserved : Quantities
    """

    def __init__(self, tensors: Sequence[np.ndarray], conserved: Quantities):
        self.channels = Channels(tensors, conserved)
        self.tensors = self.channels.tensors
        made: dict[Any, tuple[SymTensor, Entries]] = {}
        self.sites = [self.site_tensor(site, made) for site in range(len(self.tensors))]
        self.entries = [made[self.key(site)][1] for site in range(len(self.tensors))]
        mirrored = [w.swapaxes(0, 1) for w in reversed(self.tensors)]
        self.known = identities(self.tensors), identities(mirrored)[::-1]
        self.terms: dict[tuple[int, int], Terms] = {}
        self.swept: dict[np.dtype, list[Entries]] = {}  # of `qad.mps.conserving.energy`

    def key(self, site: int) -> Any:
        """Sites of equal keys are alike."""
        return id(self.tensors[site]), tuple(self.channels.charges[site]), tuple(self.channels.charges[site + 1])

    def site_tensor(self, site: int, made: dict) -> SymTensor:
        """The symmetric tensor of a site, made once where sites are alike."""
        key = self.key(site)
        if key not in made:
            tensor = self.channels.tensor(site, self.tensors[site])
            made[key] = tensor, Entries(tensor)
        return made[key][0]

    def around(self, site: int, size: int) -> Terms:
        """The terms around a centre of `size` sites, this one first."""
        if (site, size) not in self.terms:
            before, after = self.known
            sites = [*self.tensors[site : site + size], nothing_on(len(before[site + size]))][:2]
            bonds = before[site], before[site + 1], after[site + 1], after[site + size]
            self.terms[site, size] = Terms(Row(*sites, *bonds), self.channels, site, size)
        return self.terms[site, size]


class Terms:
    """What the terms of an operator do on a centre of one or two neighbours, as symmetric tensors.

    Attributes
    ----------
    left : Entries or None
        With each channel u of the bond on the left, (u, s', t', s, t); what happens within the centre goes with a
        channel that stands for the identity.
    right : Entries or None
        With each channel w of the bond on the right, (s', t', s, t, w).
    crossing : list of Entries
        Site tensors of what crosses the centre; none where nothing does.
    """

    def __init__(self, row: Row, channels: Channels, site: int, size: int):
        conserved = channels.conserved
        legs, orders = conserved.legs[site : site + size], conserved.orders[site : site + size]
        self.phys = (*legs, *[leg.conj() for leg in legs])
        self.order = np.ix_(*orders, *orders)
        self.dims = tuple(len(order) for order in orders)
        left, right = self.on_both_sides(row)
        self.left = self.symmetric(left, channels, site, True)
        self.right = self.symmetric(right, channels, site + size, False)
        self.crossing: list[Entries] = []
        if len(row.across):
            one, two = np.zeros_like(row.one), np.zeros_like(row.two)
            one[np.ix_(row.open_left, row.across)] = row.one[np.ix_(row.open_left, row.across)]
            two[np.ix_(row.across, row.open_right)] = row.two[np.ix_(row.across, row.open_right)]
            self.crossing = [Entries(channels.tensor(site + i, w)) for i, w in enumerate((one, two)[:size])]

    @staticmethod
    def on_both_sides(row: Row) -> tuple[np.ndarray, np.ndarray]:
        """Terms by their channel on the left, and on the right; those within the centre with one of them."""
        left = np.zeros((len(row.before), *row.left.shape[1:]), row.left.dtype)
        right = np.zeros((len(row.after), *row.right.shape[1:]), row.right.dtype)
        left[row.open_left], right[row.open_right] = row.left, row.right
        for into, multiples in ((left, row.before), (right, row.after)):
            channels = np.flatnonzero(~np.isnan(multiples) & (multiples != 0))
            if len(channels):
                into[channels[0]] += row.inner / multiples[channels[0]]
                break
        return left, right

    def symmetric(self, terms: np.ndarray, channels: Channels, bond: int, ahead: bool) -> Entries | None:
        """The entries of a symmetric tensor of the terms, their channel's leg in front or behind; None where all are zero."""
        if not terms.any():
            return None
        leg = channels.legs[bond]
        shaped = terms[channels.orders[bond]].reshape(len(terms), *self.dims, *self.dims)
        shaped = shaped[(slice(None), *self.order)]
        if ahead:
            return Entries(from_dense(shaped, (leg, *self.phys), tol=0.0))
        return Entries(from_dense(np.moveaxis(shaped, 0, -1), (*self.phys, leg.conj()), tol=0.0))

    def effective(self, left: SymTensor, right: SymTensor, theta: SymTensor) -> Effective:
        """The effective operator between two environments, on tensors of the legs of `theta`."""
        m = len(self.dims)
        on_left = on_right = chain = None
        if self.left is not None:  # a' a s' t' s t, as a matrix of a' s' t' and a s t
            order = (0, *range(2, 2 + m), 1, *range(2 + m, 2 + 2 * m))
            on_left = applied(self.left, left, ((1,), (0,)), order, 1 + m)
        if self.right is not None:  # b' b s' t' s t, as a matrix of s t b and s' t' b'
            order = (*range(2 + m, 2 + 2 * m), 1, *range(2, 2 + m), 0)
            on_right = applied(self.right, right, ((1,), (2 * m,)), order, 1 + m)
        if self.crossing:
            first = applied(self.crossing[0], left, ((1,), (0,)), (0, 2, 3, 1, 4), 3)  # a' v s', a s
            second = right.transpose(1, 2, 0)  # v b b'
            if m == 2:
                second = applied(self.crossing[1], right, ((1,), (1,)), (2, 4, 1, 3, 0), 3)  # v t b, t' b'
            chain = first, second
        return Effective(on_left, on_right, chain, theta)


class Effective:
    """The sum of the parts of an effective operator, as a function of the flat arrays of a centre.

    Attributes
    ----------
    layout : Layout
        Of those arrays, legs (a, s, b) or (a, s, t, b).
    """

    def __init__(self, on_left, on_right, chain, theta: SymTensor):
        inner = theta.ndim - 1
        self.layout = theta.resplit(inner if on_left is not None else 1).layout
        self.parts: list[Callable[[np.ndarray], np.ndarray]] = []
        if on_left is not None:
            how = contraction(on_left.layout, self.layout, tuple(range(inner, 2 * inner)), tuple(range(inner)))
            self.parts.append(self.part(how, on_left.data, True))
        if on_right is not None:
            how = contraction(self.layout, on_right.layout, tuple(range(1, inner + 1)), tuple(range(inner)))
            self.parts.append(self.part(how, on_right.data, False))
        if chain is not None:
            self.parts.append(self.across(*chain))

    def part(self, how, operator, ahead):
        """One matrix, in front of the vector or behind it."""
        back = self.back(how.out)

        def part(x):
            y = how.run(operator, x) if ahead else how.run(x, operator)
            return y if back is None else move(y, table=back)

        return part

    def across(self, left, right):
        """The terms that cross the centre, all channels at once."""
        first = contraction(left.layout, self.layout, (3, 4), (0, 1))  # a' v s' (t) b
        inner = tuple(range(3, len(first.out.legs)))
        second = contraction(first.out, right.layout, (1, *inner), tuple(range(1 + len(inner))))
        back = self.back(second.out)

        def part(x):
            y = second.run(first.run(left.data, x), right.data)
            return y if back is None else move(y, table=back)

        return part

    def back(self, where: Layout):
        """The move from a product to the vectors' layout."""
        return between(where, self.layout, tuple(range(len(where.legs))))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        out = None
        for part in self.parts:
            out = part(x) if out is None else out + part(x)
        return 0 * x if out is None else out


def edges(total: tuple[int, ...], conserved: Quantities, dtype: np.dtype) -> tuple[SymTensor, SymTensor]:
    """The environments beyond both ends, legs (bra, operator, ket)."""
    group, found = conserved.symmetry, []
    for charge, flows in ((group.neutral, (1, -1, -1)), (total, (-1, 1, 1))):
        legs = [Leg({q: 1}, flow, group) for q, flow in zip((charge, group.neutral, charge), flows, strict=True)]
        found.append(SymTensor(layout(tuple(legs), 1, group.neutral, group), np.ones(1, dtype)))
    return found[0], found[1]
