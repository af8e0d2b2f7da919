"""Two-site sweeps (the density matrix renormalisation group) over states of definite charge.

As `qad.mps.search.dmrg`; a step may open sectors that the state lacks: what the operator makes of the pair is mixed
into its density matrix, ever more weakly, as there for single sites (C. Hubig et al., PRB 91, 155115 (2015)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from qad.core.errors import ArgumentError
from qad.mps.conserving.environments import Operator, backwards, edges, onwards
from qad.mps.conserving.excluded import NONE, Penalty
from qad.mps.conserving.state import SymmetricMPS
from qad.mps.search.dmrg import DISCARDED, FIRST_MIXING, TIGHTEST
from qad.mps.search.local import Solving
from qad.symmetric.contraction import tensordot
from qad.symmetric.decompositions import qr
from qad.symmetric.maps import bond_leg, rows_of
from qad.symmetric.sparse import applied
from qad.symmetric.tensor import SymTensor, bare

if TYPE_CHECKING:
    from qad.mps.conserving.excluded import Excluded
    from qad.mps.conserving.quantities import Charge, Quantities
    from qad.symmetric.legs import Leg

# Products with the effective operator cost little beside what a step does once; so local problems are solved finely
# from the first sweep on, and there are few sweeps.
FIRST_BOND = 32
GROWTH = 4  # of the bond from sweep to sweep, until it is what was asked for
GROWING = 0.1  # of what is mixed in, from sweep to sweep, meanwhile
PRODUCTS = 20  # of the effective operator, per step; more where local problems are not solved
LOOSEST = 1e-10  # errors of the energy, relative, at which a local problem is solved
SHARE = 1e-4  # of what the last sweep gained: such errors thereafter
ALIKE = 1.001  # weight discarded by an old choice of sectors, relative to the best choice, up to which it stays
FADING = 1e-2  # of what is mixed in, from sweep to sweep, when bonds have grown
UNMIXED = 1e-5  # less than this is mixed in no more
EQUAL = 1e-9  # weights nearer than this, relative, are of one multiplet: which of them stay is not left to rounding


class Sweeps(Solving):
    """A state with a centre that moves; every step replaces it by the ground state of its effective operator.

    Parameters
    ----------
    operator : Operator
    start : SymmetricMPS
    bond : int
        Largest bond dimension.
    excluded : Excluded
        States, and what a squared overlap with them costs.
    """

    REMEMBERED: ClassVar[tuple[str, ...]] = ("bond", "tolerance")  # what a checkpoint keeps
    first_energy: float
    energy: float
    used: float
    left_over: float
    discarded: float

    def __init__(self, operator: Operator, start: SymmetricMPS, bond: int, excluded: Excluded = NONE):
        self.operator: Operator = operator
        self.conserved: Quantities = start.conserved
        self.most: int = bond
        self.bond: int = min(bond, max(FIRST_BOND, start.bond))
        dtype = np.result_type(start.dtype, *operator.tensors)
        self.tensors: list[SymTensor] = right_canonical([t.astype(dtype) for t in start])
        n, total = len(self.tensors), self.tensors[-1].legs[2].charges[0]
        first, last = edges(total, self.conserved, dtype)
        self.left: list[SymTensor] = [first] * n
        self.right: list[SymTensor] = [last] * n
        self.penalty: Penalty = Penalty(excluded, n)
        for site in reversed(range(1, n)):
            self.pass_left(site)
        self.energy = self.first_energy = self.expectation()
        self.tolerance: float = LOOSEST * (abs(self.energy) or 1.0)
        self.products: int = PRODUCTS
        self.used = self.left_over = self.discarded = 0.0

    @property
    def state(self) -> SymmetricMPS:
        """The present state, its centre at site 0 between sweeps."""
        return SymmetricMPS(self.tensors, self.conserved)

    def expectation(self) -> float:
        """The energy of the present state, its centre at site 0."""
        centre = self.tensors[0]
        whole = backwards(self.right[0], centre, self.operator.entries[0])
        return float((whole.data.sum().real + self.penalty.cost(centre)) / np.vdot(centre.data, centre.data).real)

    def pass_right(self, site: int) -> None:
        """The centre moves on to the right."""
        if site + 1 < len(self.tensors):
            self.left[site + 1] = onwards(self.left[site], self.tensors[site], self.operator.entries[site])
            self.penalty.pass_right(site, self.tensors[site])

    def pass_left(self, site: int) -> None:
        """The centre moves on to the left."""
        self.right[site - 1] = backwards(self.right[site], self.tensors[site], self.operator.entries[site])
        self.penalty.pass_left(site, self.tensors[site])

    def sweep(self) -> float:
        """To the right end and back; returns the energy of the state that is left."""
        before, self.discarded, self.used, self.left_over = self.energy, 0.0, self.tolerance, 0.0
        self.to_right_and_back(len(self.tensors) - 1)
        self.energy = self.expectation()
        gain = max(before - self.energy, 0.0)
        self.tolerance = float(np.clip(SHARE * gain, TIGHTEST, self.tolerance))
        return self.energy

    def improved(self, site: int, centre: SymTensor) -> SymTensor:
        """The best centre, of the same legs, the first one this site."""
        size = centre.ndim - 2
        apply = self.operator.around(site, size).effective(self.left[site], self.right[site + size - 1], centre)
        centre = centre.resplit(apply.layout.split)
        data = self.lowest(self.penalty.added(apply, site, size), centre.data)
        return bare(apply.layout, data).resplit(2)


class TwoSites(Sweeps):
    """Pairs of neighbours; the bond between them is chosen anew from their density matrix."""

    REMEMBERED: ClassVar[tuple[str, ...]] = (*Sweeps.REMEMBERED, "mixing")
    bond: int
    discarded: float
    mixing: float = FIRST_MIXING
    cutoff: float = DISCARDED  # weight per step that is cut off in any case; all bonds are filled where it is negative

    @property
    def growing(self) -> bool:
        """Whether the next sweep may use larger bonds than the last one, or open sectors."""
        return self.bond < self.most or self.mixing > 0

    def sweep(self) -> float:
        energy = super().sweep()
        self.mixing *= GROWING if self.bond < self.most else FADING
        self.mixing = self.mixing if self.mixing > UNMIXED else 0.0
        self.bond = min(GROWTH * self.bond, self.most)
        return energy

    def to_right_and_back(self, last: int) -> None:
        for site in range(last):
            self.step_right(site)
        for site in reversed(range(last)):
            self.step_left(site)

    def step_right(self, site: int) -> None:
        """Improve the pair that begins here; its left half becomes an isometry."""
        theta = self.improved(site, tensordot(self.tensors[site], self.tensors[site + 1], 1))
        density = tensordot(theta, theta.conj(), ([2, 3], [2, 3]))
        if self.mixing:
            w = self.operator.entries[site]
            half = applied(w, self.left[site], ((1,), (0,)), (0, 2, 3, 1, 4), 3)  # a' v s', a s
            reached = tensordot(half, theta, ([3, 4], [0, 1]))  # a' v s' t b
            density = mixed(density, tensordot(reached, reached.conj(), ([1, 3, 4], [1, 3, 4])), self.mixing)
        kept = self.principal(density, self.tensors[site].legs[2])
        self.tensors[site], rest = kept, tensordot(kept.conj(), theta, ([0, 1], [0, 1]))
        self.tensors[site + 1] = rest.resplit(2)
        self.pass_right(site)

    def step_left(self, site: int) -> None:
        """Improve the pair that begins here; its right half becomes an isometry."""
        theta = self.improved(site, tensordot(self.tensors[site], self.tensors[site + 1], 1))
        density = tensordot(theta.conj(), theta, ([0, 1], [0, 1]))
        if self.mixing:
            w = self.operator.entries[site + 1]
            half = applied(w, self.right[site + 1], ((1,), (1,)), (4, 1, 2, 3, 0), 2)  # t b, v t' b'
            reached = tensordot(theta, half, ([2, 3], [0, 1]))  # a s v t' b'
            more = tensordot(reached.conj(), reached, ([0, 1, 2], [0, 1, 2]))
            density = mixed(density, more, self.mixing)
        kept = self.principal(density, self.tensors[site].legs[2])  # t b | bond, of the conjugate
        self.tensors[site + 1] = kept.conj().transpose(2, 0, 1)
        self.tensors[site] = tensordot(theta, kept, ([2, 3], [0, 1]))
        self.pass_left(site + 1)

    def principal(self, density: SymTensor, before: Leg) -> SymTensor:
        """An orthonormal basis of the most important directions of a density matrix, legs (rows, bond)."""
        density = density.resplit(2)
        where, pairs = density.layout, [np.linalg.eigh(matrix) for matrix in density.sectors()]
        weights = [values[::-1] for values, _ in pairs]
        kept = kept_weights(weights, self.bond, self.cutoff)
        if sum(kept) < self.filled:
            kept = kept_weights(weights, min(self.filled, self.bond), -1.0)
        if not self.mixing:
            old = as_before(weights, kept, [sector.charge for sector in where.sectors], before, self.bond)
            kept = old if self.cutoff > 0 or sum(old) == sum(kept) else kept
        self.discarded = max(self.discarded, lost_weight(weights, kept))
        bond = bond_leg(where, kept, "ground_state")
        return rows_of(where, bond, [v[:, len(v) - k :] for (_, v), k in zip(pairs, kept, strict=True) if k])


class OneSite(Sweeps):
    """Single sites, whose bonds stay as they are, so that nothing is truncated."""

    REMEMBERED: ClassVar[tuple[str, ...]] = (*Sweeps.REMEMBERED, "polishing")
    growing: bool = False
    polishing: float = 1.0

    def to_right_and_back(self, last: int) -> None:
        for site in range(last):
            centre = self.improved(site, self.tensors[site])
            self.tensors[site], rest = qr(centre, 2)
            self.tensors[site + 1] = tensordot(rest, self.tensors[site + 1], 1).resplit(2)
            self.pass_right(site)
        for site in reversed(range(last + 1)):
            self.tensors[site] = self.improved(site, self.tensors[site])
            if site:
                to_left(self.tensors, site)
                self.pass_left(site)


def mixed(density: SymTensor, more: SymTensor, mixing: float) -> SymTensor:
    """A density matrix with a little of another one."""
    density, more = density.resplit(2), more.resplit(2)
    weight = sum(matrix.trace().real for matrix in more.sectors())
    return density + more * (mixing / weight) if weight > 0 else density


def kept_weights(values: list[np.ndarray], most: int, cutoff: float = DISCARDED) -> list[int]:
    """How many weights of each sector to keep, `most` in all and leaving out a part of `cutoff`; those of each descend.

    Weights of one multiplet that the cut parts are taken in the order of the sectors.
    """
    sector = np.repeat(np.arange(len(values)), [len(v) for v in values])
    every = np.concatenate(values)
    order = np.argsort(-every, kind="stable")
    every, sector = every[order], sector[order]
    lost = np.cumsum(every[::-1])[::-1]  # by leaving out this one and all behind it
    kept = max(1, min(most, int(np.count_nonzero(lost > cutoff * every.sum()))))
    if kept < len(every):
        near = np.flatnonzero(np.abs(every - every[kept - 1]) <= EQUAL * every[kept - 1])
        sector[near] = np.sort(sector[near], kind="stable")
    return np.bincount(sector[:kept], minlength=len(values)).tolist()


def as_before(weights: list[np.ndarray], kept: list[int], charges: list[Charge], before: Leg, most: int) -> list[int]:
    """The sectors that the bond had, where they hold as much: layouts that recur need no new tables."""
    sizes = dict(zip(before.charges, before.dims, strict=True))
    old = [min(sizes.get(charge, 0), len(w)) for charge, w in zip(charges, weights, strict=True)]
    allowed = ALIKE * lost_weight(weights, kept) + 10 * DISCARDED
    return old if 0 < sum(old) <= most and lost_weight(weights, old) <= allowed else kept


def lost_weight(weights: list[np.ndarray], kept: list[int]) -> float:
    """The part of the weight that is left out, where so many of each sector are kept; weights descend."""
    lost = sum(np.abs(w[k:]).sum() for w, k in zip(weights, kept, strict=True))
    return float(lost / sum(w.sum() for w in weights))


def right_canonical(tensors: list[SymTensor]) -> list[SymTensor]:
    """The same state, normalised, its centre at site 0."""
    tensors = list(tensors)
    for site in reversed(range(1, len(tensors))):
        to_left(tensors, site)
    if not 0 < (size := tensors[0].norm()) < np.inf:
        raise ArgumentError(f"the start state has norm {size}: give another one, or none")
    tensors[0] = tensors[0] * (1 / size)
    return tensors


def to_left(tensors: list[SymTensor], site: int) -> None:
    """Move the centre from a site to the one left of it."""
    isometry, rest = qr(tensors[site].conj().transpose(1, 2, 0), 2)  # s b | bond, and bond | a
    tensors[site] = isometry.conj().transpose(2, 0, 1)
    tensors[site - 1] = tensordot(tensors[site - 1], rest.conj(), ([2], [1]))
