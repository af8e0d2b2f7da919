"""Ground states by L-BFGS on the manifold of isometric chains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qad.mps.measure.observables import energy
from qad.mps.search.isometric import IsometricChain
from qad.mps.search.monitor import ROUNDING, Finished
from qad.optimize import minimize_on

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.mps.operators.mpo import MPO
    from qad.mps.search.monitor import Watch
    from qad.mps.search.penalty import Excluded

MEMORY = 20
WINDOW = 10  # iterations over which the gain is judged


def riemannian(H: MPO, watch: Watch, bond: int, tol: float, excluded: Excluded) -> None:
    """Minimise the energy over isometric chains; see `qad.mps.search.isometric` for coordinates and metric."""

    def loss(psi):
        return energy(psi, H) + excluded.cost(psi) if excluded.states else energy(psi, H)

    watch.begin(loss(watch.state))
    while True:
        one_run(loss, watch, tol, IsometricChain(watch.state))


def one_run(loss: Callable[[Any], Any], watch: Watch, tol: float, manifold: Any) -> None:
    """Minimise until little is gained; it returns where the gradient is not small yet, and tells the end by raising."""
    end, first = [], len(watch.history)

    def step(psi, value):
        try:
            watch.step(psi, value)
            if len(watch.history) > first + WINDOW and watch.settled(tol, WINDOW):
                watch.converge(f"the last {WINDOW} iterations gained {watch.gained(WINDOW):.1e} of the energy")
        except Finished as reason:
            end.append(reason)
            raise StopIteration from None

    found = minimize_on(
        manifold, loss, watch.state, callback=step, gtol=0.0, ftol=0.0, maxiter=watch.left, memory=MEMORY,
        metric=manifold.metric,
    )  # fmt: skip
    watch.gradient_norm = found.gradient_norm
    watch.nfev += found.nfev
    if watch.converged and not watch.is_flat(tol) and watch.gained(WINDOW) > ROUNDING:
        watch.converged = False
        return
    if end:
        raise end[0]
    if not found.success:
        raise Finished(found.message)
    watch.converge(found.message)
