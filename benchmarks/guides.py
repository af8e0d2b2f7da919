"""What the guides' subjects cost at three sizes: `OMP_NUM_THREADS=1 python -m benchmarks.guides [PAGE ...]`.

Each guide has a table between two comments, which this writes: seconds of the processor of a second call, values and
gradients in double precision, on one thread. A dash is a size that is not for this function, or takes above a minute.
"""

import re
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np

import qad
from qad import mps, peps, vmc

from .report import duration

DOCS = Path(__file__).parents[1] / "docs"
SIZES, BONDS = (20, 100, 1000), (2, 3, 4)
ROUNDS, PATIENCE = 3, 5.0  # calls, unless they have taken so many seconds
PLACE = re.compile(r"(<!-- costs: python -m benchmarks.guides -->\n).*?(<!-- end of costs -->)", re.DOTALL)


def matrix(n, seed=0):
    """A real matrix with different singular values."""
    return np.random.default_rng(seed).normal(size=(n, n)) / np.sqrt(n)


def gradient(f, *args):
    """The call that computes value and gradient."""
    return lambda: qad.value_and_grad(f)(*args)


def spectral(f):
    """A loss of the matrix function `f`, by size."""
    return lambda n: gradient(lambda a: np.sum(f(a)), matrix(n))


def filled(n):
    """A loop of n steps that fills an array."""

    def path(x):
        y = qad.zeros(n)
        y[0] = x
        for k in range(1, n):
            y[k] = np.sin(y[k - 1])
        return y.sum()

    return path


def steps(n):
    """A loop of n steps on four numbers."""

    def walk(x):
        for _ in range(n):
            x = np.sin(x) + 0.1
        return x.sum()

    return walk


def frozen(n):
    """The same loop, frozen."""
    step = qad.freeze(qad.value_and_grad(steps(n)))
    return lambda: step(np.full(4, 0.3))


def layer(n):
    """A circuit of one layer and its energy: a state vector of twenty qubits, a chain of more."""
    H = qad.PauliSum.on_sites(n, [(1.0, "ZZ", (i, i + 1)) for i in range(n - 1)])

    def energy(theta):
        c = qad.Circuit(n).ry(theta, range(n)).cx(range(n - 1), range(1, n))
        return (c if n <= 20 else c.mps(bond=8)).expectation(H)

    return gradient(energy, np.linspace(0.1, 1.0, n))


def state(n, bond=16):
    """A random chain."""
    return mps.MPS.random(n, bond, dtype=float, seed=0)


def evolved(method):
    """One step of time, by size."""
    return lambda n: partial(mps.evolve, state(n), mps.ising(n, 1.0), 0.05, 1, method, bond=16)


def leg(n, flow):
    """A leg of five charges and dimension n."""
    return qad.symmetric.Leg(dict.fromkeys((-4, -2, 0, 2, 4), n // 5), flow=flow)


def blocks(n, seed=0):
    """A symmetric matrix of that dimension."""
    return qad.symmetric.random((leg(n, 1), leg(n, -1)), seed=seed)


def ring(n):
    """The order of a ring of n tensors with loose ends in pairs, by subscripts in ncon's form."""
    labels = [[i, (i + 1) % n, n + i // 2] for i in range(n)]
    tensors = [np.ones((3, 3, 3))] * n
    return lambda: qad.ncon(tensors, [[label + 1 for label in each] for each in labels])


def cluster(bond, conserve=None):
    """A state of the infinite square lattice with two tensors, by a short imaginary time."""
    return peps.simple_update(peps.heisenberg(), bond, conserve=conserve, steps=((0.1, 40), (0.02, 40)))


def lattice_energy(conserve=None):
    """Value and gradient of Heisenberg's energy in that state, by bond dimension."""
    return lambda D: gradient(peps.energy, cluster(D, conserve), peps.heisenberg(), 2 * D**2)


def machine(n):
    """A real Boltzmann machine of n sites and as many hidden units, Ising's chain, and its space."""
    return *vmc.rbm(n, dtype=float), mps.ising(n, 1.0), vmc.Spins(n)


COSTS = {  # page -> rows: what is done, the call by size, the sizes that are measured
    "complex_derivatives": [
        ("`qad.grad`, of n complex numbers", lambda n: gradient(lambda z: np.vdot(z, z).real, np.ones(n) + 1j), SIZES),
        ("`qad.jacobian`, n x n", lambda n: lambda: qad.jacobian(np.sin)(np.ones(n)), SIZES),
        ("`qad.hessian`, n x n", lambda n: lambda: qad.hessian(lambda x: np.sum(np.sin(x) ** 3))(np.ones(n)), SIZES),
    ],
    "contraction": [
        ("`qad.tr(A, B, C)`, n x n", lambda n: gradient(qad.tr, matrix(n), matrix(n, 1), matrix(n, 2)), SIZES),
        ("`qad.ncon`, a ring of n tensors", ring, SIZES),
    ],
    "linalg": [
        ("`np.linalg.solve`", lambda n: gradient(lambda a: np.sum(np.linalg.solve(a, np.ones(n))), matrix(n)), SIZES),
        ("`np.linalg.eigh`", spectral(lambda a: np.linalg.eigh(a + a.T)[0] ** 2), SIZES),
        ("`np.linalg.svd`", spectral(lambda a: np.linalg.svd(a)[1] ** 3), SIZES),
        ("`qad.linalg.expm`", spectral(qad.linalg.expm), SIZES),
    ],
    "implicit": [
        (
            "`qad.fixed_point`, n unknowns",
            lambda n: gradient(
                lambda b: qad.fixed_point(lambda x, b: np.cos(x) / 2 + b, np.zeros(n), b).sum(), np.full(n, 0.1)
            ),
            SIZES,
        ),
        (
            "`qad.integrate.solve_ivp`, n unknowns to t = 1",
            lambda n: gradient(
                lambda k: qad.integrate.solve_ivp(lambda t, y: -k * y, [0.0, 1.0], np.ones(n))[-1].sum(), 0.3
            ),
            SIZES,
        ),
    ],
    "optimization": [
        (
            "`minimize`, n numbers, to 1e-6",
            lambda n: lambda: qad.optimize.minimize(
                lambda x: np.sum((x - 1) ** 2 + 0.1 * x**4), np.linspace(0.0, 2.0, n)
            ),
            SIZES,
        ),
        (
            "`adam`, n numbers, 100 steps",
            lambda n: lambda: qad.optimize.adam(lambda x: np.sum((x - 1) ** 2), np.zeros(n), maxiter=100),
            SIZES,
        ),
        (
            "`minimize_on`, four vectors of n entries",
            lambda n: lambda: qad.optimize.minimize_on(
                lambda x: qad.tr(x.mT, np.diag(np.arange(n) + 1.0), x),
                np.linalg.qr(matrix(n)[:, :4])[0], manifold=qad.optimize.Stiefel(), maxiter=50,
            ),
            SIZES,
        ),
    ],
    "mutation": [("a loop of n steps", lambda n: gradient(filled(n), 0.3), SIZES)],
    "freeze": [
        ("n steps on four numbers, as they are", lambda n: gradient(steps(n), np.full(4, 0.3)), SIZES),
        ("the first call of the frozen one", lambda n: lambda: frozen(n)(), SIZES),
        ("every further call", lambda n: frozen(n), SIZES),
    ],
    "mps": [
        ("`mps.energy`, bond 16", lambda n: gradient(mps.energy, state(n), mps.heisenberg(n)), SIZES),
        ("`mps.correlations`, all pairs", lambda n: partial(mps.correlations, state(n), "Sz", "Sz"), SIZES),
        ("a thousand samples", lambda n: partial(state(n).sample, 1000, seed=0), SIZES),
    ],
    "ground_states": [
        (
            "`ground_state` of Heisenberg's chain, bond 16",
            lambda n: partial(mps.ground_state, mps.heisenberg(n), 16, conserve="Sz"), (20, 100),
        ),
        ("a step of time, `tdvp2`, bond 16", evolved("tdvp2"), SIZES),
        ("a step of time, `tebd4`, bond 16", evolved("tebd4"), SIZES),
    ],
    "evolution": [
        (
            "ten steps of `tebd4` and their gradient, bond 8",
            lambda n: gradient(
                lambda g: mps.energy(
                    mps.evolve(state(n, 4), mps.ising(n, g), 0.5, 10, "tebd4", bond=8).state, mps.ising(n, 1.0)
                ),
                1.0,
            ),
            (20, 100),
        ),
        (
            "`thermal_state`, beta = 1, bond 16",
            lambda n: partial(mps.thermal_state, mps.ising(n, 1.0), 1.0, bond=16), (20, 100),
        ),
    ],
    "symmetric": [
        (
            "product of matrices, n x n in five sectors",
            lambda n: gradient(lambda a, b: qad.symmetric.norm(qad.tensordot(a, b, 1)), blocks(n), blocks(n, 1)), SIZES,
        ),
        ("`qad.symmetric.svd`, the same", lambda n: partial(qad.symmetric.svd, blocks(n)), SIZES),
    ],
    "circuits": [("energy of one layer on n qubits (of more than 20: as a chain)", layer, SIZES)],
    "classical": [
        (
            "`partition_function` of the Ising model at beta = 0.3 with its gradient, chi = n",
            lambda n: gradient(
                lambda beta: qad.peps.partition_function(qad.peps.classical.ising(beta), chi=n, symmetry="c4v"), 0.3
            ),
            (20, 100),
        ),
    ],
    "peps_finite": [
        (
            "energy of n sites (4 x 5, 10 x 10), bond 2, chi = 8",
            lambda n: gradient(
                lambda s: qad.peps.finite.energy(s, qad.peps.heisenberg(), chi=8),
                qad.peps.finite.FinitePEPS.random(*{20: (4, 5), 100: (10, 10)}[n], bond=2, dtype=float, seed=0),
            ),
            (20, 100),
        ),
    ],
    "peps": [
        (
            "`simple_update` of Heisenberg's model, two tensors",
            lambda D: partial(peps.simple_update, peps.heisenberg(), D), BONDS,
        ),
        ("`environment`, chi = 2 D²", lambda D: partial(peps.environment, cluster(D), 2 * D**2), BONDS),
        ("`energy` with its gradient, chi = 2 D²", lattice_energy(), BONDS),
        ("the same, with Sz conserved", lattice_energy("Sz"), BONDS),
    ],
    "vmc": [
        ("`vmc.expect`, a machine of n hidden units", lambda n: partial(vmc.expect, *machine(n), 512), (20, 100)),
        (
            "`vmc.ground_state`, one step and the energy in the end",
            lambda n: partial(vmc.ground_state, *machine(n), 512, 1), (20, 100),
        ),
    ],
}  # fmt: skip


def seconds(call):
    """Of the processor, the least of some calls after a first."""
    call()
    found, begun = [], time.process_time()
    while len(found) < ROUNDS and (not found or time.process_time() - begun < PATIENCE):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)


def table(rows, size="n", sizes=SIZES):
    """The table of a page, as Markdown."""
    lines = ["| on one thread | " + " | ".join(f"{size} = {n}" for n in sizes) + " |", "|---|" + "--:|" * len(sizes)]
    for what, call, measured in rows:
        cells = [duration(seconds(call(n))) if n in measured else "–" for n in sizes]
        lines.append(f"| {what} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main(wanted):
    """Measure, and write the tables of these pages, or of all."""
    warnings.simplefilter("ignore")
    for name, rows in COSTS.items():
        if not wanted or name in wanted:
            page = DOCS / f"{name}.md"
            made = table(rows, "D", BONDS) if name == "peps" else table(rows)
            page.write_text(
                PLACE.sub(lambda found, made=made: found[1] + made + "\n" + found[2], page.read_text("utf-8")), "utf-8"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
