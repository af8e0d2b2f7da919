"""Ground states by gradients: L-BFGS on all site tensors at once, in the metric of the state.

The raw tensors are badly conditioned variables.  In right-canonical gauge a change ``dA`` of one tensor moves the
state by ``sum_a w[a]**2 |dA[a]|**2``, ``w`` the Schmidt coefficients of its left bond, which span many orders of
magnitude.  So L-BFGS runs on ``M[a] = A[a] sqrt(w[a]**2 + floor**2)``, in which that is nearly the Euclidean norm,
and every 20 iterations gauge and coefficients are chosen anew.  The floor follows the error that is left, ``w**2``
below which is not worth resolving yet: 0.3 times the root of the last round's relative gain.  It is the
preconditioner of M. Hauru, M. Van Damme and J. Haegeman, SciPost Phys. 10, 040 (2021), held fixed for a while.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.mps.chain.canonical import schmidt_form
from qad.mps.search.monitor import ROUNDING, Finished, is_settled
from qad.optimize import minimize
from qad.symmetric.generic import scaled

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.mps.operators.mpo import MPO
    from qad.mps.search.monitor import Watch
    from qad.mps.search.penalty import Excluded

ROUND = 20  # iterations between two choices of gauge; as many steps as L-BFGS remembers
FIRST_FLOOR, FLOORS = 1e-2, (1e-5, 1e-1)  # Schmidt coefficients below the floor are not divided out any further


def lbfgs(H: MPO, watch: Watch, bond: int, tol: float, excluded: Excluded) -> None:
    """Rounds of L-BFGS, each in a gauge of its own, until one gains too little."""
    loss = partial(excluded.loss, H)
    watch.begin(loss(watch.state))
    floor, before = watch.extra.get("floor", FIRST_FLOOR), np.inf
    while True:
        variables, chain = weighted(watch.state, floor)
        gain, steps = one_round(loss, watch, variables, chain)
        gain *= watch.unit / watch.scale
        flat = watch.gradient_norm**2 <= max(tol, ROUNDING) * watch.scale / watch.unit
        if is_settled(gain, before, tol) and (flat or abs(gain) <= ROUNDING):
            watch.converge(f"the last {steps} iterations gained {gain:.1e} of the energy")
        floor, before = float(np.clip(0.3 * np.sqrt(max(gain, 0.0)), *FLOORS)), gain
        watch.extra["floor"] = floor


def weighted(state: Any, floor: float) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """Site tensors times the Schmidt coefficients of their left bonds, and the function that makes a chain of them."""
    tensors, weights = schmidt_form(state.tensors)
    sizes = [np.hypot(w, floor).astype(w.dtype) for w in weights]

    def chain(variables):
        return state._made_of([scaled(m, 1 / size, 0) for m, size in zip(variables, sizes, strict=True)])

    return [scaled(a, size, 0) for a, size in zip(tensors, sizes, strict=True)], chain


def one_round(
    loss: Callable[[Any], Any], watch: Watch, variables: list[Any], chain: Callable[[list[Any]], Any]
) -> tuple[float, int]:
    """Minimise in one gauge; returns the gain and the number of iterations."""
    end: list[Finished] = []

    def step(m, value):
        try:
            watch.step(chain(m), value)
        except Finished as reason:
            end.append(reason)
            raise StopIteration from None

    limits = {"maxiter": min(ROUND, watch.left), "memory": ROUND, "gtol": 0.0, "ftol": 0.0}
    found = minimize(lambda m: loss(chain(m)), variables, callback=step, **limits)
    watch.state, watch.gradient_norm = chain(found.params), found.gradient_norm
    watch.nfev += found.nfev
    if end:
        raise end[0]
    if found.interrupted:
        raise Finished(found.message)
    return found.history[0] - found.fun, found.nit
