"""The critical Ising ring by a Boltzmann machine, sampled.

The machine is a line of NumPy, the same after every translation; Markov chains sample it, and natural gradients
lower its energy, which is printed with its error beside that of free fermions, -2 / sin(pi / 2n) at the transition.
``--short``: 12 spins instead of 32.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
n, alpha, samples, steps = (12, 2, 512, 60) if short else (32, 3, 1024, 150)
H, exact = qad.mps.ising(n, 1.0, periodic=True), -2 / np.sin(np.pi / (2 * n))


def log_psi(W, s):
    return qad.vmc.log_cosh(s @ W[qad.vmc.translations(n)].transpose(1, 0, 2).reshape(n, -1)).sum(-1)


W = 0.05 * np.random.default_rng(0).normal(size=(n, alpha))
found = qad.vmc.ground_state(
    log_psi, W, H, qad.vmc.Spins(n), samples, steps, rate=0.05, shift=lambda k: max(1e-3, 0.1 * 0.95**k)
)
print(f"energy {found.energy}, V-score {qad.vmc.v_score(found.energy, n):.1e}")
print(f"with a standard error of {found.energy.error:.4f}: {found.energy.mean:.4f}   exact {exact:.4f} (free fermions)")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
plt.errorbar(range(steps), found.history - exact, found.errors, fmt=".", label="samples of the search")
plt.yscale("log")
plt.gca().set(xlabel="step", ylabel="energy above the exact one")
plt.legend()
plt.savefig(__file__.replace(".py", ".png"))
