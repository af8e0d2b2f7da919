"""Natural gradient beside Adam and steepest descent: the open Ising chain, H = -sum Z_i Z_(i+1) - sum X_i.

The natural gradient G^-1 dE, with G the quantum metric, measures a step by how far the state moves, however the circuit
is parametrised (J. Stokes et al., Quantum 4, 269 (2020)).  ``--short``: 4 qubits and 15 steps instead of 6 and 60.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
n, layers, steps = (4, 2, 15) if short else (6, 3, 60)
sites = np.arange(n)
H = [(-1.0, "ZZ", (i, i + 1)) for i in sites[:-1]] + [(-1.0, "X", [i]) for i in sites]
H = qad.PauliSum.on_sites(n, H)


def circuit(angles):
    """Layers on |+...+>: an RZZ on every bond and an RX on every site, each with an angle of its own."""
    c = qad.Circuit(n).h(sites)
    for layer in angles:
        c.rzz(layer[n:], sites[:-1], sites[1:]).rx(layer[:n], sites)
    return c


def descend(metric):
    """Energies on the way down by small steps along ``metric^-1 gradient``."""
    angles, energies = start, []
    for _ in range(steps):
        E, gradient = qad.value_and_grad(energy)(angles)
        energies.append(E)
        angles = angles - 0.1 * np.linalg.solve(metric(angles), gradient.ravel()).reshape(angles.shape)
    return energies


energy = lambda angles: circuit(angles).expectation(H)
start = np.random.default_rng(0).normal(scale=0.3, size=(layers, 2 * n - 1))
quantum_metric, one = qad.circuit.metric(circuit), np.eye(start.size)
curves = {
    "steepest descent": descend(lambda angles: one),
    "Adam": qad.optimize.adam(energy, start, 0.1, maxiter=steps).history,
    "natural gradient": descend(lambda angles: quantum_metric(angles) + 0.01 * one),
}
exact = -np.linalg.svd(np.eye(n) + np.eye(n, k=1), compute_uv=False).sum()  # E. Lieb et al., Ann. Phys. 16, 407 (1961)
for name, curve in curves.items():
    print(f"{name:16}   energy {curve[-1]:.6f}   exact {exact:.6f} (free fermions)")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
for name, curve in curves.items():
    plt.semilogy(np.array(curve) - exact, label=name)
plt.gca().set(xlabel="step", ylabel="energy above the exact one")
plt.legend()
plt.savefig(__file__.replace(".py", ".png"))
