"""Natural gradient against Adam and plain descent: one circuit, one start, the ground state of an Ising chain.

The natural gradient G^-1 g, with G the quantum metric, measures a step by how far the state moves, and so does not care
how the circuit is parametrised (J. Stokes et al., Quantum 4, 269 (2020)); it follows imaginary time.

    python examples/circuits/05_natural_gradient.py            # 6 qubits, 60 steps of each
    python examples/circuits/05_natural_gradient.py --short    # 4 qubits, 15 steps
"""

import argparse

import numpy as np

import qad


def ansatz(theta):
    """Layers of RZZ of neighbours and RX of all qubits on |+...+>, each with its own angle: `theta` (layers, 2n-1)."""
    n = (theta.shape[1] + 1) // 2
    c = qad.Circuit(n).h(range(n))
    for layer in theta:
        c.rzz(layer[n:], range(n - 1), range(1, n)).rx(layer[:n], range(n))
    return c


def hamiltonian(n, g):
    """``-sum Z_i Z_(i+1) - g sum X_i`` of an open chain."""
    bonds = [(-1.0, "ZZ", (i, i + 1)) for i in range(n - 1)]
    return qad.PauliSum.on_sites(n, bonds + [(-g, "X", [i]) for i in range(n)])


def exact_energy(n, g):
    """Of the open chain, by fermions: E. Lieb et al., Ann. Phys. 16, 407 (1961)."""
    return -np.linalg.svd(g * np.eye(n) + np.eye(n, k=1), compute_uv=False).sum()


def race(n, layers, steps, seed, g=1.0):
    """The history of the energy for each of the three ways down, at the best of a few rates each."""
    H = hamiltonian(n, g)
    start = np.random.default_rng(seed).normal(scale=0.3, size=(layers, 2 * n - 1))
    metric = qad.circuit.metric(ansatz)

    def energy(theta):
        return ansatz(theta).expectation(H)

    def descent(rate):
        return qad.optimize.natural_descent(
            energy, start, lambda _: np.eye(start.size), rate, maxiter=steps, damping=0.0
        )

    def adam(rate):
        return qad.optimize.adam(energy, start, rate, maxiter=steps)

    def natural(rate):
        return qad.optimize.natural_descent(energy, start, metric, rate, maxiter=steps, damping=1e-2)

    runs = {"gradient descent": (descent, (0.05, 0.1)), "Adam": (adam, (0.05, 0.1)),
            "natural gradient": (natural, (0.1,))}  # fmt: skip
    return {name: min(map(run, rates), key=lambda result: result.fun) for name, (run, rates) in runs.items()}


def plot(results, exact, path):
    """Error of the energy over steps."""
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    for (name, result), colour in zip(results.items(), ("0.5", "tab:orange", "tab:blue"), strict=True):
        axis.semilogy(result.history - exact, color=colour, label=name)
    axis.set(xlabel="step", ylabel="energy above the exact one")
    axis.legend()
    axis.grid(alpha=0.3)
    figure.savefig(path, dpi=150)
    print(f"plot: {path}")


def main(arguments=None):
    """Print the energies that are reached beside the exact one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="4 qubits, 15 steps, no plot")
    parser.add_argument("--seed", type=int, default=0, help="of the start")
    parser.add_argument("--plot", default="natural_gradient.png", help="where the plot goes")
    chosen = parser.parse_args(arguments)
    n, layers, steps = (4, 2, 15) if chosen.short else (6, 3, 60)
    results, exact = race(n, layers, steps, chosen.seed), exact_energy(n, 1.0)
    print(f"Ising chain of {n} qubits, {layers} layers, {steps} steps from one start")
    print(f"{'':18} {'energy':>14} {'exact':>14} {'error':>9}")
    for name, result in results.items():
        print(f"{name:18} {result.fun:14.8f} {exact:14.8f} {result.fun - exact:9.1e}")
    if not chosen.short:
        try:
            plot(results, exact, chosen.plot)
        except ImportError:
            print("for the plot: pip install matplotlib")
    return {name: result.fun - exact for name, result in results.items()}


if __name__ == "__main__":
    main()
