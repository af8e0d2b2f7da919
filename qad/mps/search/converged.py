"""One meaning of "converged", for all methods and all kinds of states.

1. Local problems are solved, or the gradient is small; 2. the last gain, and the geometric series that it begins, are
at most the tolerance: that is for a method to say (`qad.mps.search.monitor`).  3. A probe, which may leave the sectors,
the minimum and the bases of bonds in which a search has ended, ends no lower: pairs from slightly noisy centres, cut to
the bond of the search, on the way to the right and, where that cut costs energy, on the way back, then single sites
while they could still end lower; where the Hamiltonian falls in pieces, from another share of charge once more
(`qad.mps.search.pieces`); and if it is symmetric no exchange of states between the sectors of a bond
(`qad.mps.charges.exchange`).  4. The state is orthogonal to those that are excluded.  Where 3 fails the search goes on
from the lower state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.mps.search.monitor import Finished, until_finished
from qad.optimize.result import BY_USER

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.mps.search.monitor import Watch
    from qad.mps.search.penalty import Excluded

RUNS = 12  # times that a method runs at most, from where probes led
REFUTED, LEAST_REFUTED = 10.0, 1e-9  # in units of tol, and relative: by how much a probe has to end lower
ORTHOGONAL = 1e-4  # largest squared overlap with a state that is excluded
NOISE = 1e-3  # norm of what is added to a centre
PRODUCTS = 20  # of the effective operator, per pair
FILLED = 32  # bonds that a probe fills where they are smaller, so that bases of short chains are complete
SOLVED = 1e-2  # errors at which the local problems of a probe are solved, in units of what refutes
SITES = 6  # sweeps of sites at most, for a probe that could still end lower
NEAR = 1e-4  # relative gain of a probe up to which the search goes on near its end; at a second one in any case
FINE = {"polishing": 1.0, "mixing": 0.0, "full": 1.0, "tolerance": 1e-8}  # how it does that


def until_converged(
    run: Callable[[], None], watch: Watch, tol: float, excluded: Excluded, pairs: Callable[[Any], Any],
    anew: Callable[[Any], Any] | None, exchanging: Callable[[Any], Any] | None,
) -> None:  # fmt: skip
    """Run a method until it has converged, or the user or the number of steps ends it.

    ``pairs(state)`` are sweeps of two sites, which know the largest bond.  Where ``anew(state)`` is given, which leads
    to where no sweep does, a second probe begins there; and where ``exchanging(state)`` is, whose bonds exchange states
    between sectors, so does the last one.
    """
    for number in range(RUNS):
        with until_finished(watch):
            if watch.history and watch.left <= 0:
                raise Finished("stopped at maxiter iterations")
            run()
        if not watch.converged or overlaps(watch, excluded):
            return
        with until_finished(watch):  # the user may end it
            if len(watch.state) == 1 or not refuted(watch, tol, pairs, anew, exchanging, again=number > 0):
                return
        if watch.message == BY_USER:
            return
    watch.message = "not converged: again and again changes lower the energy: give a larger bond, or start="


def overlaps(watch: Watch, excluded: Excluded) -> bool:
    """Whether the state is not orthogonal to those that are excluded: then it has not converged."""
    overlap = excluded.overlap(watch.state * (1 / watch.state.norm()))
    if overlap > ORTHOGONAL:
        watch.converged = False
        watch.message = (
            f"not converged: the squared overlap with an excluded state is {overlap:.1e}: give a larger weight than "
            "the gap, or excluded states that are eigenstates"
        )
    return overlap > ORTHOGONAL


def refuted(
    watch: Watch, tol: float, pairs: Callable[[Any], Any], anew: Callable[[Any], Any] | None,
    exchanging: Callable[[Any], Any] | None, *, again: bool,
) -> bool:  # fmt: skip
    """Whether a probe ends lower than the state that seemed converged: then that is where the search goes on."""
    scale = watch.scale / watch.unit
    least = max(REFUTED * tol, LEAST_REFUTED) * scale
    here, found = probed(watch.state, pairs, least)
    if found.energy > here + least:  # a cut without choice: one from larger bonds decides
        found = probed(watch.state, pairs, least, wider=True)[1]
    if found.energy >= here - least and anew is not None:
        found = probed(anew(watch.state), pairs, least, here=here)[1]
    if found.energy >= here - least and exchanging is not None:
        found = exchanging(watch.state)
        found.exchange(least)
    if found.energy >= here - least:
        return False
    near = again or here - found.energy <= NEAR * scale
    watch.state, watch.converged, watch.extra = found.state, False, watch.extra | FINE if near else {}
    return True


def probed(
    state: Any, pairs: Callable[[Any], Any], least: float, *, wider: bool = False, here: float | None = None
) -> tuple[float, Any]:
    """The energy of a state, and the sweeps with which a probe has ended, which tries to end below `here`."""
    found = pairs(state)
    here = found.first_energy if here is None else here
    most, last = found.most, len(state) - 1
    found.mixing, found.tolerance, found.products = 0.0, SOLVED * least, PRODUCTS
    found.noise, found.rng, found.filled = NOISE, np.random.default_rng(0), FILLED
    found.closely = last // 2 + 1  # the middle pair
    found.bond = most + -(-most // 3) if wider else most
    found.to_right()
    cut = found.expectation(last)
    if wider or cut > here + least:  # what is cut matters: pairs choose the bases once more
        found.closely = last - last // 2
        found.to_left()
        found = pairs(found.state.truncate(most)[0] if wider else found.state)
        found.mixing, found.tolerance, found.size, cut = 0.0, SOLVED * least, 1, np.inf
    else:
        found.noise, found.size = 0.0, 1
        found.to_left()
        found.energy = found.expectation()
    sweep_down(found, here, least, cut - found.energy)
    return here, found


def sweep_down(sweeps: Any, here: float, least: float, gain: float = np.inf) -> None:
    """Sweep over sites while that may still end lower than an energy by more than `least`, after a sweep's gain."""
    before = np.inf
    for _ in range(SITES):
        series = gain * gain / (before - gain) if gain < before < np.inf else np.inf
        if sweeps.energy < here - least or gain <= least or sweeps.energy - series > here - least:
            return
        start, before = sweeps.energy, gain
        gain = start - sweeps.sweep()
