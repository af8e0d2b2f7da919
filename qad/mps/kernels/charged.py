"""Environments of symmetric states, and effective operators between them.

Legs and flows: site tensors (left, physical, right) ``(+, +, -)``, operators (left, right, out, in) ``(+, -, +, -)``,
environments (bra, operator, ket), on the left ``(+, -, -)``, on the right ``(-, +, +)``.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.extend import Tensor
from qad.mps.chain.row import distinct_map
from qad.mps.charges.channels import Channels
from qad.mps.kernels.terms import CentreKernel, total
from qad.symmetric.blocks.moves import between, move
from qad.symmetric.contraction import contraction
from qad.symmetric.create import from_dense
from qad.symmetric.sparse import Entries, applied
from qad.symmetric.tensor import SymTensor, bare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.charges.quantities import Quantities
    from qad.mps.kernels.terms import Apply, CentreTerms, Identities
    from qad.symmetric.blocks.layout import Layout
    from qad.symmetric.legs import Leg


class ChargedKernel(CentreKernel):
    """The kernel of states that conserve charges: symmetric site tensors, their few entries, and the channels' charges.

    Parameters
    ----------
    tensors : sequence of arrays (left, right, out, in)
    conserved : Quantities
    channels : Channels, optional
        By default those of an open chain.
    identities : pair of lists of arrays, optional
        As in `CentreKernel`.
    """

    sites: list[SymTensor]

    def __init__(
        self, tensors: Sequence[np.ndarray], conserved: Quantities, channels: Channels | None = None,
        identities: Identities | None = None,
    ):  # fmt: skip
        self.channels: Channels = channels or Channels(tensors, conserved)
        super().__init__(self.channels.tensors, identities)
        self.sites = self.channels.sites()
        self.passed: list[Entries] = distinct_map(Entries, self.sites)
        self.swept: dict[np.dtype, list[Entries]] = {}  # of `qad.mps.energy.hamiltonian`

    def sites_of(self, H: Sequence[Any]) -> list[SymTensor]:
        """The site tensors of this operator, recorded or plain; what would break the symmetry is left out."""
        if all(type(w) is not Tensor for w in H):
            return self.sites
        return self.channels.recorded(H)

    def terms_of(self, row: CentreTerms, site: int) -> ChargedTerms:
        """The terms of a centre."""
        return ChargedTerms(row, self.channels, site)


# -- effective operators -----------------------------------------------------------------------------------------------


class ChargedTerms:
    """What the terms of an operator do on a centre of at most two neighbours, as symmetric tensors.

    Attributes
    ----------
    left : Entries or None
        With each channel u of the bond on the left, (u, s', s) where terms are apart, else (u, s', t', s, t).
    right : Entries or None
        With each channel w of the bond on the right, (w, t', t), else (w, s', t', s, t).
    inner : Entries or None
        What couples both sites where terms are apart, (s', t', s, t).
    crossing : list of Entries
        Site tensors of what is applied channel by channel; of no site the channels alone, (v, v).
    """

    def __init__(self, row: CentreTerms, channels: Channels, site: int):
        size, conserved = row.size, channels.conserved
        self.size: int = size
        sites = list(zip(conserved.legs, conserved.orders, strict=True))[site : site + size]
        self.own: int = 1 if row.apart else size  # how many sites the terms on either side have
        left, right = row.sides
        before, after = channels.legs[site], channels.legs[site + size].conj()
        self.left: Entries | None = self.symmetric(left[channels.orders[site]], sites[: self.own], before)
        last = sites[size - self.own :]
        self.right: Entries | None = self.symmetric(right[channels.orders[site + size]], last, after)
        self.inner: Entries | None = None if row.inner is None else self.symmetric(row.inner[None], sites)
        self.crossing: list[Entries] = []
        if row.crossing is not None and size:
            self.crossing = [Entries(channels.tensor(site + i, w)) for i, w in enumerate(row.crossing[:size])]
        elif row.crossing is not None:
            order = channels.orders[site]
            through = row.crossing[0][np.ix_(order, order)][:, :, 0, 0]
            self.crossing = [Entries(from_dense(through, (before, before.conj())))]

    @staticmethod
    def symmetric(
        terms: np.ndarray, sites: list[tuple[Leg, np.ndarray]], channel: Leg | None = None
    ) -> Entries | None:  # fmt: skip
        """The entries of terms (channel, out, in) on some sites, or of a single one; None where all are zero."""
        if not terms.any():
            return None
        legs, orders = [leg for leg, _ in sites], [order for _, order in sites]
        shape = [len(order) for order in orders]
        found = terms.reshape(len(terms), *shape, *shape)[(slice(None), *np.ix_(*orders, *orders))]
        legs = *legs, *[leg.conj() for leg in legs]
        return Entries(from_dense(*((found[0], legs) if channel is None else (found, (channel, *legs))), tol=0.0))

    def effective(self, left: SymTensor, right: SymTensor, centre: SymTensor) -> tuple[Apply, SymTensor]:
        """The effective operator between two environments, and the centre as it takes its numbers."""
        m, size, on_left, on_right = self.own, self.size, None, None
        if self.left is not None:  # a' a s' t' s t, as a matrix of a' s' t' and a s t
            order = (0, *range(2, 2 + m), 1, *range(2 + m, 2 + 2 * m))
            on_left = applied(self.left, left, ((1,), (0,)), order, 1 + m)
        if self.right is not None:  # b' b s' t' s t, as a matrix of s t b and s' t' b'
            order = (*range(2 + m, 2 + 2 * m), 1, *range(2, 2 + m), 0)
            on_right = applied(self.right, right, ((1,), (0,)), order, 1 + m)
        split = 1 + m if on_left is not None else size + 1 - m if on_right is not None else 1
        centre = centre.resplit(split)
        where, parts = centre.layout, []
        if on_left is not None:
            ahead = contraction(on_left.layout, where, tuple(range(1 + m, 2 + 2 * m)), tuple(range(1 + m)))
            parts.append(laid_back(lambda x: ahead.run(on_left.data, x), ahead.out, where))
        if on_right is not None:
            last = tuple(range(size + 1 - m, size + 2))
            behind = contraction(where, on_right.layout, last, tuple(range(1 + m)))
            parts.append(laid_back(lambda x: behind.run(x, on_right.data), behind.out, where))
        if self.crossing:
            parts.append(chained(*self.channel_by_channel(left, right), where))
        if self.inner is not None:
            axes, order = ((1, 2), (2, 3)), (0, 2, 3, 1)
            parts.append(lambda x: applied(self.inner, bare(where, x), axes, order, where.split).data)
        return partial(total, parts), centre

    def channel_by_channel(self, left: SymTensor, right: SymTensor) -> tuple[SymTensor, SymTensor]:
        """What crosses the centre: (a', v, s', a, s) and (v, t, b, t', b'), without the legs of sites that are none."""
        if not self.size:
            return applied(self.crossing[0], left, ((1,), (0,)), (0, 2, 1), 1), right.transpose(1, 2, 0)
        first = applied(self.crossing[0], left, ((1,), (0,)), (0, 2, 3, 1, 4), 3)
        if self.size == 1:
            return first, right.transpose(1, 2, 0)
        return first, applied(self.crossing[1], right, ((1,), (1,)), (2, 4, 1, 3, 0), 3)


def chained(left: SymTensor, right: SymTensor, where: Layout) -> Apply:
    """The terms that cross a centre of this layout, all channels at once."""
    own = (left.ndim - 1) // 2  # legs of the centre that the left has: a, or a and s
    first = contraction(left.layout, where, tuple(range(1 + own, 1 + 2 * own)), tuple(range(own)))
    inner = tuple(range(1 + own, len(first.out.legs)))  # a' v s' (t) b
    second = contraction(first.out, right.layout, (1, *inner), tuple(range(1 + len(inner))))
    return laid_back(lambda x: second.run(first.run(left.data, x), right.data), second.out, where)


def laid_back(part: Apply, out: Layout, where: Layout) -> Apply:
    """A function whose results have another layout, with them in this one."""
    table = between(out, where, tuple(range(len(out.legs))))
    return part if table is None else lambda x: move(part(x), table=table)
