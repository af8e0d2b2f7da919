"""Ground states by imaginary time: what is excited decays.

A method starts with long steps and shortens them as long as that gains; the variational principle has no error of
the step, so that its steps may stay long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.mps.evolve.courses import Course
from qad.mps.measure.observables import energy
from qad.mps.search.monitor import Finished

if TYPE_CHECKING:
    from qad.mps.operators.mpo import MPO
    from qad.mps.search.monitor import Watch
    from qad.mps.search.penalty import Excluded

GATE_STEPS = (0.1, 0.03, 0.01, 0.003, 0.001)  # the energy errs by the fourth power of the last one
GROWTH_STEP, LONG_STEP = 0.2, 1.0


def tebd(H: MPO, watch: Watch, bond: int, tol: float, excluded: Excluded) -> None:
    """Gates on neighbours, in ever shorter steps."""
    watch.begin(energy(watch.state, H))
    for dt in GATE_STEPS:
        evolve_until(H, watch, "tebd", dt, bond, tol)
    judge(watch, tol, f"the last step, of {GATE_STEPS[-1]},")


def tdvp(H: MPO, watch: Watch, bond: int, tol: float, excluded: Excluded) -> None:
    """Two sites at a time until the bonds are full and little is gained, then one."""
    watch.begin(energy(watch.state, H))
    if not watch.extra.get("full"):
        evolve_until(H, watch, "tdvp2", GROWTH_STEP, bond, max(tol, 1e-7))
    watch.extra["full"] = 1.0
    evolve_until(H, watch, "tdvp", LONG_STEP, bond, tol)
    judge(watch, tol, "the last step")


def judge(watch: Watch, tol: float, what: str) -> None:
    """End the search; it is converged unless truncation took away what the last step had gained."""
    if not watch.settled(tol):
        raise Finished(f"not converged: {what} lost {-watch.gained():.1e} of the energy: give a larger bond")
    watch.converge(f"{what} gained {watch.gained():.1e} of the energy")


def evolve_until(H: MPO, watch: Watch, method: str, dt: float, bond: int, tol: float) -> None:
    """Steps of one length until one loses, or leaves less than `tol` to gain, relative, at most that per unit time."""
    course = Course(watch.state, H, dt, 1, 1, method, bond, None, imaginary=True)
    while True:
        course.advance()
        watch.nfev += 1
        watch.step(course.state, energy(course.state, H))
        if watch.gained() < 0 or (watch.gained() <= tol * min(dt, 1.0) and watch.settled(tol)):
            return
