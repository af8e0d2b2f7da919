"""The effective operator of one or two sites between symmetric environments.

Terms left of, right of, and across the sites stand apart, as in `qad.mps.kernels.dense_terms`, which finds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from qad.mps.kernels.dense_terms import CentreTerms, known
from qad.symmetric.blocks.moves import between, move
from qad.symmetric.contraction import contraction
from qad.symmetric.create import from_dense
from qad.symmetric.sparse import Entries, applied
from qad.symmetric.tensor import SymTensor, bare

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.mps.charges.channels import Channels
    from qad.symmetric.blocks.layout import Layout
    from qad.symmetric.blocks.moves import Move
    from qad.symmetric.contraction import Contraction
    from qad.symmetric.legs import Leg

    Part: TypeAlias = Callable[[np.ndarray], np.ndarray]


class Terms:
    """What the terms of an operator do on a centre of one or two neighbours, as symmetric tensors.

    Attributes
    ----------
    short : bool
        Whether no term reaches from beyond one end to the site at the other end, and ends there: then terms with the
        left go on the first site alone, those with the right on the second one.
    left : Entries or None
        With each channel u of the bond on the left, (u, s', s) where terms are short, else (u, s', t', s, t); what
        happens within the centre goes with a channel that stands for the identity.
    right : Entries or None
        With each channel w of the bond on the right, (t', t, w), else (s', t', s, t, w).
    inner : Entries or None
        What couples both sites where terms are short, (s', t', s, t).
    crossing : list of Entries
        Site tensors of what crosses the centre; none where nothing does.
    """

    def __init__(self, row: CentreTerms, channels: Channels, site: int, size: int):
        conserved = channels.conserved
        legs, orders = conserved.legs[site : site + size], conserved.orders[site : site + size]
        self.sites: list[tuple[Leg, np.ndarray]] = list(zip(legs, orders, strict=True))
        self.short: bool = size == 2 and row.left_is_short and row.right_is_short
        one, two = (slice(1), slice(1, 2)) if self.short else (slice(2), slice(2))
        left, right = (row.left_ended, row.right_begun) if self.short else self.on_both_sides(row)
        self.left: Entries | None = self.symmetric(left, one, channels, site, True)
        self.right: Entries | None = self.symmetric(right, two, channels, site + size, False)
        self.inner: Entries | None = self.within(row) if self.short else None
        self.crossing: list[Entries] = []
        if len(row.across):
            one, two = np.zeros_like(row.one), np.zeros_like(row.two)
            one[np.ix_(row.open_left, row.across)] = row.one[np.ix_(row.open_left, row.across)]
            two[np.ix_(row.across, row.open_right)] = row.two[np.ix_(row.across, row.open_right)]
            self.crossing = [Entries(channels.tensor(site + i, w)) for i, w in enumerate((one, two)[:size])]

    @staticmethod
    def on_both_sides(row: CentreTerms) -> tuple[np.ndarray, np.ndarray]:
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

    def symmetric(self, terms: np.ndarray, sites: slice, channels: Channels, bond: int, ahead: bool) -> Entries | None:
        """The entries of terms on some sites, the leg of their channel in front or behind; None where all are zero."""
        if not terms.any():
            return None
        leg, (legs, shaped) = channels.legs[bond], self.by_charge(terms[channels.orders[bond]], sites)
        if ahead:
            return Entries(from_dense(shaped, (leg, *legs), tol=0.0))
        return Entries(from_dense(np.moveaxis(shaped, 0, -1), (*legs, leg.conj()), tol=0.0))

    def by_charge(self, terms: np.ndarray, sites: slice) -> tuple[tuple[Leg, ...], np.ndarray]:
        """The legs (s', t', s, t) of some sites, and terms (u, s' t', s t) on them in the order of these."""
        legs, orders = zip(*self.sites[sites], strict=True)
        shape = [len(order) for order in orders]
        shaped = terms.reshape(len(terms), *shape, *shape)
        return (*legs, *[leg.conj() for leg in legs]), shaped[(slice(None), *np.ix_(*orders, *orders))]

    def within(self, row: CentreTerms) -> Entries | None:
        """The entries of the terms that begin on the first site and end on the second one."""
        one = np.einsum("u,uvij->vij", known(row.before), row.one)[row.between]
        two = np.einsum("vwkl,w->vkl", row.two, known(row.after))[row.between]
        terms = np.einsum("vij,vkl->ikjl", one, two)
        if not terms.any():
            return None
        legs, shaped = self.by_charge(terms.reshape(1, terms.shape[0] * terms.shape[1], -1), slice(2))
        return Entries(from_dense(shaped[0], legs, tol=0.0))

    def effective(self, left: SymTensor, right: SymTensor, theta: SymTensor) -> Effective:
        """The effective operator between two environments, on tensors of the legs of `theta`."""
        m = 1 if self.short else len(self.sites)
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
            if len(self.sites) == 2:
                second = applied(self.crossing[1], right, ((1,), (1,)), (2, 4, 1, 3, 0), 3)  # v t b, t' b'
            chain = first, second
        return Effective(on_left, on_right, chain, self.inner, theta)


class Effective:
    """The sum of the parts of an effective operator, as a function of the flat arrays of a centre.

    Attributes
    ----------
    layout : Layout
        Of those arrays, legs (a, s, b) or (a, s, t, b).
    """

    def __init__(
        self,
        on_left: SymTensor | None,
        on_right: SymTensor | None,
        chain: tuple[SymTensor, SymTensor] | None,
        inner: Entries | None,
        theta: SymTensor,
    ):
        size = theta.ndim
        split = on_left.ndim // 2 if on_left is not None else size - on_right.ndim // 2 if on_right is not None else 1
        self.layout: Layout = theta.resplit(split).layout
        self.parts: list[Part] = []
        if on_left is not None:
            half = on_left.ndim // 2
            how = contraction(on_left.layout, self.layout, tuple(range(half, 2 * half)), tuple(range(half)))
            self.parts.append(self.part(how, on_left.data, True))
        if on_right is not None:
            half = on_right.ndim // 2
            how = contraction(self.layout, on_right.layout, tuple(range(size - half, size)), tuple(range(half)))
            self.parts.append(self.part(how, on_right.data, False))
        if chain is not None:
            self.parts.append(self.across(*chain))
        if inner is not None:
            order = (0, 2, 3, 1)
            self.parts.append(
                lambda x: applied(inner, bare(self.layout, x), ((1, 2), (2, 3)), order, self.layout.split).data
            )

    def part(self, how: Contraction, operator: np.ndarray, ahead: bool) -> Part:
        """One matrix, in front of the vector or behind it."""
        back = self.back(how.out)

        def part(x: np.ndarray) -> np.ndarray:
            y = how.run(operator, x) if ahead else how.run(x, operator)
            return y if back is None else move(y, table=back)

        return part

    def across(self, left: SymTensor, right: SymTensor) -> Part:
        """The terms that cross the centre, all channels at once."""
        first = contraction(left.layout, self.layout, (3, 4), (0, 1))  # a' v s' (t) b
        inner = tuple(range(3, len(first.out.legs)))
        second = contraction(first.out, right.layout, (1, *inner), tuple(range(1 + len(inner))))
        back = self.back(second.out)

        def part(x: np.ndarray) -> np.ndarray:
            y = second.run(first.run(left.data, x), right.data)
            return y if back is None else move(y, table=back)

        return part

    def back(self, where: Layout) -> Move | None:
        """The move from a product to the vectors' layout."""
        return between(where, self.layout, tuple(range(len(where.legs))))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        out = None
        for part in self.parts:
            out = part(x) if out is None else out + part(x)
        return 0 * x if out is None else out
