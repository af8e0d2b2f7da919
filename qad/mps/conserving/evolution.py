"""Time evolution of states of definite charge: gates on neighbours, and the variational principle, on blocks.

The steps are those of `qad.mps.evolve.tebd` and `qad.mps.evolve.tdvp`.  Real time opens sectors by itself where two
sites evolve together; one site keeps the sectors of the bonds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.mps.conserving.enrich import Reach
from qad.mps.conserving.environments import Operator, edges, past_left, past_right
from qad.mps.conserving.observables import operator_for
from qad.mps.conserving.site_tensors import total_of
from qad.mps.evolve import tebd
from qad.mps.evolve.tdvp import MOST_PRODUCTS, OneSiteTdvp, Tdvp, TwoSiteTdvp
from qad.mps.search.lanczos import exponential
from qad.symmetric.contraction import tensordot
from qad.symmetric.create import from_dense
from qad.symmetric.generic import lq, qr
from qad.symmetric.maps import bond_leg, columns_of, in_order_of, joined, rows_of
from qad.symmetric.tensor import SymTensor, aligned, bare

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.mps.conserving.quantities import Quantities
    from qad.mps.operator import MPO
    from qad.typing import Number

__all__ = ["Gates", "OneSite", "Reach", "Truncation", "TwoSites", "check", "gates", "operator_for"]


def check(psi: Any, H: MPO) -> None:
    """Raise unless the operator conserves what the state does."""
    operator_for(psi, H)


class Gates(tebd.Gates):
    """Time steps as rounds of gates, symmetric tensors of legs (out, out, in, in)."""

    conserved: Quantities

    def __init__(self, H: MPO, conserved: Quantities, factor: Number, order: int):
        self.conserved = conserved
        super().__init__(H, factor, order)

    def gate(self, h: np.ndarray, factor: Number, site: int) -> tuple[SymTensor, float]:
        """As `qad.mps.evolve.tebd.gate`, sector by sector."""
        legs, orders = self.conserved.legs[site : site + 2], self.conserved.orders[site : site + 2]
        term = from_dense(h[np.ix_(*orders, *orders)], (*legs, *[leg.conj() for leg in legs]), split=2)
        pairs = [np.linalg.eigh(matrix) for matrix in term.sectors()]
        largest = max((factor * values).real.max() for values, _ in pairs)
        blocks = [(v * np.exp(factor * w - largest)) @ v.conj().T for w, v in pairs]
        return bare(term.layout, joined(blocks)), float(largest)


def gates(H: MPO, psi: Any, factor: Number, order: int) -> Gates:
    """The gates of a time step for states like this one."""
    return Gates(H, psi.conserved, factor, order)


class Truncation(tebd.Truncation):
    """Splits pairs of sites, and keeps account of what it cuts off."""

    discarded: float

    def pair(self, gate: SymTensor, tensors: list[SymTensor], site: int) -> SymTensor:
        """A site and the next one after a gate."""
        pair = tensordot(tensors[site], tensors[site + 1], 1)
        return tensordot(gate, pair, ((2, 3), (1, 2))).transpose(2, 0, 1, 3)

    def split(self, pair: SymTensor, to_right: bool, before: object = None) -> tuple[SymTensor, SymTensor]:
        """Two site tensors; the centre goes to the right one, or to the left.  The norm is kept."""
        pair = pair.resplit(2)
        triples = [np.linalg.svd(matrix, full_matrices=False) for matrix in pair.sectors()]
        values = [s for _, s, _ in triples]
        kept, whole = self.ranks(values), sum(s @ s for s in values)
        if whole:
            left = sum(s[:k] @ s[:k] for s, k in zip(values, kept, strict=True))
            triples = [(u, s * np.sqrt(whole / left), v) for u, s, v in triples]
        bond = bond_leg(pair.layout, kept, "evolve")
        halves = [
            (u[:, :k], s[:k, None] * v[:k]) if to_right else (u[:, :k] * s[:k], v[:k])
            for (u, s, v), k in zip(triples, kept, strict=True)
        ]
        right = columns_of(pair.layout, bond, [half for _, half in in_order_of(bond, pair.layout, halves)])
        return rows_of(pair.layout, bond, [x for (x, _), k in zip(halves, kept, strict=True) if k]), right.resplit(2)


class Conserving(Tdvp):
    """A chain, its environments, and steps ``exp(factor * H)`` of it; parameters as there, H an `Operator`."""

    operator: Operator
    tensors: list[SymTensor]
    gained: float
    left: list[SymTensor]
    right: list[SymTensor]

    def __init__(self, H: Operator, tensors: list[SymTensor], factor: Number, tol: float):
        self.operator, self.gained = H, 0.0
        self.set_step(factor, tol)
        self.surround(tensors)

    def surround(self, tensors: list[SymTensor]) -> None:
        """Go on with another chain, whose centre is at site 0."""
        self.tensors, n, dtype = tensors, len(tensors), np.result_type(*[t.dtype for t in tensors], self.factor)
        first, last = edges(total_of(tensors), self.operator.channels.conserved, dtype)
        self.left, self.right = [first] * n, [last] * n
        for site in reversed(range(1, n)):
            self.passed_left(site)

    def passed_right(self, site: int) -> None:
        """The environment right of a site that has become an isometry."""
        if site + 1 < len(self.tensors):
            self.left[site + 1] = past_left(self.left[site], self.tensors[site], self.operator.sites[site])

    def passed_left(self, site: int) -> None:
        """The environment left of a site that has become an isometry."""
        self.right[site - 1] = past_right(self.right[site], self.tensors[site], self.operator.sites[site])

    def evolved(self, x: SymTensor, site: int, sign: int = 1) -> SymTensor:
        """A centre of one or two sites, this one first, after half a step."""
        size = x.ndim - 2
        apply = self.operator.around(site, size).effective(self.left[site], self.right[site + size - 1], x)
        return self.after(apply, x.resplit(apply.layout.split), sign).resplit(2)

    def after(self, apply: Callable[[np.ndarray], np.ndarray], x: SymTensor, sign: int) -> SymTensor:
        """``exp(sign * factor/2 * A) x`` of the norm of x, for A on flat arrays of the layout of x."""
        data, gained = exponential(apply, x.data, sign * self.factor, self.tol, MOST_PRODUCTS)
        self.gained += gained
        return bare(x.layout, data.astype(x.dtype, copy=False))

    def evolve_site(self, site: int, sign: int = 1) -> None:
        """Only the centre."""
        self.tensors[site] = self.evolved(self.tensors[site], site, sign)

    def evolved_back(self, bond: SymTensor, site: int) -> SymTensor:
        """The matrix on the bond right of a site, half a step back."""
        left, right = self.left[site + 1], self.right[site]

        def apply(x: np.ndarray) -> np.ndarray:
            half = tensordot(left, bare(bond.layout, x), ([2], [0]))  # a' v b
            return aligned(bond, tensordot(half, right, ([1, 2], [1, 2])), "evolve")

        return self.after(apply, bond, -1)


class OneSite(Conserving, OneSiteTdvp):
    """Bonds and their sectors stay as they are; norm and energy are conserved."""

    def pass_right(self, site: int) -> None:
        """Leave an isometry behind; the bond matrix goes back in time before it joins the next site."""
        self.tensors[site], bond = qr(self.tensors[site], 2)
        self.passed_right(site)
        self.tensors[site + 1] = tensordot(self.evolved_back(bond, site), self.tensors[site + 1], 1).resplit(2)

    def pass_left(self, site: int) -> None:
        """The mirror image."""
        rest, self.tensors[site] = lq(self.tensors[site])
        self.passed_left(site)
        bond = self.evolved_back(rest, site - 1)
        self.tensors[site - 1] = tensordot(self.tensors[site - 1], bond, 1).resplit(2)


class TwoSites(Conserving, TwoSiteTdvp):
    """Bonds and their sectors grow as far as the truncation lets them."""

    def evolve_pair(self, site: int, truncation: Truncation, to_right: bool) -> None:
        """A pair forward in time; the centre moves on."""
        pair = self.evolved(tensordot(self.tensors[site], self.tensors[site + 1], 1), site)
        self.tensors[site], self.tensors[site + 1] = truncation.split(pair, to_right)
        if to_right:
            self.passed_right(site)
        else:
            self.passed_left(site + 1)
