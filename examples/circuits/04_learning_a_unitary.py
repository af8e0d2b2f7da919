"""A random unitary U is learned by a circuit V of rotations and CNOTs: the loss is 1 - |tr(U^H V) / d|^2.

The circuit runs on all basis states at once, a batch whose states are the columns of V.  A CNOT brings four new angles,
so that fewer than (4^n - 3n - 1) / 4 of them cannot be enough (V. V. Shende, I. L. Markov and S. S. Bullock, Phys. Rev.
A 69, 062321 (2004)); with that many the loss falls to 0.  ``--short``: 2 qubits instead of 3.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
n, counts = (2, (1, 2, 3)) if short else (3, (5, 8, 11, 13, 14))
enough, d = -(-(4**n - 3 * n - 1) // 4), 2**n
rng = np.random.default_rng(0)
q, r = np.linalg.qr(rng.normal(size=(d, d)) + 1j * rng.normal(size=(d, d)))
U = q * (r.diagonal() / np.abs(r.diagonal()))  # Haar random: F. Mezzadri, Notices AMS 54, 592 (2007)


def infidelity(angles):
    """Of rotations of all qubits and, after each layer of them but the last, a CNOT of neighbours."""
    c = qad.Circuit(n, initial=np.eye(d))
    for layer, (a, b, e) in enumerate(angles):
        if layer:
            c.cx((layer - 1) % (n - 1), (layer - 1) % (n - 1) + 1)
        c.rz(a, range(n)).ry(b, range(n)).rz(e, range(n))
    V = c.state().reshape(d, d).T
    return 1 - qad.abs2(np.sum(U.conj() * V) / d)


curves = {}
for cnots in counts:
    runs, step = [], qad.freeze(qad.value_and_grad(infidelity))
    for seed in range(4 if cnots >= enough else 1):  # where 0 can be reached, not every start leads there
        start = np.random.default_rng(seed).uniform(-np.pi, np.pi, (cnots + 1, 3, n))
        runs.append(qad.optimize.minimize(step, start, maxiter=1500, gtol=1e-9, jac=True))
    best = min(runs, key=lambda run: run.fun)
    curves[cnots] = best.history
    print(f"{cnots:2} CNOTs   infidelity {best.fun:.2e}   exact {'0' if cnots >= enough else 'above 0'}")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
for cnots, curve in curves.items():
    plt.loglog(np.maximum(curve, 1e-16), label=f"{cnots} CNOTs")
plt.xlabel("iteration of L-BFGS")
plt.ylabel("infidelity")
plt.legend()
plt.savefig(__file__.replace(".py", ".png"))
