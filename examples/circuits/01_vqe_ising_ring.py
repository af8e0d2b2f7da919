"""The ground state of the critical Ising ring, H = -sum Z_i Z_(i+1) - sum X_i, by a variational circuit.

A layer is exp(-i a sum ZZ / 2) and exp(-i b sum X / 2), two angles; the first acts on |+...+>.  With n/2 layers they
reach the ground state exactly (W. W. Ho and T. H. Hsieh, SciPost Phys. 6, 029 (2019)): the error falls off a cliff
there.  ``--short``: 6 qubits instead of 12.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
n = 6 if short else 12
sites = np.arange(n)
H = [(-1.0, "ZZ", (i, (i + 1) % n)) for i in sites] + [(-1.0, "X", [i]) for i in sites]
H = qad.PauliSum.on_sites(n, H)


def energy(angles):
    """Of the state after ``len(angles)`` layers."""
    circuit = qad.Circuit(n).h(sites)
    for a, b in angles:
        circuit.rzz(a, sites, (sites + 1) % n).rx(b, sites)
    return circuit.expectation(H)


k = np.pi * (2 * sites + 1) / n  # momenta of the even sector
exact = -np.sqrt(2 - 2 * np.cos(k)).sum()  # free fermions: P. Pfeuty, Ann. Phys. 57, 79 (1970)

angles, curves = np.array([[-0.5, -0.5]]), []
for layers in range(1, n // 2 + 1):
    old, new = np.linspace(0, 1, len(angles)), np.linspace(0, 1, layers)
    start = np.stack([np.interp(new, old, column) for column in angles.T], 1)  # the last, stretched
    found = qad.optimize.minimize(qad.freeze(qad.value_and_grad(energy)), start, gtol=1e-9, jac=True)
    angles, curves = found.params, [*curves, found.history]
    print(f"{layers} layers   energy {found.fun:.12f}   exact {exact:.12f} (free fermions)")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
for layers, curve in enumerate(curves, 1):
    plt.semilogy(np.maximum(1 - curve / exact, 1e-16), label=f"{layers} layers")
plt.xlabel("iteration of L-BFGS")
plt.ylabel("relative error of the energy")
plt.legend()
plt.savefig(__file__.replace(".py", ".png"))
