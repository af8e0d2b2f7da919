"""Infinite chains beside TeNPy's VUMPS: `OMP_NUM_THREADS=1 python -m benchmarks.infinite_chains`.

Time from a random start (TeNPy 1.1.1: from the Néel state, or from all spins along the field) to an energy per site
that is above the exact one of the infinite chain by no more than the line says, less than a tenth more than what qad
finds at this bond with its default tolerance. qad's search ends by itself, at tol=1e-7, and includes all of its starts;
its energy is then below the goal. TeNPy's ends after the first iteration whose energy is below the goal; its bonds are
grown by the two-site engine, and one line goes on with the single-site engine; its Lanczos may take 100 products, not
20 as by default. Cells of two sites, but for qad's Ising chain, which has one: TeNPy's two-site engine takes no such.
Both without symmetries. One thread, interleaved rounds, seconds of the processor: of qad the median of five seeds, for
its starts are random and so is the local minimum that it ends in, of TeNPy the least of two.  `charges` behind the
command prints what conserving the magnetisation saves.
"""

import os
import sys
import time
import warnings

import numpy as np

from . import RESULTS
from .report import duration, markdown, section_of, write_json

KEPT = RESULTS / "infinite_chains.json"
MOST = 60  # iterations of TeNPy
GROWTH = 8  # of the two-site engine, before the single-site one
SEEDS, ROUNDS = 5, 2  # calls of qad and of TeNPy


def chains():
    """Name, Hamiltonian of qad, cell, model of TeNPy and its start, bond, exact energy, how far above it to go."""
    from tenpy.models.spins import SpinChain
    from tenpy.models.tf_ising import TFIChain

    from qad.mps.uniform import UniformOpSum

    heisenberg = UniformOpSum().add(0.5, "Sp", 0, "Sm", 1).add(0.5, "Sm", 0, "Sp", 1).add(1.0, "Sz", 0, "Sz", 1)
    ising = UniformOpSum().add(-1.0, "Z", 0, "Z", 1).add(-1.0, "X", 0)
    spins = SpinChain({"L": 2, "S": 0.5, "Jx": 1, "Jy": 1, "Jz": 1, "bc_MPS": "infinite", "conserve": None})
    critical = TFIChain({"L": 2, "J": 1.0, "g": 1.0, "bc_MPS": "infinite", "conserve": None})
    yield "Heisenberg, bond 64", heisenberg, 2, (spins, ["up", "down"]), 64, 0.25 - np.log(2), 1.3e-6
    yield "Ising at its transition, bond 32", ising, 1, (critical, ["up", "up"]), 32, -4 / np.pi, 1.05e-8


def of_qad(H, cell, bond, goal, seed):
    """Seconds of the processor, and the energy."""
    import qad

    begin = time.process_time()
    found = qad.mps.uniform.ground_state(H, bond, cell, tol=1e-7, seed=seed)
    spent = time.process_time() - begin
    if not found.converged or found.energy > goal:
        raise RuntimeError(f"qad ended above the goal: {found.message}")
    return spent, found.energy


def of_tenpy(model, start, bond, goal, growth):
    """The same of TeNPy, with `growth` iterations of the two-site engine before the single-site one."""
    from tenpy.algorithms.vumps import SingleSiteVUMPSEngine, TwoSiteVUMPSEngine
    from tenpy.networks.mps import MPS

    options = {
        "trunc_params": {"chi_max": bond, "svd_min": 1e-12},
        "lanczos_params": {"N_max": 100, "N_min": 2, "P_tol": 1e-12, "E_tol": 1e-14},
    }
    psi = MPS.from_product_state(model.lat.mps_sites(), start, bc="infinite")
    begin = time.process_time()
    engine = TwoSiteVUMPSEngine(psi, model, dict(options))
    for number in range(MOST):
        if number == growth:
            engine = SingleSiteVUMPSEngine(engine.psi.to_MPS(), model, dict(options))
        engine.run_iteration()
        energy = float(engine.sweep_stats["E"][-1])
        if energy <= goal:
            return time.process_time() - begin, energy
    return None, energy


def measured(H, cell, peer, bond, exact, above):
    """Seconds and the energy above the exact one, by name; None seconds where the goal was not reached."""
    own, others = [], {"TeNPy, two sites": MOST, "TeNPy, two sites, then one": GROWTH}
    found = {name: [] for name in others}
    for seed in range(SEEDS):
        own.append(of_qad(H, cell, bond, exact + above, seed))
        for name, growth in others.items() if seed < ROUNDS else ():
            found[name].append(of_tenpy(*peer, bond, exact + above, growth))
    best = {name: min(pairs, key=lambda pair: pair[0] or np.inf) for name, pairs in found.items()}
    best = {"qad": sorted(own)[SEEDS // 2], **best}
    return {name: (seconds, energy - exact) for name, (seconds, energy) in best.items()}


def section(results):
    """The page of the benchmark."""
    table = [["", "goal, above exact", "", "seconds", "above exact", "/ qad"]]
    for line, found in results["lines"].items():
        for name, (seconds, above) in found["contenders"].items():
            own = found["contenders"]["qad"][0]
            times = ["not reached", "", ""] if seconds is None else [duration(seconds), "", f"{seconds / own:.1f}"]
            times[1] = f"{above:.3e}"
            table.append([line if name == "qad" else "", f"{found['goal']:.3e}", name, *times])
    return section_of("infinite_chains", __doc__, markdown(table), results)


def charges(bonds=(32, 64, 96, 128), rounds=2):
    """Print Heisenberg's chain with and without its conserved charge: least seconds, interleaved, and energies."""
    from qad.mps import uniform

    H = uniform.heisenberg()
    print("bond  seconds with Sz, without, ratio; energies above the exact one")
    for bond in bonds:
        spent, above = {"Sz": [], None: []}, {}
        for conserve in tuple(spent) * rounds:
            begin = time.process_time()
            found = uniform.ground_state(H, bond, tol=1e-7, conserve=conserve)
            spent[conserve].append(time.process_time() - begin)
            above[conserve] = found.energy - (0.25 - np.log(2))
        least = [min(seconds) for seconds in spent.values()]
        print(
            f"{bond:4}  {least[0]:.2f}, {least[1]:.2f}, {least[1] / least[0]:.2f};",
            *map("{:.5e}".format, above.values()),
        )


def main():
    """Measure all lines, and keep them."""
    from .peers import environment

    if sys.argv[1:] == ["charges"]:
        charges()
        return
    if os.environ.get("OMP_NUM_THREADS") != "1":
        sys.exit("one thread a library: OMP_NUM_THREADS=1 python -m benchmarks.infinite_chains")
    warnings.simplefilter("ignore")
    kept = {}
    for line, *chain in chains():
        kept[line] = {"goal": chain[-1], "contenders": measured(*chain)}
        print(line, kept[line], flush=True)
        write_json({"lines": kept, "environment": environment(1)}, KEPT)


if __name__ == "__main__":
    main()
