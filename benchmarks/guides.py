"""What the guides' subjects cost at three sizes: `OMP_NUM_THREADS=1 python -m benchmarks.guides [PAGE ...]`.

Each guide has a table between two comments, which this writes: seconds of the processor of a second call, values and
gradients in double precision, on one thread; in `out_of_memory` the most bytes that a call holds at once. A dash is a
size that is not for this function, or takes above a minute. `interop` needs torch, JAX and quimb, `tensornetwork` its
package.
"""

import re
import sys
import time
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
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


def plane(n):
    """A random finite lattice of n sites and bond 2."""
    rows = {20: 4, 100: 10, 1000: 25}[n]
    return peps.finite.FinitePEPS.random(rows, n // rows, bond=2, dtype=float, seed=0)


def machine(n):
    """A real Boltzmann machine of n sites and as many hidden units, Ising's chain, and its space."""
    return *vmc.rbm(n, dtype=float), mps.ising(n, 1.0), vmc.Spins(n)


def units(n):
    """n complex numbers."""
    return np.exp(1j * np.linspace(0.0, 1.0, n))


def applied(f, n):
    """A function of n complex numbers."""
    return partial(f, units(n))


def tanhs(x):
    """A loss of some numbers, fifty small operations."""
    for k in range(50):
        x = np.tanh(x + 0.1 * k)
    return x.sum()


def examples(f):
    """n examples of ten numbers each, one by one through the gradient of `tanhs`, made by `f` of it."""
    step = f(qad.grad(tanhs))
    return lambda n: lambda: [step(x) for x in np.ones((n, 10))]


def watched(tool, n):
    """The gradient of a loop of n steps under a tool for debugging."""

    def call():
        with tool():
            qad.grad(steps(n))(np.full(4, 0.3))

    return call


def pieces(n):
    """The same loop, in pieces of about sqrt(n) steps that are computed again in the backward pass."""
    size = round(n**0.5)
    piece = qad.checkpoint(lambda x: walked(x, size))
    rest = n - n // size * size
    return lambda x: walked(walked(x, n // size, piece), rest).sum()


def walked(x, n, step=lambda x: np.sin(x) + 0.1):
    """n steps."""
    for _ in range(n):
        x = step(x)
    return x


def search(method):
    """The ground state of Heisenberg's chain by a method, by size."""
    return lambda n: partial(mps.ground_state, mps.heisenberg(n), 16, method, conserve="Sz")


def graph(n):
    """The picture of a recorded loop of n steps."""
    y = steps(n)(qad.tensor(np.full(4, 0.3), requires_grad=True))
    return lambda: qad.draw(y).svg


def points(executor):
    """A search from each of n starts."""

    def lowest(shared, start):
        return qad.optimize.minimize(lambda x: np.sum((x - shared) ** 2), np.full(4, start)).fun

    return lambda n: lambda: qad.for_each(lowest, np.linspace(0.0, 1.0, n), np.ones(4), executor)


def through(bridge):
    """The gradient of a sum of sines of n numbers, computed by qad within another library."""

    def call(n):
        inner = import_module(f"qad.interop.{bridge}").wrap(lambda x: np.sum(np.sin(x)))
        if bridge == "jax":
            jax = import_module("jax")
            step, x = jax.jit(jax.grad(inner)), jax.numpy.ones(n)
            return lambda: step(x).block_until_ready()
        x = import_module("torch").ones(n, requires_grad=True)
        return lambda: inner(x).backward()

    return call


def quimbs(n):
    """The norm of quimb's random chain of n sites and bond 8, with its gradient."""
    qtn = import_module("quimb.tensor")
    import_module("qad.interop.quimb")

    def norm(arrays):
        psi = qtn.MatrixProductState(arrays)
        return (psi.H & psi) ^ all

    return gradient(norm, [np.array(x) for x in qtn.MPS_rand_state(n, 8, seed=1).arrays])


def tensornetworks(n):
    """Sz on all sites of the package's chain of n sites and bond 8, with its gradient."""
    tn = import_module("tensornetwork")
    import_module("qad.interop.tensornetwork")

    def magnetisation(tensors):
        psi = tn.FiniteMPS(tensors, canonicalize=True, backend="qad")
        return sum(psi.measure_local_operator([np.diag([1.0, -1.0])] * n, range(n)))

    return gradient(magnetisation, [np.array(x) for x in state(n, 8).tensors])


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
            lambda n: partial(mps.thermal_state, mps.ising(n, 1.0), 1.0, bond=16), SIZES,
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
            SIZES,
        ),
    ],
    "peps_finite": [
        (
            "energy of n sites (4 x 5, 10 x 10, 25 x 40), bond 2, chi = 8",
            lambda n: gradient(lambda s: qad.peps.finite.energy(s, qad.peps.heisenberg(), chi=8), plane(n)),
            SIZES,
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
    "complex_loss": [
        ("`qad.grad` of the real part, n numbers", lambda n: gradient(lambda z: np.sum(z**3).real, units(n)), SIZES),
        ("`qad.vjp`, n numbers to n", lambda n: lambda: qad.vjp(np.exp, units(n))[1](units(n)), SIZES),
        ("`qad.jvp`", lambda n: lambda: qad.jvp(np.exp, (units(n),), (units(n),)), SIZES),
        ("`qad.jacobian(..., holomorphic=True)`", partial(applied, qad.jacobian(np.exp, holomorphic=True)), SIZES),
        ("`qad.wirtinger`", partial(applied, qad.wirtinger(lambda z: z * np.conj(z) ** 2)), SIZES),
    ],
    "nan_gradients": [
        ("the gradient of a loop of n steps", lambda n: gradient(steps(n), np.full(4, 0.3)), SIZES),
        ("the same under `qad.debug(nans=True)`", partial(watched, partial(qad.debug, nans=True)), SIZES),
    ],
    "debugging": [
        ("the gradient of a loop of n steps", lambda n: gradient(steps(n), np.full(4, 0.3)), SIZES),
        ("the same under `qad.profile`", partial(watched, partial(qad.profile, show=False)), SIZES),
        (
            "`qad.check_grads` to second order, n numbers",
            lambda n: lambda: qad.check_grads(lambda x: np.sum(np.sin(x) ** 3), (np.linspace(0.1, 1.0, n),)), SIZES,
        ),
    ],
    "slow": [
        ("gradients of n examples, one by one", examples(lambda f: f), SIZES),
        ("the same, frozen", examples(qad.freeze), SIZES),
        ("the same under `qad.vmap`", lambda n: partial(qad.vmap(qad.grad(tanhs)), np.ones((n, 10))), SIZES),
    ],
    "out_of_memory": [
        ("the value alone, n steps on a thousand numbers", lambda n: partial(steps(n), np.ones(1000)), SIZES),
        ("with its gradient", lambda n: gradient(steps(n), np.ones(1000)), SIZES),
        ("in pieces of √n steps, each a `qad.checkpoint`", lambda n: gradient(pieces(n), np.ones(1000)), SIZES),
    ],
    "which_search": [
        ('`ground_state(..., method="dmrg2")`, Heisenberg, bond 16', search("dmrg2"), (20, 100)),
        ('`method="dmrg"`', search("dmrg"), (20, 100)),
        ('`method="riemannian"`', search("riemannian"), (20, 100)),
    ],
    "pictures": [
        ("`qad.draw` of a graph of 2 n operations", graph, (20, 100)),
        ("of a chain of n sites", lambda n: lambda: qad.draw(state(n)).svg, SIZES),
        ("of a circuit of n gates", lambda n: lambda: qad.draw(qad.Circuit(4).ry(0.3, np.arange(n) % 4)).svg, SIZES),
    ],
    "interop": [
        ("`qad.interop.torch.wrap`, n numbers, with the gradient", through("torch"), SIZES),
        ("`qad.interop.jax.wrap`, the same under `jax.jit`", through("jax"), SIZES),
        ("norm of quimb's chain of n sites, bond 8, with its gradient", quimbs, SIZES),
    ],
    "clusters": [
        ("`qad.for_each`, a search from each of n points, without an executor", points(None), SIZES),
        ("on an executor of one thread", points(ThreadPoolExecutor(1)), SIZES),
    ],
    "tensornetwork": [("`FiniteMPS` of n sites, bond 8: Sz on all, with the gradient", tensornetworks, SIZES)],
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


def memory(call):
    """The most that a second call holds at once, in words."""
    call()
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return f"{peak / 1e6:.3g} MB"


def table(rows, size="n", sizes=SIZES, cell=lambda call: duration(seconds(call))):
    """The table of a page, as Markdown."""
    lines = ["| on one thread | " + " | ".join(f"{size} = {n}" for n in sizes) + " |", "|---|" + "--:|" * len(sizes)]
    for what, call, measured in rows:
        cells = [cell(call(n)) if n in measured else "–" for n in sizes]
        lines.append(f"| {what} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main(wanted):
    """Measure, and write the tables of these pages, or of all."""
    warnings.simplefilter("ignore")
    for name, rows in COSTS.items():
        if not wanted or name in wanted:
            page = DOCS / f"{name}.md"
            made = table(
                rows, **{"peps": {"size": "D", "sizes": BONDS}, "out_of_memory": {"cell": memory}}.get(name, {})
            )
            page.write_text(
                PLACE.sub(lambda found, made=made: found[1] + made + "\n" + found[2], page.read_text("utf-8")), "utf-8"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
