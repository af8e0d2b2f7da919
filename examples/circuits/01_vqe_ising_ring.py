"""The ground state of the Ising ring by a variational circuit, against free fermions.

    H = -sum Z_i Z_(i+1) - g sum X_i

Layers of exp(i a sum ZZ / 2) and exp(i b sum X / 2) act on |+...+>: two angles a layer.  With n/2 layers they reach the
ground state exactly (W. W. Ho and T. H. Hsieh, SciPost Phys. 6, 029 (2019)); the error falls off a cliff there.

    python examples/circuits/01_vqe_ising_ring.py            # 12 qubits, 1 to 6 layers
    python examples/circuits/01_vqe_ising_ring.py --short    # 6 qubits
"""

import argparse

import numpy as np

import qad


def exact_energy(n, g):
    """Of the ring, n even: P. Pfeuty, Ann. Phys. 57, 79 (1970); momenta of the even sector."""
    k = np.pi * (2 * np.arange(n) + 1) / n
    return -np.sqrt(1 + g**2 - 2 * g * np.cos(k)).sum()


def hamiltonian(n, g):
    """The ring as a Pauli sum."""
    bonds = [(-1.0, "ZZ", (i, (i + 1) % n)) for i in range(n)]
    return qad.PauliSum.on_sites(n, bonds + [(-g, "X", [i]) for i in range(n)])


def ansatz(theta, n):
    """A row of `theta` is a layer: an angle for all bonds, and one for all sites."""
    sites = np.arange(n)
    c = qad.Circuit(n).h(sites)
    for bond, field in theta:
        c.rzz(bond, sites, (sites + 1) % n).rx(field, sites)
    return c


def search(n, g, layers, start):
    """Minimise the energy; one more layer begins with the angles of those before, stretched to their number."""
    H = hamiltonian(n, g)
    if len(start) < layers:
        old, new = np.linspace(0, 1, max(len(start), 1)), np.linspace(0, 1, layers)
        start = np.stack([np.interp(new, old, column) for column in start.T], -1)
    return qad.optimize.minimize(lambda theta: ansatz(theta, n).expectation(H), start, gtol=1e-9)


def plot(histories, exact, path):
    """Relative error over iterations, a curve for every number of layers."""
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    errors = [np.maximum(np.abs(history / exact - 1), 1e-16) for history in histories]
    for layers, error in enumerate(errors, 1):
        left.semilogy(error, color=plt.cm.viridis((layers - 1) / len(errors)), label=f"{layers}")
    left.set(xlabel="iteration of L-BFGS", ylabel="relative error of the energy")
    left.legend(title="layers", ncols=2)
    right.semilogy(range(1, len(errors) + 1), [error.min() for error in errors], "o-")
    right.axvline(len(errors), color="gray", ls="--", lw=0.8)
    right.annotate("$n/2$ layers: exact", (len(errors), 1e-6), xytext=(-90, 0), textcoords="offset points", ha="right")
    right.set(xlabel="layers", ylabel="relative error of the energy")
    for axis in (left, right):
        axis.grid(alpha=0.3)
    figure.savefig(path, dpi=150)
    print(f"plot: {path}")


def main(arguments=None):
    """Print energies beside the exact one, layer by layer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="6 qubits, no plot")
    parser.add_argument("--field", type=float, default=1.0, help="g; at 1 the ring is critical")
    parser.add_argument("--plot", default="vqe_ising_ring.png", help="where the plot goes")
    chosen = parser.parse_args(arguments)
    n = 6 if chosen.short else 12
    exact, theta, histories = exact_energy(n, chosen.field), np.full((1, 2), -0.5), []
    print(f"Ising ring of {n} qubits, g = {chosen.field}\n{'layers':>6} {'energy':>18} {'exact':>18} {'error':>9}")
    for layers in range(1, n // 2 + 1):
        found = search(n, chosen.field, layers, theta)
        theta, histories = found.params, [*histories, found.history]
        print(f"{layers:6} {found.fun:18.12f} {exact:18.12f} {found.fun - exact:9.1e}")
    if not chosen.short:
        try:
            plot(histories, exact, chosen.plot)
        except ImportError:
            print("for the plot: pip install matplotlib")
    return found.fun, exact


if __name__ == "__main__":
    main()
