"""The density matrix renormalisation group: when sweeps of two sites and of one (`qad.mps.search.sweeps`) end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.mps.search.sweeps import OneSite, TwoSites

if TYPE_CHECKING:
    from qad.mps.operators.mpo import MPO
    from qad.mps.search.monitor import Watch
    from qad.mps.search.penalty import Excluded
    from qad.mps.search.sweeps import Sweeps

MOST_PRODUCTS = 192  # of the effective operator, per step, where local problems are not solved
COARSE = 1e-6  # relative gain of a sweep of two sites below which single sites go on
FINE = 1e-8  # error of the energy at which their first local problems are solved


def one_site(H: MPO, watch: Watch, bond: int, tol: float, excluded: Excluded) -> None:
    """Sweeps of one site at a time, whose bonds grow."""
    finish(OneSite(H, watch.state, bond, excluded), watch, tol)


def two_sites(H: MPO, watch: Watch, bond: int, tol: float, excluded: Excluded) -> None:
    """Sweeps of two sites at a time while they gain, then of one site, which needs no truncation, to the optimum."""
    if len(H) > 1 and not watch.extra.get("polishing"):
        coarsely(TwoSites(H, watch.state, bond, excluded), watch, max(tol, COARSE))
    polish = OneSite(H, watch.state, bond, excluded)
    polish.mixing, polish.polishing, polish.tolerance = 0.0, 1.0, FINE
    finish(polish, watch, tol)


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
    watch.extra = {}


def finish(sweeps: Sweeps, watch: Watch, tol: float) -> None:
    """Sweep until nothing grows or is left to gain, more products for unsolved problems; the end is an exception."""
    begin(sweeps, watch)
    while True:
        if one_sweep(sweeps, watch) and watch.settled(tol):
            if sweeps.settled(tol):
                watch.converge(f"the last sweep gained {watch.gained():.1e} of the energy")
            if sweeps.left_over > sweeps.used:
                sweeps.products = min(2 * sweeps.products, MOST_PRODUCTS)
