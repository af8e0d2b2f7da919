"""The density matrix renormalisation group: one or two sites at a time are replaced by their ground state.

S. R. White, PRL 69, 2863 (1992); as sweeps over matrix product states U. Schollwöck, Ann. Phys. 326, 96 (2011),
section 6.  Single sites grow their bonds by C. Hubig et al., PRB 91, 155115 (2015).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import like
from qad.mps.canonical import schmidt_form
from qad.mps.environments import Environments
from qad.mps.search.local import Solving
from qad.mps.search.penalty import Penalty
from qad.mps.state import MPS

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.mps.effective import Apply
    from qad.mps.operator import MPO
    from qad.mps.search.monitor import Watch
    from qad.mps.search.result import Excluding

FIRST_BOND = 8  # a sweep may double it until the bond that was asked for
FEW_PRODUCTS, MOST_PRODUCTS = 12, 192  # of the effective operator, per step; more where local problems are not solved
LOOSEST, TIGHTEST = 1e-4, 1e-18  # errors of the energy at which a local problem is solved
DISCARDED = 1e-14  # weight per step that is cut off in any case
FIRST_MIXING, LEAST_MIXING = 1e-3, 1e-12
COARSE = 1e-8  # relative gain of a sweep of two sites below which single sites go on


def one_site(H: MPO, watch: Watch, bond: int, tol: float, excluded: Excluding) -> None:
    """Sweeps of one site at a time."""
    run(OneSite(H, watch.state, bond, excluded), watch, tol)
    watch.converge(f"the last sweep gained {watch.gained():.1e} of the energy")


def two_sites(H: MPO, watch: Watch, bond: int, tol: float, excluded: Excluding) -> None:
    """Sweeps of two sites at a time while they gain, then of one site, which needs no truncation, to the optimum."""
    if len(H) > 1 and not watch.extra.get("polishing"):
        coarsely(TwoSites(H, watch.state, bond, excluded), watch, max(tol, COARSE))
    polish = OneSite(H, watch.state, bond, excluded)
    polish.mixing, polish.polishing, polish.tolerance = 0.0, 1.0, COARSE
    run(polish, watch, tol)
    watch.converge(f"the last sweep gained {watch.gained():.1e} of the energy")


def begin(sweeps: Sweeps, watch: Watch) -> None:
    """Note the first energy; after a restart restore the energies that sweeps remember."""
    watch.begin(sweeps.first_energy)
    for name in sweeps.REMEMBERED:
        setattr(sweeps, name, watch.extra.get(name, getattr(sweeps, name)))


def one_sweep(sweeps: Sweeps, watch: Watch) -> bool:
    """Sweep once, and tell of it; returns whether no larger bonds are allowed in the next sweep."""
    full = not sweeps.growing
    energy = sweeps.sweep()
    watch.nfev += 1
    watch.extra = {name: getattr(sweeps, name) for name in sweeps.REMEMBERED}
    watch.step(sweeps.state, energy)
    return full


def coarsely(sweeps: Sweeps, watch: Watch, tol: float) -> None:
    """Sweep until nothing grows and little is gained any more, be it that truncation takes it away again."""
    begin(sweeps, watch)
    while not (one_sweep(sweeps, watch) and watch.gained() <= tol):
        pass


def run(sweeps: OneSite, watch: Watch, tol: float) -> None:
    """Sweep until nothing grows and nothing is left to gain; local problems that are not solved get more products."""
    begin(sweeps, watch)
    while True:
        if one_sweep(sweeps, watch) and watch.settled(tol):
            if sweeps.settled(tol):
                return
            if sweeps.left_over > sweeps.used:
                sweeps.products = min(2 * sweeps.products, MOST_PRODUCTS)


class Sweeps(Solving):
    """A state with a centre that moves; every step lowers the energy.

    Parameters
    ----------
    H : MPO
    start : MPS
        Open.
    bond : int
        Largest bond dimension.
    excluded : Excluded
        States, and what a squared overlap with them costs.
    """

    REMEMBERED = ("bond", "tolerance")  # what a checkpoint keeps
    used: float
    left_over: float

    def __init__(self, H: MPO, start: MPS, bond: int, excluded: Excluding):
        state, _ = schmidt_form(start)
        self.tensors: list[np.ndarray] = list(state)
        dtype = np.result_type(state.dtype, H.dtype, *(other.dtype for other in excluded.states))
        self.tensors = [t.astype(dtype) for t in self.tensors]
        self.most: int = bond
        self.bond: int = min(bond, max(FIRST_BOND, state.bond))
        self.environments: Environments = Environments(H, self.tensors, dtype)
        self.penalty: Penalty = Penalty(excluded, self.tensors)
        self.first_energy: float = self.expectation(self.environments.one_site(0, state[0].shape))
        self.energy: float = self.first_energy
        self.tolerance: float = LOOSEST
        self.discarded: float = 0.0
        self.products: int = FEW_PRODUCTS

    def expectation(self, apply: Apply) -> float:
        """The energy of the present state, its centre at site 0."""
        centre = self.tensors[0].reshape(-1)
        return np.vdot(centre, self.penalty.added(apply, (0, 1))(centre)).real / np.vdot(centre, centre).real

    @property
    def state(self) -> MPS:
        """The present state, its centre at site 0 between sweeps."""
        return MPS(self.tensors)

    def sweep(self) -> float:
        """To the right end and back; returns the energy of the state that is left."""
        before, self.discarded, self.used, self.left_over = self.energy, 0.0, self.tolerance, 0.0
        self.to_right()
        self.to_left()
        gain = max(before - self.energy, 0.0)
        self.tolerance = float(np.clip(0.01 * gain, TIGHTEST, self.tolerance))
        self.bond = min(2 * self.bond, self.most)
        return self.energy

    @property
    def growing(self) -> bool:
        """Whether the next sweep may use larger bonds than the last one."""
        return self.bond < self.most

    def solve(self, apply: Apply, centre: np.ndarray, shape: tuple[int, ...], at: tuple[int, int]) -> np.ndarray:
        """Replace the centre by the ground state of its effective operator."""
        return self.lowest(self.penalty.added(apply, at), centre.reshape(-1)).reshape(shape)


class TwoSites(Sweeps):
    """Pairs of neighbours; the bond between them is chosen anew from their density matrix."""

    discarded: float

    def sweep(self) -> float:
        energy = super().sweep()  # of pairs, before their bonds are truncated
        if self.discarded > DISCARDED:
            energy = self.expectation(self.environments.one_site(0, self.tensors[0].shape))
        return energy

    def to_right(self) -> None:
        for site in range(len(self.tensors) - 1):
            pair = self.improved(site)
            rows = pair.reshape(pair.shape[0] * pair.shape[1], -1)
            kept = self.principal(rows)
            self.tensors[site] = kept.reshape(*pair.shape[:2], -1)
            self.tensors[site + 1] = (kept.conj().T @ rows).reshape(-1, *pair.shape[2:])
            self.environments.pass_right(site, self.tensors[site])
            self.penalty.pass_right(site, self.tensors[site])

    def to_left(self) -> None:
        for site in reversed(range(len(self.tensors) - 1)):
            pair = self.improved(site)
            rows = pair.reshape(pair.shape[0] * pair.shape[1], -1)
            kept = self.principal(rows.T).T
            self.tensors[site + 1] = kept.reshape(-1, *pair.shape[2:])
            self.tensors[site] = (rows @ kept.conj().T).reshape(*pair.shape[:2], -1)
            self.environments.pass_left(site + 1, self.tensors[site + 1])
            self.penalty.pass_left(site + 1, self.tensors[site + 1])

    def improved(self, site: int) -> np.ndarray:
        """The best pair of tensors, legs (a, s, t, b)."""
        pair = np.tensordot(self.tensors[site], self.tensors[site + 1], 1)
        return self.solve(self.environments.two_sites(site, pair.shape), pair, pair.shape, (site, site + 2))

    def principal(self, rows: np.ndarray) -> np.ndarray:
        """An orthonormal basis of the rows' most important directions, as columns."""
        values, vectors = np.linalg.eigh(rows @ rows.conj().T)
        kept = int(np.count_nonzero(np.cumsum(values) > DISCARDED * values.sum()))
        kept = max(1, min(max(kept, self.filled), self.bond, *rows.shape))
        self.discarded = max(self.discarded, 1 - values[-kept:].sum() / values.sum())
        return like(vectors).ascontiguousarray(vectors[:, -kept:])


class OneSite(Sweeps):
    """Single sites; bonds grow by what the effective operator couples to, mixed in ever more weakly."""

    REMEMBERED = (*Sweeps.REMEMBERED, "mixing", "polishing")
    mixing: float = FIRST_MIXING
    polishing: float = 0.0

    def sweep(self) -> float:
        growing = self.growing
        super().sweep()
        self.mixing *= 0.5 if growing else 0.1
        return self.energy

    def settled(self, tol: float) -> bool:
        return super().settled(tol) and self.mixing <= LEAST_MIXING

    def to_right(self) -> None:
        for site in range(len(self.tensors)):
            centre = self.improved(site)
            if site + 1 == len(self.tensors):
                self.tensors[site] = centre
                break
            left, phys, right = centre.shape
            rows = centre.reshape(-1, right)
            kept = self.principal(rows, self.reached_left, site)
            self.tensors[site] = kept.reshape(left, phys, -1)
            self.tensors[site + 1] = np.tensordot(kept.conj().T @ rows, self.tensors[site + 1], 1)
            self.environments.pass_right(site, self.tensors[site])
            self.penalty.pass_right(site, self.tensors[site])

    def to_left(self) -> None:
        for site in reversed(range(len(self.tensors))):
            centre = self.improved(site)
            if site == 0:
                self.tensors[site] = centre
                break
            left, phys, right = centre.shape
            rows = centre.reshape(left, -1).T
            kept = self.principal(rows, self.reached_right, site).T
            self.tensors[site] = kept.reshape(-1, phys, right)
            self.tensors[site - 1] = np.tensordot(self.tensors[site - 1], rows.T @ kept.conj().T, 1)
            self.environments.pass_left(site, self.tensors[site])
            self.penalty.pass_left(site, self.tensors[site])

    def reached_left(self, site: int, rows: np.ndarray) -> np.ndarray:
        """What the effective operator of a site and all sites left of it makes of the centre, legs (a s, v b)."""
        return (self.environments.before(site) @ rows).reshape(len(rows), -1)

    def reached_right(self, site: int, rows: np.ndarray) -> np.ndarray:
        """What the effective operator of a site and all sites right of it makes of the centre, legs (s b, v a)."""
        block = self.environments.after(site)  # (v s b, s' b')
        reached = rows.T @ block.reshape(-1, len(rows), block.shape[1])
        return reached.reshape(-1, block.shape[1]).T

    def improved(self, site: int) -> np.ndarray:
        """The best centre, legs (a, s, b)."""
        shape = self.tensors[site].shape
        return self.solve(self.environments.one_site(site, shape), self.tensors[site], shape, (site, site + 1))

    def principal(self, rows: np.ndarray, reached: Callable[[int, np.ndarray], np.ndarray], site: int) -> np.ndarray:
        """An orthonormal basis of the most important directions of `rows`, and weakly of what H makes of them.

        ``reached(site, rows)`` is asked for the latter, unless nothing is mixed in any more.
        """
        density = rows @ rows.conj().T
        if self.mixing > LEAST_MIXING:
            more = reached(site, rows)
            more = more @ more.conj().T
            density = density + (self.mixing / np.trace(more).real) * more
        values, vectors = np.linalg.eigh(density)
        kept = int(np.count_nonzero(np.cumsum(values) > DISCARDED * values.sum()))
        return like(vectors).ascontiguousarray(vectors[:, -max(1, min(kept, self.bond)) :])
