"""Ground states of definite charge, and excited ones."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.threads import blas_for
from qad.mps.conserving.exchange import Exchanging
from qad.mps.conserving.excluded import Excluded
from qad.mps.conserving.gauge import schmidt_form
from qad.mps.conserving.growing import Growing
from qad.mps.conserving.isometric import SymmetricChain, weighted
from qad.mps.conserving.make import random_state
from qad.mps.conserving.observables import energy, operator_for
from qad.mps.conserving.quantities import check_no_vacuum, conserved_by
from qad.mps.conserving.state import SymmetricMPS
from qad.mps.conserving.sweeps import OneSite, TwoSites
from qad.mps.energy import prepared
from qad.mps.hamiltonian import of_order_one
from qad.mps.operator import MPO
from qad.mps.search import imaginary
from qad.mps.search.converged import until_converged
from qad.mps.search.dmrg import COARSE, MOST_PRODUCTS, begin, one_sweep
from qad.mps.search.lbfgs import lbfgs
from qad.mps.search.monitor import Watch
from qad.mps.search.pieces import moved_by, way_out
from qad.mps.search.result import GroundState
from qad.mps.search.riemannian import riemannian
from qad.optimize.progress import bar_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.mps.conserving.quantities import Names
    from qad.mps.conserving.sweeps import Sweeps
    from qad.mps.search.checkpoint import Checkpoint
    from qad.typing import DTypeLike, Function, Seed

SMALL = 8  # bond of a random start of those methods that grow it
GRADIENTS = ("lbfgs", "riemannian")  # keep their bonds, and start from full ones


def ground_state(
    H: MPO,
    bond: int,
    method: str,
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
    excluded: Sequence[SymmetricMPS],
    weight: float | None,
    file: Checkpoint | None,
) -> GroundState:
    """The lowest state of a sector, or the one above those that are excluded; see `qad.mps.ground_state`."""
    start = begun(H, bond if method in GRADIENTS else min(bond, SMALL), conserve, sector, start, dtype, seed)
    if any(state.dtype.kind == "c" for state in excluded) and start.dtype.kind == "f":
        start = start * (1 + 0j)  # the complement of complex states is complex
    operator_for(start, H)
    prepared(H)
    if file is not None:
        file.of_sector(start)
    with blas_for(max(bond, start.bond)), bar_for(progress, "energy") as bar:
        tensors, unit = of_order_one(H.tensors)  # by a power of 2, so that nothing is rounded
        scaled = H if unit == 1 else MPO(tensors)
        watch = Watch(start, callback, file, bar, maxiter, unit=unit)
        watch.resume()
        search(method, scaled, watch, bond, tol, excluded_of(excluded, weight, start, scaled, unit))
    state = SymmetricMPS(schmidt_form(watch.state.tensors)[0], start.conserved)
    value = float(energy(state, scaled))
    spread = (float(energy(state, scaled @ scaled)) - value**2) * unit * unit
    value, slope = value * unit, watch.gradient_norm * unit
    history = np.array(watch.history)
    return GroundState(state, value, spread, history, slope, watch.converged, watch.message, watch.nfev, method)


def search(method: str, H: MPO, watch: Watch, bond: int, tol: float, excluded: Excluded) -> None:
    """Run a method until it has converged, or the user or the number of steps ends it."""

    def sweeps(kind: type[Sweeps], H: MPO, state: SymmetricMPS) -> Sweeps:
        most = watch.state.bond if method in GRADIENTS else bond
        return kind(operator_for(state, H), state, most, excluded)

    run = partial(METHODS[method], H, watch, bond, tol, excluded)
    group, conserved = watch.state.conserved.symmetry, watch.state.conserved
    moves = [moved_by(charges, group.minus) for charges in conserved.charges]
    anew = way_out(H, moves, partial(group.minus, group.neutral), partial(sweeps, TwoSites))
    pairs, sites, exchanging = (partial(sweeps, kind, H) for kind in (TwoSites, OneSite, Exchanging))
    until_converged(run, watch, tol, excluded, pairs, sites, anew, exchanging)


def two_sites(H: MPO, watch: Watch, bond: int, tol: float, excluded: Excluded) -> None:
    """Sweeps of two sites at a time while they gain, then of one site, which needs no truncation, to the optimum."""
    operator = operator_for(watch.state, H)
    if len(H) > 1 and not watch.extra.get("polishing"):
        sweeps = TwoSites(operator, watch.state, bond, excluded)
        begin(sweeps, watch)
        while not (one_sweep(sweeps, watch) and watch.gained() <= max(tol, COARSE)):
            pass
        watch.extra = {}
    polish = OneSite(operator, watch.state, bond, excluded)
    polish.tolerance = COARSE
    finish(polish, watch, tol)


def one_site(H: MPO, watch: Watch, bond: int, tol: float, excluded: Excluded) -> None:
    """Sweeps of one site at a time, whose bonds grow."""
    finish(Growing(operator_for(watch.state, H), watch.state, bond, excluded), watch, tol)


def finish(sweeps: Sweeps, watch: Watch, tol: float) -> None:
    """Sweep until nothing grows and nothing is left to gain; the end is told by an exception."""
    begin(sweeps, watch)
    while not (one_sweep(sweeps, watch) and watch.settled(tol) and sweeps.settled(tol)):
        if sweeps.left_over > sweeps.used:
            sweeps.products = min(2 * sweeps.products, MOST_PRODUCTS)
    watch.converge(f"the last sweep gained {watch.gained():.1e} of the energy")


def by_lbfgs(H: MPO, watch: Watch, bond: int, tol: float, excluded: Excluded) -> None:
    """L-BFGS on all site tensors; probes open sectors."""
    lbfgs(H, watch, bond, tol, excluded, weighted)


def by_riemannian(H: MPO, watch: Watch, bond: int, tol: float, excluded: Excluded) -> None:
    """L-BFGS on isometric chains; probes open sectors."""
    riemannian(H, watch, bond, tol, excluded, SymmetricChain)


METHODS: dict[str, Function] = {
    "dmrg2": two_sites,
    "dmrg": one_site,
    "lbfgs": by_lbfgs,
    "riemannian": by_riemannian,
    "tebd": imaginary.tebd,
    "tdvp": imaginary.tdvp,
}


def excluded_of(
    states: Sequence[SymmetricMPS], weight: float | None, start: SymmetricMPS, H: MPO, unit: float
) -> Excluded:
    """The states to stay orthogonal to; by default an overlap costs ten times the largest energy per site."""
    found = Excluded(states, 0.0, start)
    if weight is None:
        weight = 10 * unit * max([1.0, *(abs(float(energy(state, H))) / len(H) for state in found.states)])
    if not weight > 0:
        raise ArgumentError(f"weight must be positive, but got {weight!r}")
    found.weight = weight / unit
    return found


def begun(
    H: MPO, bond: int, conserve: Names | None, sector: object, start: SymmetricMPS | None, dtype: DTypeLike | None,
    seed: Seed,
) -> SymmetricMPS:  # fmt: skip
    """The state that a search starts from."""
    if start is None:
        conserved = conserved_by(H, conserve)
        if sector is None:
            check_no_vacuum(conserved)
        kind = H.dtype if dtype is None else dtype
        total = conserved.symmetry.neutral if sector is None else conserved.sector(sector)
        return random_state(bond, conserved, conserved.symmetry.shown(total), np.dtype(kind), seed)
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
