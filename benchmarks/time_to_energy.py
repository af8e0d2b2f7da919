"""Time to a ground state: seconds until the energy is 1e-8 (relative) above the best of its bond dimension.

Open Heisenberg chain of 40 sites, bond 32, in float64.  The best energy of that bond is what single-site DMRG converges
to (tol 1e-13); it is found before the clock starts.  qad starts from a random state, with two-site sweeps or
L-BFGS.  TeNPy's two-site DMRG runs as its documentation starts it, without symmetries from the Néel state, with its
density-matrix mixer and without, `combine` on; it stops after the first sweep whose own energy, which it takes before
truncation, is below the target, and qad's after the first step whose energy is.  100 sites at bond 64 take minutes
for TeNPy: they run only with QAD_LONG=1 in the environment.
"""

import os
from functools import lru_cache, partial

from .case import Case, Contender

ABOVE = 1e-8


@lru_cache
def target(sites, bond):
    """The energy to reach."""
    import qad

    best = qad.mps.ground_state(qad.mps.heisenberg(sites), bond, "dmrg", tol=1e-13).energy
    return best + ABOVE * abs(best)


def with_qad(method, sites, bond):
    """qad's search, stopped at the target."""
    import qad

    H, goal = qad.mps.heisenberg(sites), target(sites, bond)

    def stop(state, energy):
        if energy <= goal:
            raise StopIteration

    def call():
        found = qad.mps.ground_state(H, bond, method, tol=0.0, callback=stop)
        if found.message != "stopped by the callback":
            raise RuntimeError(f"{method} ended before the target: {found.message}")
        return found.history[-1]

    return call


def with_tenpy(mixer, sites, bond):
    """TeNPy's two-site DMRG, sweep by sweep until the target."""
    import warnings

    from tenpy.algorithms.dmrg import TwoSiteDMRGEngine
    from tenpy.models.spins import SpinChain
    from tenpy.networks.mps import MPS

    warnings.simplefilter("ignore")
    model = SpinChain({"L": sites, "S": 0.5, "Jx": 1, "Jy": 1, "Jz": 1, "bc_MPS": "finite", "conserve": None})
    parameters = {
        "mixer": mixer, "combine": True, "max_E_err": 1e-14, "N_sweeps_check": 1,
        "trunc_params": {"chi_max": bond, "svd_min": 1e-10},
    }  # fmt: skip
    goal = target(sites, bond)

    def call():
        neel = MPS.from_product_state(model.lat.mps_sites(), (["up", "down"] * sites)[:sites], bc="finite")
        engine = TwoSiteDMRGEngine(neel, model, dict(parameters))
        engine.pre_run_initialize()
        for _ in range(100):
            energy, _ = engine.run_iteration()
            if energy <= goal:
                return energy
        raise RuntimeError("TeNPy has not reached the target after 100 sweeps")

    return call


def value_alone(energy):
    """A result without gradients."""
    return energy, []


def cases():
    """One chain, and a longer one on demand."""
    sizes = [(40, 32), (100, 64)] if os.environ.get("QAD_LONG") else [(40, 32)]
    for sites, bond in sizes:
        contenders = [
            Contender(f"qad, {method}", partial(with_qad, method, sites, bond), value_alone,
                      baseline=method == "dmrg2")
            for method in ("dmrg2", "riemannian")
        ]  # fmt: skip
        contenders += [
            Contender(name, partial(with_tenpy, mixer, sites, bond), value_alone, "tenpy", most_rounds=3)
            for name, mixer in (("TeNPy, with mixer", True), ("TeNPy, no mixer", None))
        ]
        yield Case(f"n = {sites}, bond {bond}", contenders, tolerance=2 * ABOVE)
