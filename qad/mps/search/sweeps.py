"""Sweeps of the density matrix renormalisation group: a centre moves along the chain, and each step lowers the energy.

S. R. White, PRL 69, 2863 (1992); as sweeps over matrix product states U. Schollwöck, Ann. Phys. 326, 96 (2011),
section 6.  Bonds grow, and sectors open, by a mixer: what the operator makes of the centre is mixed into its density
matrix, ever more weakly (C. Hubig et al., PRB 91, 155115 (2015)).  Tensors are plain arrays or symmetric tensors.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import like
from qad.linalg.krylov.lanczos import lowest
from qad.linalg.support.random import normal
from qad.linalg.truncation import rule
from qad.mps.chain.canonical import move_left, move_right
from qad.mps.kernels.operators import kernel_for
from qad.mps.search.local import lowest_of_two
from qad.mps.search.monitor import ROUNDING
from qad.mps.search.penalty import Penalty
from qad.rules.making.devices import to_device
from qad.showing.progress import tick
from qad.symmetric import generic
from qad.symmetric.generic import as_map, join, laid_out, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.kernels.terms import Apply
    from qad.mps.operators.mpo import MPO
    from qad.mps.search.penalty import Excluded

TIGHTEST = 1e-18  # error of the energy at which a local problem is solved at last
DISCARDED = 1e-14  # weight per step that is cut off in any case
SITE_BOND = 8  # the bond of the first sweep of single sites
GROWTH = 2  # of bonds at least, from sweep to sweep, until they are what was asked for


class SweepSchedule(NamedTuple):
    """How sweeps begin and go on, by how dear a product with the effective operator is beside what a step does once.

    Where products cost little, local problems are solved finely from the first sweep on, and there are few sweeps.
    """

    bond: int  # of the first sweep of pairs, for each state of a site
    growth: int  # of it from sweep to sweep, over the states of a site: pairs of few states cost little
    products: int  # per step; more where local problems are not solved
    loosest: float  # errors of the energy, relative, at which a local problem is solved in the first sweep
    share: float  # of what the last sweep gained: such errors thereafter
    of_cut: float  # of what pairs of the largest bond cut off: finer would not pay, and would choose sectors too early
    pair_mixing: tuple[float, float, float, float]  # mixed in at first; from sweep to sweep, growing or not; the least
    site_mixing: tuple[float, float, float, float]
    isometric: bool  # single sites without a mixer keep their bonds; else these lose what carries no weight


DENSE = SweepSchedule(4, 4, 12, 1e-4, 1e-2, 0.0, (0.0, 0.0, 0.0, 1.0), (1e-3, 0.5, 0.1, 1e-12), isometric=False)
CHARGED = SweepSchedule(16, 8, 20, 1e-10, 1e-4, 0.1, (1e-3, 0.1, 1e-2, 1e-5), (0.1, 0.5, 0.3, 1e-8), isometric=True)


class Sweeps:
    """A state with a centre that moves; every step replaces it by the ground state of its effective operator.

    Parameters
    ----------
    H : MPO
    start : MPS
        Open.
    bond : int
        Largest bond dimension.
    excluded : Excluded, optional
        States, and what a squared overlap with them costs.

    Attributes
    ----------
    energy : float
        Of the last local problem, or of the state that a sweep has left; terms of the operator are of order 1.
    tolerance, used : float
        Errors of the energy at which local problems are solved, in the next sweep and in the last one.
    products : int
        Of the effective operator, at most, per local problem.
    left_over : float
        Largest error of the energy that a local problem of the last sweep was left with.
    cut : float
        Largest weight that a step of this sweep has cut off.
    noise : float
        Norm of what is added to a centre of norm 1 before it is improved; it leads out of every sector.
    rng : numpy.random.Generator
        Of the noise.
    closely : int
        Number of the local problem in which close levels are resolved; counted down.
    filled : int
        Directions that a bond keeps at least, also of no weight.
    """

    REMEMBERED: ClassVar[tuple[str, ...]] = ("bond", "tolerance", "mixing", "polishing")  # what a checkpoint keeps
    size: int  # of the centre, in sites
    polishing: float = 0.0
    noise: float = 0.0
    rng: np.random.Generator
    closely: int = 0
    filled: int = 0
    cut: float = 0.0

    def __init__(self, H: MPO, start: Any, bond: int, excluded: Excluded):
        self.start: Any = start
        self.schedule: SweepSchedule = CHARGED if start.conserved is not None else DENSE
        self.most: int = bond
        pairs = self.size == 2
        self.mixings: Sequence[float] = self.schedule.pair_mixing if pairs else self.schedule.site_mixing
        self.mixing: float = self.mixings[0]
        d = max(start.phys)
        first, growth = (self.schedule.bond * d, self.schedule.growth // d) if pairs else (SITE_BOND, GROWTH)
        self.growth: int = max(growth, GROWTH)
        self.bond: int = min(bond, max(first, start.bond))
        dtype = np.result_type(start.dtype, H.dtype, *[state.dtype for state in excluded.states])
        self.tensors: list[Any] = right_canonical([t.astype(dtype) for t in start])
        self.kernel: Any = kernel_for(start, H, dtype)
        n = len(self.tensors)
        begin, end = self.kernel.edges(self.tensors)
        self.left: list[Any] = [begin] * n
        self.right: list[Any] = [end] * n
        self.penalty: Penalty = Penalty(excluded, self.tensors)
        for site in reversed(range(1, n)):
            self.pass_left(site)
        self.energy: float = self.expectation()
        self.first_energy: float = self.energy
        self.tolerance: float = self.schedule.loosest * max(abs(self.energy), 1.0)
        self.products: int = self.schedule.products
        self.used: float = 0.0
        self.left_over: float = 0.0

    @property
    def state(self) -> Any:
        """The present state, its centre at site 0 between sweeps."""
        return self.start._made_of(self.tensors)

    @property
    def growing(self) -> bool:
        """Whether the next sweep may use larger bonds than the last one, or mixes something in."""
        return self.bond < self.most or self.mixing > 0

    @property
    def keeps_bonds(self) -> bool:
        """Whether the centre moves on without a cut."""
        return self.size == 1 and self.schedule.isometric and not self.mixing

    def expectation(self, site: int = 0) -> float:
        """The energy of the present state, its centre at this site."""
        apply, centre = self.kernel.effective(site, 1, self.left[site], self.right[site], self.tensors[site])
        x = numbers(centre)
        return float(np.vdot(x, self.penalty.added(apply, centre, site)(x)).real / np.vdot(x, x).real)

    def pass_right(self, site: int) -> None:
        """The centre moves on to the right, and leaves an isometry behind."""
        if site + 1 < len(self.tensors):
            self.left[site + 1] = self.kernel.past_left(self.left[site], site, self.tensors[site])
            self.penalty.pass_right(site, self.tensors[site])

    def pass_left(self, site: int) -> None:
        """The centre moves on to the left, and leaves an isometry behind."""
        self.right[site - 1] = self.kernel.past_right(self.right[site], site, self.tensors[site])
        self.penalty.pass_left(site, self.tensors[site])

    def sweep(self) -> float:
        """To the right end and back; returns the energy of the state that is left."""
        before, growing = self.energy, self.bond < self.most
        self.used, self.left_over, self.cut = self.tolerance, 0.0, 0.0
        self.to_right()
        self.to_left()
        self.energy = self.expectation()
        gain = max(before - self.energy, 0.0)
        self.tolerance = float(np.clip(self.schedule.share * gain, TIGHTEST, self.tolerance))
        if self.size == 2 and not growing:
            self.tolerance = max(self.tolerance, self.schedule.of_cut * self.cut * max(abs(self.energy), 1.0))
        self.mixing *= self.mixings[1 if growing else 2]
        self.mixing = self.mixing if self.mixing > self.mixings[3] else 0.0
        self.bond = min(self.growth * self.bond, self.most)
        return self.energy

    def to_right(self) -> None:
        """Step over every bond, from the left end on."""
        for site in range(len(self.tensors) - 1):
            self.step_right(site)

    def to_left(self) -> None:
        """Step over every bond, back to the left end."""
        for site in reversed(range(1, len(self.tensors))):
            self.step_left(site)
        if self.size == 1:
            self.tensors[0] = self.improved(0)

    def improved(self, site: int) -> Any:
        """The best centre whose first site is this one."""
        end = site + self.size
        centre = reduce(join, self.tensors[site:end])
        apply, centre = self.kernel.effective(site, self.size, self.left[site], self.right[end - 1], centre)
        found = self.lowest(self.penalty.added(apply, centre, site), numbers(centre))
        return laid_out(generic.with_numbers(centre, found), 2)

    def lowest(self, apply: Apply, centre: np.ndarray) -> np.ndarray:
        """The ground state of an effective operator, sought from the centre."""
        tick()
        if self.noise:
            drawn = normal(self.rng, centre.shape, np.result_type(centre.dtype, np.float64)).astype(centre.dtype)
            centre, random = (x / np.linalg.norm(x) for x in (centre, like(centre).asarray(drawn)))
            self.closely -= 1
            if self.closely == 0:
                return lowest_of_two(apply, centre, random, self.tolerance)
            centre = centre + self.noise * random
        self.energy, vector, error = lowest(apply, centre, self.tolerance, self.products)
        self.left_over = max(self.left_over, error)
        return vector

    def settled(self, tol: float) -> bool:
        """Whether the last sweep solved local problems finely enough for the energy to be judged."""
        return self.left_over <= max(tol, ROUNDING) * max(abs(self.energy), 1.0)

    def step_right(self, site: int) -> None:
        """Improve the centre that begins here; its first site becomes an isometry from its right bond."""
        centre = self.improved(site)
        if self.keeps_bonds:
            self.tensors[site] = centre
            move_right(self.tensors, site)
        else:
            behind = tuple(range(2, centre.ndim))
            density = join(centre, centre.conj(), (behind, behind))
            if self.mixing:
                density = mixed(density, self.kernel.mixed_left(site, self.left[site], centre), self.mixing)
            self.tensors[site] = self.principal(density)
            rest = join(self.tensors[site].conj(), centre, ((0, 1), (0, 1)))
            self.tensors[site + 1] = laid_out(rest if self.size == 2 else join(rest, self.tensors[site + 1]), 2)
        self.pass_right(site)

    def step_left(self, site: int) -> None:
        """Improve the centre that ends here; its last site becomes an isometry from its left bond."""
        centre = self.improved(site + 1 - self.size)
        if self.keeps_bonds:
            self.tensors[site] = centre
            move_left(self.tensors, site)
        else:
            ahead = tuple(range(centre.ndim - 2))
            density = join(centre.conj(), centre, (ahead, ahead))  # of the conjugate: so flows are those of a bond
            if self.mixing:
                density = mixed(density, self.kernel.mixed_right(site, self.right[site], centre), self.mixing)
            kept = self.principal(density)  # s b | bond
            self.tensors[site] = laid_out(kept.conj().transpose(2, 0, 1), 1)
            rest = join(centre, kept, ((centre.ndim - 2, centre.ndim - 1), (0, 1)))
            self.tensors[site - 1] = laid_out(rest if self.size == 2 else join(self.tensors[site - 1], rest), 2)
        self.pass_left(site)

    def principal(self, density: Any) -> Any:
        """An orthonormal basis of the most important directions of a density matrix, legs (rows, bond)."""
        where, matrices = as_map(density, 2)
        pairs = [np.linalg.eigh(matrix) for matrix in matrices]
        weights = [values[::-1] for values in to_device([values for values, _ in pairs], "cpu")]
        kept = rule.kept(weights, self.bond, DISCARDED, squared=True)
        if sum(kept) < self.filled:
            kept = rule.kept(weights, min(self.filled, self.bond), squared=True)
        lost = sum(values[k:].sum() for values, k in zip(weights, kept, strict=True))
        self.cut = max(self.cut, float(lost / sum(values.sum() for values in weights)))
        halves = [vectors[:, vectors.shape[1] - k :] for (_, vectors), k in zip(pairs, kept, strict=True)]
        return laid_out(generic.rows_and_bond(where, halves), 2)


class TwoSites(Sweeps):
    """Pairs of neighbours; the bond between them is chosen anew from their density matrix."""

    size = 2


class OneSite(Sweeps):
    """Single sites, whose bonds grow by what is mixed in, and stay as they are where nothing is."""

    size = 1


def mixed(density: Any, more: Any, mixing: float) -> Any:
    """A density matrix with a little of another one."""
    weight = sum(matrix.trace().real for matrix in as_map(more, 2)[1])
    return laid_out(density, 2) + laid_out(more, 2) * (mixing / weight) if weight > 0 else density


def right_canonical(tensors: Sequence[Any]) -> list[Any]:
    """The same state, normalised, its centre at site 0."""
    tensors = list(tensors)
    for site in reversed(range(len(tensors))):
        if not 0 < (size := generic.norm(tensors[site])) < np.inf:
            raise ArgumentError(f"the start state has norm {size}: give another one, or none")
        tensors[site] = tensors[site] * (1 / size)
        if site:
            move_left(tensors, site)
    return tensors
