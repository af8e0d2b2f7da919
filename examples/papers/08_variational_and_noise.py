"""A variational ground state of an Ising ring, and what noise does to its energy.

The ansatz of alternating layers is exact for n/2 of them; depolarising noise after every layer is computed by density
matrices.  ``--short``: 4 qubits instead of 8.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
n = 4 if short else 8
ring = [(i, (i + 1) % n) for i in range(n)]
H = qad.PauliSum.on_sites(n, [(-1.0, "ZZ", bond) for bond in ring] + [(-1.0, "X", (i,)) for i in range(n)])


def layers(angles, circuit, noise=0.0):
    """Alternating layers on the state of all spins along the field."""
    circuit.h(range(n))
    for coupling, field in angles:
        for i, j in ring:
            circuit.rzz(coupling, i, j)
        circuit.rx(field, range(n))
        for i in range(n) if noise else ():
            circuit.channel(qad.circuit.depolarizing(noise), i)
    return circuit


start = np.random.default_rng(1).uniform(0.2, 0.8, (n // 2, 2))
found = qad.optimize.minimize(lambda a: layers(a, qad.Circuit(n)).expectation(H), start, gtol=1e-9)
exact = -2 / np.sin(np.pi / (2 * n))
mean = layers(found.params, qad.circuit.NoisyCircuit(n), 0.01).expectation(H)
print(f"energy with noise {mean:.6f}, without {found.fun:.6f}")
print(f"energy {found.fun:.9f}   exact {exact:.9f} (free fermions)")
