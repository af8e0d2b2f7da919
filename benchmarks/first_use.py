"""The first minute: import, first and second call in fresh processes, `python -m benchmarks.first_use`.

Every line is a process of its own with an empty cache of kernels.  "import" is that of the library, NumPy included;
"first" is all from arrays to the first value and gradient: building a circuit, tracing, planning, compiling; "second"
is the call after that, and "later" the slowest of the six that follow.  qad runs beside peers that do the same the way
their guides recommend: jax is jitted, torch runs eagerly, lightning differentiates by its adjoint method, and qulacs
by `backprop`.  Circuits have ten layers of rotations and a ring of CNOTs, their energy is that of the Ising chain;
states of chains have 40 sites.  One thread, the best of some rounds.  "lines" counts what qad says on stderr.
"""

import argparse
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import RESULTS
from .__main__ import limit_threads
from .report import markdown, write_json

CACHES = ("NUMBA_CACHE_DIR", "QAD_CACHE_DIR", "XDG_CACHE_HOME", "JAX_COMPILATION_CACHE_DIR")
LATER = 6  # calls after the second
KEPT = RESULTS / "first_use.json"
TOLERANCE = 1e-6  # of values, relative
NETWORK = "abc,cde,efg,gha,bdfh->"


def random(*shapes):
    """Complex arrays, the same in every process."""
    import numpy as np

    rng = np.random.default_rng(0)
    return [rng.normal(size=shape) + 1j * rng.normal(size=shape) for shape in shapes]


def matrices():
    return random(*[(50, 50)] * 3)


def tensors():
    return random(*[(8, 8, 8)] * 4, (8,) * 4)


def trace_loss(xp):
    return lambda a, _: xp.abs(xp.trace(a[0] @ a[1] @ a[2]))


def einsum_loss(xp):
    return lambda a, _: xp.abs(xp.einsum(NETWORK, *a))


def qad_of(loss, inputs):
    """qad's value and gradient of a loss of some arrays."""

    def setup():
        import numpy as np

        import qad

        f = qad.value_and_grad(lambda *arrays: np.abs(loss(qad, arrays)), argnums=tuple(range(len(arrays))))
        return lambda: f(*arrays)

    arrays = inputs()
    return setup


def peer(name, make_loss, inputs):
    """A peer's value and gradient of a loss of some arrays."""
    from . import peers

    return {"jax": peers.with_jax, "torch": peers.with_torch}[name](make_loss, inputs()).setup


def chain(bond):
    """A random state, the Heisenberg chain, and both as the peers have them."""
    import numpy as np

    import qad

    from .mps_energy import SITES, operator_matrices

    operator = qad.mps.heisenberg(SITES)
    psi = qad.mps.MPS.random(n=SITES, bond=bond, phys=2, dtype=complex, seed=0)
    constants = [np.ones((1, 1), complex), *operator_matrices([t.astype(complex) for t in operator.tensors])]
    return psi, operator, constants


def chain_of_qad(bond, frozen=False):
    """qad's value and gradient of the energy of a chain."""

    def setup():
        import qad

        f = qad.value_and_grad(qad.mps.energy)
        f = qad.freeze(f) if frozen else f
        return lambda: f(psi, operator)

    psi, operator, _ = chain(bond)
    return setup


def chain_of(name, bond):
    """A peer's, by the sweep of `benchmarks.mps_energy`."""
    from . import peers
    from .mps_energy import make_loss

    psi, _, constants = chain(bond)
    return {"jax": peers.with_jax, "torch": peers.with_torch}[name](make_loss, list(psi.tensors), constants).setup


def ground_state():
    """Twenty spins by DMRG."""
    import qad

    return lambda: lambda: (qad.mps.ground_state(qad.mps.heisenberg(20), bond=16, method="dmrg2").energy,)


def circuit(name, n):
    """Value and gradient of a circuit, from angles."""
    from . import circuits

    theta = circuits.angles(n)
    if name == "qad":
        return circuits.with_qad(n, theta, anew=True)
    if name == "jax":
        return circuits.with_jax(n, theta).setup
    contender = {"lightning": circuits.with_lightning, "qulacs": circuits.with_qulacs}[name](n, theta, "ring")
    return contender.setup


def hessian(name, n):
    """The Hessian of a circuit, from angles."""
    from . import circuits, peers

    theta = circuits.angles(n)

    def of_qad():
        import qad

        f = qad.hessian(lambda x: circuits.build(n, x).expectation(circuits.hamiltonian(n, "ring")))
        return lambda: f(theta)

    def of_jax():
        jax = peers.import_jax()
        f = jax.jit(jax.hessian(circuits.jax_energy(n, jax, scan=True)))
        return lambda: jax.block_until_ready(f(theta))

    return of_qad if name == "qad" else of_jax


CASES = {  # name -> library -> what prepares the inputs and returns a set-up
    "trace of 3 matrices": {
        "qad": lambda: qad_of(lambda qad, a: qad.tr(*a), matrices),
        "jax": lambda: peer("jax", trace_loss, matrices),
        "torch": lambda: peer("torch", trace_loss, matrices),
    },
    "einsum of 5 tensors": {
        "qad": lambda: qad_of(lambda qad, a: qad.einsum(NETWORK, *a), tensors),
        "jax": lambda: peer("jax", einsum_loss, tensors),
        "torch": lambda: peer("torch", einsum_loss, tensors),
    },
    "MPS energy, bond 16": {
        "qad": lambda: chain_of_qad(16),
        "jax": lambda: chain_of("jax", 16),
        "torch": lambda: chain_of("torch", 16),
    },
    "ground state, n = 20": {"qad": ground_state},
    **{
        f"circuit, n = {n}": {
            name: lambda name=name, n=n: circuit(name, n) for name in ("qad", "jax", "qulacs", "lightning")
        }
        for n in (4, 12)
    },
    "Hessian of a circuit": {name: lambda name=name: hessian(name, 4) for name in ("qad", "jax")},
    "frozen energy, bond 8": {"qad": lambda: chain_of_qad(8, frozen=True), "jax": lambda: chain_of("jax", 8)},
}
PACKAGES = {"qulacs": "qulacs", "lightning": "pennylane_lightning"}  # what is imported, where it has another name


def alone(case, library):
    """What the process of a line does; prints a JSON object."""
    limit_threads(1)
    seconds = [timed(lambda: importlib.import_module("pennylane" if library == "lightning" else library))[0]]
    setup = CASES[case][library]()
    call = []

    def first():
        call.append(setup())
        return call[0]()

    for _ in range(2 + LATER):
        took, found = timed(call[0] if call else first)
        seconds.append(took)
    names = ("import", "first", "second")
    print(json.dumps({**dict(zip(names, seconds, strict=False)), "later": max(seconds[3:]), "value": number(found)}))


def timed(function):
    """Seconds that a call takes, and what it returns."""
    start = time.perf_counter()
    found = function()
    return time.perf_counter() - start, found


def number(found):
    """What is compared: the value, or all of a Hessian; qulacs tells none."""
    import numpy as np

    if isinstance(found, list):
        return None
    return float(found[0]) if isinstance(found, tuple) else float(np.sum(np.asarray(found)))


def measured(case, library):
    """A line, from a process with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | dict.fromkeys(CACHES, folder)
        command = [sys.executable, "-m", "benchmarks.first_use", "--alone", case, library]
        run = subprocess.run(command, capture_output=True, text=True, env=env, cwd=Path(__file__).parents[1])
    if run.returncode:
        raise RuntimeError(f"{case}, {library}:\n{run.stderr}")
    lines = [line for line in run.stderr.splitlines() if line.startswith("qad:")]
    return json.loads(run.stdout.splitlines()[-1]) | {"told": len(lines)}


def best(lines):
    """The least of every time in several rounds."""
    return {key: lines[-1][key] if key in ("value", "told") else min(line[key] for line in lines) for key in lines[0]}


def agree(case, found):
    """Refuse libraries that compute something else."""
    values = {library: line["value"] for library, line in found.items() if line["value"] is not None}
    first = next(iter(values.values()))
    for library, value in values.items():
        if abs(value - first) > TOLERANCE * abs(first):
            raise RuntimeError(f"{case}: {library} finds {value}, {next(iter(values))} {first}")


def table(cases):
    """All lines, as Markdown."""
    rows = [["", "", "import", "first", "second", "later", "lines"]]
    for case, found in cases.items():
        for library, line in found.items():
            times = [in_words(line[key]) for key in ("import", "first", "second", "later")]
            rows.append([case if library == next(iter(found)) else "", library, *times, str(line["told"])])
    return markdown(rows)


def section(results):
    """The page's section."""
    title, _, explanation = __doc__.partition("\n\n")
    facts = results["environment"]
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    where = f"Python {facts['python']}, {versions}; {facts['system']} {facts['machine']}, one thread a library."
    parts = ["## first_use", f"**{title}**", explanation.strip(), table(results["cases"]), where]
    return "\n\n".join([*parts, "Reproduce: `python -m benchmarks.first_use`"])


def in_words(seconds):
    """A time in three digits."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"


def main(arguments=None):
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_use", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; all where none is given")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", metavar="LIBRARY", help="all that are installed where none is given")
    parser.add_argument("--json", metavar="FILE", help=f"where results are kept; all of them in {KEPT}")
    parser.add_argument("--alone", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.alone:
        alone(*options.alone)
        return
    from .peers import environment

    results = {}
    for case in options.names or CASES:
        there = [x for x in CASES[case] if importlib.util.find_spec(PACKAGES.get(x, x)) and x in (options.only or [x])]
        rounds = [{library: measured(case, library) for library in there} for _ in range(options.rounds)]
        results[case] = {library: best([found[library] for found in rounds]) for library in there}
        agree(case, results[case])
        print(f"{case}: done", file=sys.stderr)
    print(table(results))
    path = options.json or (None if options.names or options.only else KEPT)
    if path:
        write_json({"environment": environment(1), "cases": results}, path)


if __name__ == "__main__":
    main()
