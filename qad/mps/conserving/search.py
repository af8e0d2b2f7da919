"""Ground states of definite charge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.threads import blas_for
from qad.mps.conserving.make import random_state
from qad.mps.conserving.observables import energy, operator_for
from qad.mps.conserving.quantities import quantities, sites_of_dimension
from qad.mps.conserving.state import SymmetricMPS
from qad.mps.conserving.sweeps import OneSite, TwoSites
from qad.mps.search.dmrg import COARSE
from qad.mps.search.monitor import Watch, until_finished
from qad.mps.search.result import GroundState
from qad.optimize.progress import bar_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.mps.conserving.environments import Operator
    from qad.mps.conserving.quantities import Names, Quantities
    from qad.mps.conserving.sweeps import Sweeps
    from qad.mps.operator import MPO
    from qad.typing import DTypeLike, Seed

SMALL = 8  # bond of a random start


def ground_state(
    H: MPO,
    bond: int,
    conserve: Names | None,
    sector: object,
    start: SymmetricMPS | None,
    *,
    seed: Seed,
    dtype: DTypeLike | None,
    progress: bool,
    tol: float,
    maxiter: int,
    callback: Callable[[SymmetricMPS, float], object] | None,
) -> GroundState:
    """The lowest state of a sector, by sweeps of two sites while they gain, then of one; see `qad.mps.ground_state`."""
    start = begun(H, bond, conserve, sector, start, dtype, seed)
    operator = operator_for(start, H)
    with blas_for(max(bond, start.bond)), bar_for(progress, "energy") as bar:
        watch = Watch(start, callback, None, bar, maxiter)
        with until_finished(watch):
            search(operator, watch, bond, tol)
    value = float(energy(watch.state, H))
    spread = float(energy(watch.state, H @ H)) - value**2
    return GroundState(
        watch.state, value, spread, np.array(watch.history), np.nan, watch.converged, watch.message, watch.nfev
    )


def search(operator: Operator, watch: Watch, bond: int, tol: float) -> None:
    """Sweep until nothing is left to gain; the end is told by an exception."""
    if len(operator.tensors) > 1:
        sweeps: Sweeps = TwoSites(operator, watch.state, bond)
        watch.begin(sweeps.first_energy)
        while not (one_sweep(sweeps, watch) and watch.gained() <= max(tol, COARSE)):
            pass
    sweeps = OneSite(operator, watch.state, bond)
    sweeps.tolerance = COARSE
    watch.begin(sweeps.first_energy)
    while not (one_sweep(sweeps, watch) and watch.settled(tol) and sweeps.settled(tol)):
        if sweeps.left_over > sweeps.used:
            sweeps.products = min(2 * sweeps.products, 192)
    watch.converge(f"the last sweep gained {watch.gained():.1e} of the energy")


def one_sweep(sweeps: Sweeps, watch: Watch) -> bool:
    """Sweep once, and tell of it; returns whether no larger bonds were allowed in it than in the one to come."""
    full = not sweeps.growing
    energy = sweeps.sweep()
    watch.nfev += 1
    watch.step(sweeps.state, energy)
    return full


def begun(H, bond, conserve, sector, start, dtype, seed) -> SymmetricMPS:
    """The state that a search starts from."""
    if start is None:
        conserved = conserved_by(H, conserve)
        kind = H.dtype if dtype is None else dtype
        total = conserved.symmetry.neutral if sector is None else conserved.sector(sector)
        return random_state(min(bond, SMALL), conserved, conserved.symmetry.shown(total), np.dtype(kind), seed)
    if not isinstance(start, SymmetricMPS):
        raise ArgumentError(
            "a search that conserves charges starts from a state that does: "
            "qad.mps.MPS.product(..., conserve=...) or MPS.random(..., conserve=..., sector=...)"
        )
    names = (conserve,) if isinstance(conserve, str) else tuple(conserve or start.conserved.names)
    if names != start.conserved.names:
        raise ArgumentError(
            f"conserve={conserve!r}, but the start state conserves {start.conserved.names}: say the same"
        )
    if sector is not None and start.conserved.sector(sector) != start.conserved.sector(start.sector):
        raise ArgumentError(f"sector={sector!r}, but the start state lies in the sector {start.sector}: leave one out")
    return start


def conserved_by(H: MPO, conserve: Names) -> Quantities:
    """What an operator is to conserve, by the sites that it stands on; spins 1/2 where it does not say."""
    sites, dims = H.sites, [w.shape[2] for w in H]
    if sites is None and set(dims) != {2}:
        raise ArgumentError(
            "the operator does not say what stands on its sites: make it by qad.mps.OpSum, or give a start state, "
            "qad.mps.MPS.random(..., conserve=..., sites=...)"
        )
    return quantities(conserve, sites_of_dimension(dims) if sites is None else sites)
