"""Steady states of Lindblad equations: evolution leads near them, and sweeps that minimise ``|G rho|`` to them.

The steady state is the null vector of ``G^dagger G``, whose energy sweeps of the density matrix renormalisation group
lower.  Its condition is that of G squared, with which sweeps alone creep.  So each of them is one step of a conjugate
gradient: of ``rho + a d + b p``, where d is what the sweep changed and p the last step, the one of least ``|G rho|``
follows (A. V. Knyazev, SIAM J. Sci. Comput. 23, 517 (2001)).  All norms are those of G itself: no square loses digits.

J. Cui, J. I. Cirac and M. C. Bañuls, PRL 114, 220601 (2015).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.core.process.threads import blas_for
from qad.keywords import keywords_told
from qad.mps.chain.chain import site_count
from qad.mps.chain.checks import as_operator, check_operator, operator_of
from qad.mps.chain.gauge import check_open
from qad.mps.chain.state import MPS
from qad.mps.charges.quantities import conserved_by
from qad.mps.energy.hamiltonian import of_order_one
from qad.mps.evolve.courses import Course
from qad.mps.evolve.neighbours import neighbour_terms
from qad.mps.measure.observables import overlap
from qad.mps.open.density import check_density, density_trace
from qad.mps.operators.mpo import MPO
from qad.mps.search.ground import check_searched
from qad.mps.search.monitor import Watch, until_finished
from qad.mps.search.penalty import Excluded
from qad.mps.search.sweeps import TIGHTEST, OneSite, TwoSites
from qad.optimize.result import result_card
from qad.showing.progress import bar_for
from qad.symmetric import generic
from qad.symmetric.create import from_dense
from qad.symmetric.legs import Leg

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.mps.charges.quantities import Names
    from qad.mps.operators.opsum import OpSum
    from qad.typing import Progress

METHODS = ("auto", "evolution", "variational")
STEP, TIME = 0.5, 2.0  # of the first evolution: its steps, and its time a site; terms are of order 1
FINEST = 64  # parts of the first step, below which an evolution does not go
PAIRS = 3  # sweeps of pairs, which choose the bonds, before those of single sites
WIDER = 2  # bonds of directions, over those of the state
PATIENCE, FALL = 12, 0.8  # the residual has stalled where so many sweeps leave more than this share of it
LOSES = 1e-8  # |G^dagger 1| up to which a generator keeps the trace


@dataclass(frozen=True)
class SteadyState:
    """What `steady_state` returns.

    Attributes
    ----------
    state : MPS
        A density matrix as a chain, of trace 1, for `density_measure`.
    residual : float
        ``|G rho| / |rho|``; over the smallest nonzero singular value of `G` it bounds the error of the state.
    converged : bool
        Whether the residual is as small as was asked for.
    message : str
        Why the search ended.
    history : ndarray
        Residuals at the start and after every round of an evolution, and every sweep.
    method : str
    """

    state: MPS
    residual: float = field(metadata={"static": True})
    converged: bool = field(metadata={"static": True})
    message: str = field(metadata={"static": True})
    history: np.ndarray = field(metadata={"static": True})
    method: str = field(metadata={"static": True})

    def _repr_html_(self) -> str:
        return result_card(self)


@keywords_told
def steady_state(
    G: OpSum | MPO, bond: int = 16, method: str = "auto", *, start: MPS | None = None, conserve: Names | None = None,
    tol: float = 1e-8, maxiter: int = 200, progress: Progress = None,
    callback: Callable[[MPS, float], object] | None = None,
) -> SteadyState:  # fmt: skip
    """The density matrix that a Lindblad equation leaves as it is, ``G rho = 0``.

    Parameters
    ----------
    G : OpSum or MPO
        Of `lindblad`.
    bond : int
        Largest bond dimension.
    method : str
        "auto" (default): a short evolution, and "variational" from there.
        "variational": sweeps that minimise ``|G rho|``.
        "evolution": rounds of an evolution in real time, each twice as long while the residual falls by half, and of
        steps half as long where it does not.  The slowest mode sets the time, ``n**3`` for chains driven at their ends.
    start : MPS, optional
        A density matrix to start from; default: infinite temperature.
    conserve : str or sequence of str, optional
        As of `lindblad`; those of `start` where one is given.
    tol : float
        Converged where the residual is below that, relative to the size of the terms; rounding allows about 1e-9.
    maxiter : int
        Most rounds and sweeps in all.
    progress, callback
        As of `ground_state`, told of the residual instead of the energy.

    Returns
    -------
    SteadyState
        Also where it has not converged, as with a bond that is too small for the residual that was asked for.

    Raises
    ------
    ArgumentError
        For a generator that gains or loses norm, ``tr(G rho)`` other than zero; one that does not conserve; a null
        vector that is no density matrix; or a parameter out of range.
    GradientTypeError
        Where a derivative is asked for: that of `evolve` goes through an evolution.
    ShapeError
        If `start` does not fit.

    Notes
    -----
    The state is Hermitian, and means of Hermitian operators are real, up to an error as large as that of the state.  Of
    several steady states, as strong symmetries have them, it is one that `start` has a part of, or a mixture.  Where
    `bond` is too small, the state of least ``|G rho|`` has means that may err by more than those of "evolution".

    A sweep takes ``O(n phys w**3 bond**3)`` with the bond w of `G`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> G = qad.mps.lindblad(qad.mps.OpSum(3), [(rate, name, i) for rate, name in [(0.3, "Sp"), (0.1, "Sm")]
    ...                                         for i in range(3)])
    >>> found = qad.mps.steady_state(G, bond=4)
    >>> found.converged, bool(np.allclose(qad.mps.density_measure(found.state, "Sz"), 0.25))
    (True, True)
    """
    bond, maxiter = site_count(bond, 1, "bond"), site_count(maxiter, 1, "maxiter")
    if method not in METHODS:
        raise ArgumentError(f"unknown method {method!r}: choose one of {', '.join(map(repr, METHODS))}")
    if not tol > 0:
        raise ArgumentError(f"tol must be positive, but got {tol!r}")
    L = operator_of(G, conserve) if start is None else as_operator(G, start)
    check_searched(L)
    rho = infinite_temperature(L, conserve if start is None else start.conserved and start.conserved.names)
    tensors, unit = of_order_one(L.tensors)
    L = L._made_of(tensors)
    if (lost := residual(L.dagger(), rho)) > LOSES:
        raise ArgumentError(
            f"the generator does not keep the trace, |G^dagger 1| is {lost * unit:.2g}: it gains or loses norm; "
            "qad.mps.lindblad(H, jumps) makes one that does"
        )
    if start is not None:
        check_operator(check_density(start), L)
        check_open(start.tensors)
        rho = start.normalized()
    with blas_for(bond), bar_for(progress, "residual") as bar:
        watch = Watch(rho, callback, None, bar, maxiter, unit=unit)
        watch.begin(residual(L, rho))
        with until_finished(watch):
            ended(watch, tol)
            if method != "variational":
                evolved(L, watch, bond, tol, rounds=1 if method == "auto" else maxiter)
            if method != "evolution":
                swept(L, watch, bond, tol)
    return result_of(watch, method)


def infinite_temperature(L: MPO, conserve: Names | None) -> MPS:
    """The identity on all sites, of norm 1."""
    sizes = [isqrt(w.shape[2]) for w in L]
    if any(size**2 != w.shape[2] for size, w in zip(sizes, L, strict=True)):
        raise ArgumentError("a generator on density matrices is needed, whose sites are pairs: qad.mps.lindblad")
    rows = [np.eye(size).reshape(-1) / size**0.5 for size in sizes]
    if conserve is None:
        return MPS.product(rows, kind=L.sites)
    conserved = conserved_by(L, conserve)
    bond = Leg({conserved.symmetry.neutral: 1}, 1, conserved.symmetry)
    sites = zip(rows, conserved.orders, conserved.legs, strict=True)
    tensors = [from_dense(row[order][None, :, None], (bond, leg, bond.conj()), split=2) for row, order, leg in sites]
    return MPS(tensors, conserved, L.sites)


def residual(L: MPO, rho: MPS) -> float:
    """``|L rho|`` of a state of norm 1, without a square that loses digits."""
    return float(generic.norm((L @ rho).canonicalize(0)[0]))


def ended(watch: Watch, tol: float) -> None:
    """End the search where the residual is small enough."""
    if watch.history[-1] <= tol * watch.unit:
        watch.converge(f"the residual is {watch.history[-1]:.1e}")


def evolved(L: MPO, watch: Watch, bond: int, tol: float, rounds: int) -> None:
    """Evolution in real time, longer and finer from round to round."""
    step, time, way = STEP, TIME * len(L), "tebd4"
    try:
        neighbour_terms(L)
    except ArgumentError:
        way = "tdvp2"
    for _ in range(rounds):
        if step < STEP / FINEST:
            watch.message = f"not converged: finer steps do not lower the residual of {watch.history[-1]:.1e}"
            return
        steps = int(np.ceil(time / step))
        course = Course(watch.state, L, time / steps, steps, steps, way, bond, None, False, hermitian=False)
        course.advance()
        watch.step(course.state, residual(L, course.state))
        ended(watch, tol)
        if watch.history[-1] < watch.history[-2] / 2:
            time *= 2
        else:
            step, time = step / 2, time / 2


def swept(L: MPO, watch: Watch, bond: int, tol: float) -> None:
    """Sweeps that minimise ``|L rho|``, each a step of a conjugate gradient."""
    square, last, begun = L.dagger() @ L, [], len(watch.history)
    for number in range(watch.left):
        kind = TwoSites if number < PAIRS and len(L) > 1 else OneSite
        sweeps = kind(square, watch.state, bond, Excluded([], None, square, watch.state))
        sweeps.mixing, sweeps.tolerance, sweeps.bond = 0.0, TIGHTEST, bond
        sweeps.schedule = sweeps.schedule._replace(isometric=True)  # single sites cut nothing: 1e-14 are 1e-7 of a mean
        sweeps.sweep()
        state, left, last = combined(L, sweeps.state, watch.state, last, bond)
        watch.step(state, left)
        ended(watch, tol)
        recent = watch.history[begun:]
        if number > PATIENCE and min(recent[-PATIENCE:]) > FALL * min(recent[:-PATIENCE]):
            advice = ": give a larger one" if bond**2 < np.prod([w.shape[2] for w in L], dtype=float) else ""
            watch.message = f"not converged: bond {bond} leaves a residual of {watch.history[-1]:.1e}{advice}"
            return


def combined(L: MPO, rho: MPS, before: MPS, last: Sequence[MPS], bond: int) -> tuple[MPS, float, Sequence[MPS]]:
    """Of a state, its distance from the one before and the last step: the sum of least ``|L rho|``; that; its step."""
    ways = [*unit_sum([1.0, -overlap(rho, before)], [before, rho], WIDER * bond), *last]
    left = residual(L, rho)
    if ways:
        images = [L @ part for part in (rho, *ways)]
        square = np.array([[overlap(one, two) for two in images] for one in images[1:]])
        weights = np.linalg.lstsq(square[:, 1:], -square[:, 0], rcond=None)[0]
        (found,) = unit_sum([1.0, *weights], [rho, *ways], bond)
        if (size := residual(L, found)) < left:
            return found, size, unit_sum(weights, ways, WIDER * bond)
    return rho, left, []


def unit_sum(weights: Sequence[Any], states: Sequence[MPS], bond: int) -> list[MPS]:
    """A weighted sum of norm 1 and of this bond; none where it is zero."""
    total = sum((weight * state for weight, state in zip(weights[1:], states[1:], strict=True)), weights[0] * states[0])
    total = total.truncate(bond)[0]
    size = generic.norm(total[-1])
    return [total * (1 / size)] if size > 0 else []


def result_of(watch: Watch, method: str) -> SteadyState:
    """What a search has found, of trace 1."""
    state = watch.state * (1 / watch.state.norm())
    trace = density_trace(state)
    if abs(trace) < 1 - 1e-6:  # of a positive matrix of norm 1 it is at least that
        raise ArgumentError(
            f"the vector that was found has trace {abs(trace):.2g} at norm 1, and is no density matrix: there are "
            "several steady states, the generator is none of a Lindblad equation, or the bond is too small; give a "
            "start, or a larger bond"
        )
    return SteadyState(
        state * (1 / trace), watch.history[-1], watch.converged, watch.message, np.array(watch.history), method
    )
