"""Monte Carlo without a Markov chain: independent samples of a ground state, and what they estimate.

Amplitudes of a matrix product state are sampled exactly, one site after the other (A. J. Ferris and G. Vidal 2012).
``--short``: 1000 samples of 16 spins instead of 20,000 of 64.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
n, shots = (16, 1000) if short else (64, 20_000)
state = qad.mps.ground_state(qad.mps.ising(n, 1.0), bond=32).state
samples = 1 - 2.0 * state.sample(shots, seed=0)
zz = samples[:, n // 2 - 1] * samples[:, n // 2]
exact = qad.mps.correlations(state, "Z", "Z")[n // 2 - 1, n // 2].real
print(f"error of the mean {zz.std() / shots**0.5:.4f}, pulls {abs(zz.mean() - exact) / (zz.std() / shots**0.5):.2f}")

half = samples[: shots // 2].mean(axis=1)
binder = 1 - np.mean(half**4) / (3 * np.mean(half**2) ** 2)
print(f"Binder cumulant {binder:.3f}")
print(f"<Z Z> of the middle bond {zz.mean():.3f}   exact {exact:.3f} (contracted)")
