"""Variational Monte Carlo beside NetKet: `OMP_NUM_THREADS=1 python -m benchmarks.vmc`.

A restricted Boltzmann machine of real weights, four hidden units a site, is led down by minSR (rate 0.02, shift 0.01)
with 1,008 samples a step: the critical Ising ring of 40 spins by flips, and Heisenberg's antiferromagnet on the
periodic 6x6 lattice, turned to have a positive ground state, by exchanges of neighbours with Sz = 0. A sweep has as
many moves as sites, or one more. NetKet is driven as its guide says, `VMC_SR` with a jax operator, 16 chains, its
default, or as many as samples. Its gradient is twice ours, and eight times on the lattice, where its spins are Pauli
matrices; its rate is a half and an eighth (with a half its steps on the lattice were four times as long, and its energy
3.7 errors above ours). Every contender is a process of its own without a cache of compiled programs, and all take their
steps in turns, one after the other. Times are the processor's. "import", of all modules that are needed, and "first
step", all from the model to the end of that step, compilation included, have those on the clock in brackets, of a
machine that others used; "a step" is the least of those that follow, with the median in brackets. Energies after 60
steps are of 16 times as many samples, and have to agree within four errors. The last line has 100,080 parameters (61
hidden units a site, the ring) and 2,048 samples. "memory" is the most that the process ever held.
"""

import importlib
import importlib.metadata
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import RESULTS
from .__main__ import limit_threads
from .first_use import CACHES
from .report import duration, markdown, section_of, write_json

KEPT = RESULTS / "vmc.json"
RATE, SHIFT = 0.02, 0.01
FEW = 10  # steps, after which energies are not compared
AT_LAST = 16  # times as many samples for the energy in the end
LINES = {  # model, hidden units a site, samples, steps
    "ring": ("Ising ring of 40", 4, 1008, 60),
    "lattice": ("Heisenberg 6x6", 4, 1008, 60),
    "wide": ("ring, 100,080 parameters", 61, 2048, 2),
}
CONTENDERS = {  # and what they import
    "qad": ("qad.mps", "qad.vmc"),
    "NetKet, 16 chains": ("netket",),
    "NetKet, a chain a sample": ("netket",),
}


def with_qad(line, _, pause):
    """Lead the machine down; its energy and error in the end."""
    from qad import mps, vmc

    _, alpha, samples, steps = LINES[line]
    if line == "lattice":
        lattice = mps.Lattice(6, 6, along=True, around=True)
        H, space = mps.xxz(lattice, -1.0, j=-1.0), vmc.Spins(36, total=0)
        sampler = vmc.Metropolis(vmc.exchanges(lattice.pairs()))
    else:
        H, space, sampler = mps.ising(40, 1.0, periodic=True), vmc.Spins(40), "metropolis"
    log_psi, params = vmc.rbm(space.n, alpha, float, scale=0.01)
    found = vmc.ground_state(
        log_psi, params, H, space, samples, steps, "minsr",
        sampler=sampler, rate=RATE, shift=SHIFT, callback=lambda params, energy: pause(),
    )  # fmt: skip
    drawn = vmc.expect(log_psi, found.params, H, space, AT_LAST * samples, sampler)
    return drawn.mean, drawn.error


def with_netket(line, chains, pause):
    """The same by NetKet."""
    import jax
    import netket as nk

    _, alpha, samples, steps = LINES[line]
    unit = 0.25 if line == "lattice" else 1.0  # NetKet's spins are Pauli matrices
    if line == "lattice":
        graph, space = nk.graph.Square(6), nk.hilbert.Spin(0.5, 36, total_sz=0)
        H = nk.operator.Heisenberg(space, graph).to_jax_operator()
        sampler = nk.sampler.MetropolisExchange(space, graph=graph, n_chains=chains)
    else:
        space = nk.hilbert.Spin(0.5, 40)
        H = nk.operator.IsingJax(space, nk.graph.Chain(40), h=1.0, J=-1.0)
        sampler = nk.sampler.MetropolisLocal(space, n_chains=chains)
    state = nk.vqs.MCState(
        sampler, nk.models.RBM(alpha=alpha, param_dtype=float), n_samples=samples, n_discard_per_chain=0, seed=0
    )
    optimizer = nk.optimizer.Sgd(unit * RATE / 2)
    driver = nk.driver.VMC_SR(H, optimizer, diag_shift=SHIFT, variational_state=state, use_ntk=True)

    def done(*_):
        jax.block_until_ready(state.parameters)
        pause()
        return True

    driver.run(steps, show_progress=False, callback=done)
    state.n_samples = AT_LAST * samples
    found = state.expect(H)
    return float(found.mean.real) * unit, float(found.error_of_mean) * unit


def alone(line, name):
    """The process of one contender: it takes a step when it is told to, and tells how long that took."""
    limit_threads(1)
    sys.stdin.readline()
    marks = [(0.0, time.perf_counter())]

    def lap():
        """Seconds of the processor, and on the clock, since the last mark."""
        marks.append((time.process_time(), time.perf_counter()))
        return [now - before for now, before in zip(marks[-1], marks[-2], strict=True)]

    for library in CONTENDERS[name]:
        importlib.import_module(library)
    imported = lap()

    def pause():
        took, memory = lap(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        tell(imported=imported, step=took, memory=memory)
        marks.append((time.process_time(), time.perf_counter()))

    chains = 16 if name.endswith("16 chains") else LINES[line][2]
    mean, error = (with_qad if name == "qad" else with_netket)(line, chains, pause)
    tell(mean=mean, error=error)


def tell(**facts):
    """Say something to the one who measures, and wait for its word."""
    print(json.dumps(facts), flush=True)
    sys.stdin.readline()


class Process:
    """A contender, as the one who measures sees it."""

    def __init__(self, line, name, folder):
        env = os.environ | dict.fromkeys(CACHES, folder)
        command = [sys.executable, "-m", "benchmarks.vmc", "--alone", line, name]
        where = Path(__file__).parents[1]
        self.run = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env, cwd=where
        )  # fmt: skip

    def asked(self):
        """Let it go on, and return what it says then."""
        self.run.stdin.write("\n")
        self.run.stdin.flush()
        for said in self.run.stdout:
            if said.startswith("{"):
                return json.loads(said)
        raise RuntimeError(f"{self.run.args[-2:]} ended with {self.run.wait()}")


def measured(line):
    """What all contenders need for a line, in interleaved steps."""
    steps = LINES[line][3]
    names = [name for name in CONTENDERS if name == "qad" or line != "wide" or name.endswith("a sample")]
    with tempfile.TemporaryDirectory() as folder:
        at = {name: Process(line, name, folder) for name in names}
        told = {name: [] for name in names}
        for _ in range(steps):
            for name, process in at.items():
                told[name].append(process.asked())
        ends = {name: process.asked() if steps > FEW else {} for name, process in at.items()}
        for process in at.values():
            process.run.terminate()
            process.run.communicate()
    found = {name: entry(told[name], ends[name]) for name in names}
    if steps > FEW:
        agree(line, found)
    return found


def entry(told, end):
    """The numbers of a contender."""
    later = [fact["step"][0] for fact in told[1:]]
    return {
        "import": told[0]["imported"],
        "first": told[0]["step"],
        "step": min(later),
        "median": statistics.median(later),
        "memory": told[-1]["memory"],
        **end,
    }


def agree(line, found):
    """Refuse contenders that find something else."""
    own = found["qad"]
    for name, other in found.items():
        apart = abs(other["mean"] - own["mean"])
        if apart > 4 * (own["error"] ** 2 + other["error"] ** 2) ** 0.5:
            raise RuntimeError(f"{line}: {name} finds {other['mean']}, qad {own['mean']}")


def twice(pair):
    """A time, and another one in brackets."""
    return "{} ({})".format(*map(duration, pair))


def section(results):
    """The page of the benchmark."""
    table = [["", "", "import", "first step", "a step", "/ qad", "memory", "energy"]]
    for line, found in results["lines"].items():
        peers = [name for name in found if name != "qad"]
        quick = min(peers, key=lambda name: found[name]["step"])  # of the ways to drive NetKet
        for name in ("qad", quick):
            x = found[name]
            step = twice((x["step"], x["median"]))
            energy = f"{x['mean']:.4f} ± {x['error']:.4f}" if LINES[line][3] > FEW else ""
            times = [twice(x["import"]), twice(x["first"]), step, f"{x['step'] / found['qad']['step']:.2f}"]
            what = LINES[line][0] if name == "qad" else ""
            table.append([what, name, *times, f"{x['memory'] / 2**30:.2f} GiB", energy])
    return section_of("vmc", __doc__, markdown(table), results)


def main(wanted):
    """Measure the lines that are named, by default all, and keep them beside the others."""
    from .peers import environment

    if os.environ.get("OMP_NUM_THREADS") != "1":
        sys.exit("one thread a library: OMP_NUM_THREADS=1 python -m benchmarks.vmc")
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {"lines": {}}
    for line in wanted or LINES:
        kept["lines"][line] = measured(line)
        print(line, kept["lines"][line], flush=True)
        facts = environment(1)
        facts["versions"]["netket"] = importlib.metadata.version("netket")
        write_json({"lines": kept["lines"], "environment": facts}, KEPT)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--alone"]:
        alone(*sys.argv[2:])
    else:
        main(sys.argv[1:])
