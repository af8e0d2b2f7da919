"""Open and disordered chains: the steady current of a driven XX chain, its relaxation, and a localised eigenstate.

The Lindblad equation acts on a chain of density matrices; all numbers are beside dense ones.  ``--short``: 3 sites for
the open chain and 8 for the disordered one instead of 4 and 10.
"""

import sys

import numpy as np
import scipy.linalg

import qad

short = "--short" in sys.argv
n, m, rate, time = (3, 8, 1.0, 2.0) if short else (4, 10, 1.0, 2.0)
H = qad.mps.OpSum(n)
for i in range(n - 1):
    H = H.add(1.0, "Sx", i, "Sx", i + 1).add(1.0, "Sy", i, "Sy", i + 1)
G = qad.mps.lindblad(H, [(rate, "Sp", 0), (rate, "Sm", n - 1)])
rho = qad.mps.density(qad.mps.MPS.product(["down"] * n))
later = qad.mps.evolve(rho, G, time, steps=80, method="tebd4", hermitian=False).state
found = qad.mps.density_measure(later, "Sz").real

exact = scipy.linalg.expm(-1j * time * G.mpo().to_dense()) @ rho.to_dense().reshape(-1)
whole = exact.reshape((2, 2) * n).transpose(*range(0, 2 * n, 2), *range(1, 2 * n, 2)).reshape(2**n, 2**n)
for i in range(n):
    right = np.trace(whole @ qad.mps.OpSum(n).add(1.0, "Sz", i).mpo().to_dense()).real
    print(f"<Sz> of site {i} {found[i]:.7f}   exact {right:.7f} (dense)")

steady = qad.mps.steady_state(G, 8, tol=1e-7).state
flow = qad.mps.OpSum(n).add(0.5j, "Sp", 0, "Sm", 1).add(-0.5j, "Sm", 0, "Sp", 1)
current = qad.mps.density_measure(steady, flow).real
print(f"steady current {current:.7f}   exact {rate / (1 + rate**2) / 2:.7f} (free fermions)")

fields = np.random.default_rng(1).uniform(-8, 8, m)
K = qad.mps.xxz(m, 1.0, h=fields)
start = qad.mps.MPS.product(["up", "down"] * (m // 2), conserve="Sz")
state = qad.mps.excited_state(K, start)
levels = np.linalg.eigvalsh(K.to_dense())
print(f"localised level {state.energy:.8f}   exact {levels[abs(levels - state.energy).argmin()]:.8f} (dense)")
