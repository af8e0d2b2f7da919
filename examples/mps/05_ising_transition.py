"""The transition of the Ising chain in a transverse field: H(g) = -sum sz_i sz_(i+1) - g sum sx_i, open ends.

Ground states by two-site sweeps, each from the one before.  At its minimum the energy has no slope in the state, so
that the magnetisation is a derivative by the field alone, <sx> = -dE/dg / n (Hellmann and Feynman); the entropy of
one half peaks at the transition, beyond which it is the ln 2 of a cat.  ``--short``: 10 sites, 3 fields; else 40, 19.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
n, bond, fields = (10, 12, [1.5, 1.0, 0.8]) if short else (40, 24, np.linspace(1.6, 0.7, 19))


def hamiltonian(g):
    terms = qad.mps.OpSum(n).add(-g, "X", n - 1)
    for i in range(n - 1):
        terms.add(-1.0, "Z", i, "Z", i + 1).add(-g, "X", i)
    return terms.mpo()


def exact_energy(g):
    """Free fermions: E. Lieb, T. Schultz and D. Mattis, Ann. Phys. 16, 407 (1961)."""
    return -qad.linalg.svdvals(g * np.eye(n) + np.eye(n, k=1)).sum()


psi, rows = None, []
for g in map(float, fields):
    found = qad.mps.ground_state(hamiltonian(g), bond, "dmrg2", start=psi, tol=1e-12)
    psi = found.state
    slope = qad.grad(lambda g, psi=psi: qad.mps.energy(psi, hamiltonian(g)))(g)
    rows.append((g, -slope / n, -qad.grad(exact_energy)(g) / n, qad.mps.entanglement_entropy(psi, n // 2)))
    print(f"g = {g:.2f}   energy {found.energy:.10f}   exact {exact_energy(g):.10f} (free fermions)")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
g, magnetisation, exact, entropy = np.array(rows).T
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(g, exact, label="free fermions")
left.plot(g, magnetisation, "o", label="gradient of the energy")
left.set(xlabel="field g", ylabel=r"$\langle\sigma_x\rangle$")
left.legend()
right.plot(g, entropy, "o-")
right.set(xlabel="field g", ylabel="entropy of one half (nats)")
figure.savefig(__file__.replace(".py", ".png"))
