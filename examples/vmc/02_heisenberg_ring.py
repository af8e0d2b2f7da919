"""Heisenberg's ring by exact sums: a Jastrow factor beside Boltzmann machines.

Without noise they show what a wave function can express. The model is turned to have a positive ground state, and all
functions are the same after every translation.  ``--short``: 10 spins instead of 16.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
n, exact, steps = (10, -4.515446354492, 50) if short else (16, -7.142296360617, 100)
H, space, moved = qad.mps.xxz(n, -1.0, j=-1.0, periodic=True), qad.vmc.Spins(n, total=0), qad.vmc.translations(n)


def machine(params, s):
    return qad.vmc.log_cosh(s[:, moved].reshape(-1, n) @ params).reshape(len(s), -1).sum(-1)


def jastrow(params, s):
    return sum(p * (s * np.roll(s, d, axis=1)).sum(-1) for d, p in enumerate(params, 1))


functions, found = {"a Jastrow factor": (jastrow, np.zeros(n // 2))}, {}
functions |= {f"{k} n hidden units": (machine, 0.1 * np.random.default_rng(k).normal(size=(n, k))) for k in (1, 2, 4)}
for name, (log_psi, params) in functions.items():
    options = {"sampler": "exact", "steps": steps, "rate": 0.15, "shift": lambda k: max(1e-3, 0.1 * 0.9**k)}
    found[name] = qad.vmc.ground_state(log_psi, params, H, space, **options)
    print(f"{name}: {found[name].energy.mean:.6f}   exact {exact:.6f} (Bethe ansatz)")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
for name, result in found.items():
    plt.semilogy(result.history - exact, label=name)
plt.legend(title="energy above the exact one, by steps")
plt.savefig(__file__.replace(".py", ".png"))
