"""Symmetric chains beside TeNPy and the dense road: `OMP_NUM_THREADS=1 python -m benchmarks.symmetric_chains`.

J1-J2 is the chain of 60 spins 1/2 with couplings 1 and 0.3 to the next neighbours and the ones behind, in the sector of
2 Sz = 0; Hubbard has 40 sites, hopping 1, U = 4, half filling, conserving N and Sz. For sweeps of two sites both begin
from one state, which qad grows to the bond and hands over dense; a step is solved with five Lanczos products, nothing
is mixed in, no bond is cut below what was asked for. TeNPy runs with `combine` on and off; the better one counts. A
search begins with the Neel state and ends when <psi|H|psi> is 1e-9 (relative) above the energy of the bond, which is
not timed; TeNPy's has its mixer on. "energy" is that of a state that is not canonical with its gradient, beside
`qad.mps.energy` of the same state without symmetry; "one contraction" is that of `symmetric`. One thread, interleaved
rounds, least seconds of the processor (a machine that others use stretches time, not these); results have to agree to
eight digits.
"""

import json
import os
import sys
import time
from functools import lru_cache, partial

import numpy as np

from . import RESULTS, symmetric
from .report import duration, markdown, section_of, write_json

KEPT = RESULTS / "symmetric_chains.json"
AGREE = 1e-8  # relative difference of what two contenders compute
PRODUCTS = 5  # of the effective operator with a vector, per step


class Model:
    """A chain by name and length: as qad and as TeNPy have it."""

    def __init__(self, name, sites):
        self.name, self.sites = name, sites
        self.conserve, self.kind = ("Sz", "spin-1/2") if name == "J1-J2" else (("N", "Sz"), "electron")

    def of_qad(self):
        """qad's operator."""
        import qad

        spins = self.name == "J1-J2"
        return qad.mps.j1j2(self.sites, 1.0, 0.3) if spins else qad.mps.hubbard(self.sites, 1.0, 4.0)

    def of_tenpy(self):
        """TeNPy's model."""
        import warnings

        from tenpy.models.lattice import Chain
        from tenpy.models.model import CouplingMPOModel
        from tenpy.networks.site import SpinHalfFermionSite, SpinHalfSite

        warnings.simplefilter("ignore")
        spins = self.name == "J1-J2"

        class Couplings(CouplingMPOModel):
            default_lattice, force_default_lattice = Chain, True

            def init_sites(self, parameters):
                return SpinHalfSite("Sz") if spins else SpinHalfFermionSite("N", "Sz")

            def init_terms(self, parameters):
                for distance, strength in ((1, 1.0), (2, 0.3)) if spins else ():
                    self.add_coupling(strength, 0, "Sz", 0, "Sz", distance)
                    self.add_coupling(strength / 2, 0, "Sp", 0, "Sm", distance, plus_hc=True)
                if not spins:
                    self.add_onsite(4.0, 0, "NuNd")
                    self.add_coupling(-1.0, 0, "Cdu", 0, "Cu", 1, plus_hc=True)
                    self.add_coupling(-1.0, 0, "Cdd", 0, "Cd", 1, plus_hc=True)

        return Couplings({"L": self.sites, "bc_MPS": "finite"})

    def basis(self):
        """The Neel state, in both packages' numbers."""
        own = [0, 1] if self.name == "J1-J2" else [1, 2]
        return own * (self.sites // 2), ["up", "down"] * (self.sites // 2)

    def start(self):
        """qad's product state."""
        import qad

        return qad.mps.MPS.product(self.basis()[0], conserve=self.conserve, dtype=float, kind=self.kind)


MODELS = {"J1-J2": Model("J1-J2", 60), "Hubbard": Model("Hubbard", 40)}


@lru_cache
def grown(name, bond):
    """A state of this bond near the lowest one."""
    sweeps = sweeps_from(MODELS[name].start(), MODELS[name].of_qad(), bond)
    sweeps.filled = bond
    while sweeps.growing:
        sweeps.sweep()
    sweeps.sweep()
    return sweeps.state


def sweeps_from(start, operator, bond):
    """qad's sweeps of two sites."""
    from qad.mps.search.penalty import Excluded
    from qad.mps.search.sweeps import TwoSites

    return TwoSites(operator, start, bond, Excluded((), None, operator, start))


def sweeps_of_qad(name, bond):
    """One sweep of two sites, there and back."""
    sweeps = sweeps_from(grown(name, bond), MODELS[name].of_qad(), bond)
    sweeps.mixing, sweeps.filled = 0.0, bond

    def call():
        sweeps.products, sweeps.tolerance, sweeps.bond = PRODUCTS, 0.0, bond
        return sweeps.sweep()

    return call


def state_of_tenpy(name, model, state):
    """A state of qad in TeNPy."""
    import tenpy.linalg.np_conserved as npc
    from tenpy.networks.mps import MPS

    sites, tensors = model.lat.mps_sites(), []

    def leg(given, flow):
        charges = np.repeat(np.array(given.charges), given.dims, axis=0)
        return npc.LegCharge.from_qflat(sites[0].leg.chinfo, charges, flow).bunch()[1]

    orders = [np.argsort(order) for order in state.conserved.orders]
    for tensor, order, site in zip(state, orders, sites, strict=True):
        own = ["up", "down"] if name == "J1-J2" else ["empty", "up", "down", "full"]
        dense = tensor.to_dense()[:, order][:, np.argsort([site.state_index(label) for label in own])]
        legs = [leg(tensor.legs[0], 1), site.leg, leg(tensor.legs[2], -1)]
        tensors.append(npc.Array.from_ndarray(dense, legs, labels=["vL", "p", "vR"], cutoff=1e-300))
    psi = MPS(sites, tensors, [np.ones(t.shape[0]) for t in tensors] + [np.ones(1)], bc="finite", form=None)
    psi.canonical_form()
    return psi


def engine(psi, model, bond, combine, mixer, **options):
    """TeNPy's sweeps of two sites."""
    from tenpy.algorithms.dmrg import TwoSiteDMRGEngine

    parameters = {
        "mixer": mixer, "combine": combine, "max_E_err": 1e-14, "N_sweeps_check": 1,
        "trunc_params": {"chi_max": bond, "svd_min": 1e-10 if mixer else 1e-100}, **options,
    }  # fmt: skip
    found = TwoSiteDMRGEngine(psi, model, parameters)
    found.pre_run_initialize()
    return found


def sweeps_of_tenpy(combine, name, bond):
    """One sweep of two sites, there and back."""
    model = MODELS[name].of_tenpy()
    found = engine(
        state_of_tenpy(name, model, grown(name, bond)), model, bond, combine, None,
        lanczos_params={"N_min": PRODUCTS, "N_max": PRODUCTS, "P_tol": 0.0, "E_tol": 0.0},
    )  # fmt: skip

    def call():
        found.sweep()
        return found.update_stats["E_total"][-1]

    return call


# -- searches and gradients --------------------------------------------------------------------------------------------


@lru_cache
def goal(name, bond):
    """The energy at which a search ends."""
    energy = sweeps_of_qad(name, bond)()
    return energy + 1e-9 * abs(energy)


def search_of_qad(name, bond):
    """From the Neel state, with nothing known of the structures that it meets."""
    from qad.symmetric import contraction, fusing, sparse
    from qad.symmetric.blocks import combinations, layout, moves

    def call():
        for module in (combinations, contraction, fusing, layout, moves, sparse):
            for function in vars(module).values():
                getattr(function, "cache_clear", int)()
        model = MODELS[name]
        start, operator = model.start(), model.of_qad()
        return until(lambda: sweeps_from(start, operator, bond), lambda sweeps: sweeps.sweep(), goal(name, bond))

    return call


def search_of_tenpy(combine, name, bond):
    """From the Neel state, with the mixer."""
    from tenpy.networks.mps import MPS

    def call():
        model = MODELS[name].of_tenpy()
        psi = MPS.from_product_state(model.lat.mps_sites(), MODELS[name].basis()[1], bc="finite")

        def sweep(found):
            found.run_iteration()
            return lambda: model.H_MPO.expectation_value(found.psi)

        return until(lambda: engine(psi, model, bond, combine, True), sweep, goal(name, bond))

    return call


def until(begin, sweep, energy):
    """Sweep until the energy is reached; returns it, and the seconds without those that it takes to ask for it."""
    start, asked = time.process_time(), 0.0
    found = begin()
    for _ in range(12):
        reached = sweep(found)
        before = time.process_time()
        reached = float(np.real(reached())) if callable(reached) else reached
        asked += time.process_time() - before
        if reached <= energy:
            return reached, time.process_time() - start - asked
    raise RuntimeError(f"{reached} after 12 sweeps, not {energy}")


def energy_of_qad(symmetric, bond):
    """Energy and gradient of a random state."""
    import qad

    H = MODELS["J1-J2"].of_qad()
    psi = qad.mps.MPS.random(60, bond, dtype=float, seed=0, conserve="Sz", sector=0)
    psi = psi if symmetric else psi.without_symmetry()
    return lambda: float(qad.value_and_grad(qad.mps.energy)(psi, H)[0])


# -- the table ---------------------------------------------------------------------------------------------------------


def lines():
    """What is measured: name, rounds, qad's call, and those of the others."""
    peers = {"TeNPy, combine": True, "TeNPy": False}
    for name, bond, rounds in (("J1-J2", 64, 5), ("J1-J2", 128, 4), ("J1-J2", 256, 3), ("J1-J2", 512, 2),
                               ("Hubbard", 256, 3)):  # fmt: skip
        others = {peer: partial(sweeps_of_tenpy, combine, name, bond) for peer, combine in peers.items()}
        yield f"sweep, {name}, bond {bond}", rounds, partial(sweeps_of_qad, name, bond), others
    others = {peer: partial(search_of_tenpy, combine, "J1-J2", 128) for peer, combine in peers.items()}
    yield "search to 1e-9, J1-J2, bond 128", 2, partial(search_of_qad, "J1-J2", 128), others
    for bond in (64, 128, 256):
        others = {"dense qad": partial(energy_of_qad, False, bond)}
        yield f"energy and gradient, J1-J2, bond {bond}", 4, partial(energy_of_qad, True, bond), others
    for bond in (64, 128, 256):
        others = {peer: partial(symmetric.repeated, peer, bond) for peer in ("TeNPy", "symmray")}
        yield f"one contraction, bond {bond}", 20, partial(symmetric.repeated, "qad", bond), others


def measured(rounds, setups):
    """Least seconds of the processor by contender, in interleaved rounds after one that is not counted."""
    calls, seconds = {name: setup() for name, setup in setups.items()}, {name: [] for name in setups}
    for number in range(rounds + 1):
        values = {}
        for name, call in calls.items():
            start = time.process_time()
            found = call()
            spent = time.process_time() - start
            values[name], spent = found if isinstance(found, tuple) else (found, spent)
            seconds[name] += [spent] * (number > 0)
        spread = np.ptp(list(values.values())) / abs(next(iter(values.values())))
        if spread > AGREE:
            raise AssertionError(f"results differ by {spread:.1e}: {values}")
    return {name: min(found) for name, found in seconds.items()}


def section(results):
    """The page of the benchmark."""
    table = [["", "qad", "TeNPy, combine", "TeNPy", "symmray", "dense qad", "better other / qad"]]
    for line, found in results["lines"].items():
        cells = [duration(found[name]) if name in found else "" for name in table[0][1:6]]
        cells[-1] += f" ({found['dense qad'] / found['qad']:.1f} x)" if cells[-1] else ""
        others = [found[name] / found["qad"] for name in table[0][2:5] if name in found]
        table.append([line, *cells, f"{min(others):.1f}" if others else ""])
    return section_of("symmetric_chains", __doc__, markdown(table), results, *results.get("notes", []))


def main(wanted=()):
    """Measure the lines whose names contain one of the words, and keep them beside the others."""
    from .peers import environment

    if os.environ.get("OMP_NUM_THREADS") != "1":
        sys.exit("one thread a library: OMP_NUM_THREADS=1 python -m benchmarks.symmetric_chains")
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {"lines": {}}
    for line, rounds, own, others in lines():
        if not wanted or any(word in line for word in wanted):
            kept["lines"][line] = measured(rounds, {"qad": own, **others})
            print(line, kept["lines"][line], flush=True)
            write_json({**kept, "environment": environment(1)}, KEPT)


if __name__ == "__main__":
    main(sys.argv[1:])
