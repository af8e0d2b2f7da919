"""A hundred Heisenberg spins, H = sum_i S_i . S_(i+1): gradients beside sweeps, against the Bethe ansatz.

Among the chains of one bond dimension L-BFGS walks along the gradient of the whole energy, in the metric of the state;
DMRG replaces two sites at a time by their ground state.  ``--short``: 16 sites and bond 16 instead of
100 and 48.
"""

import sys
from time import perf_counter

import qad

short = "--short" in sys.argv
n, bond = (16, 16) if short else (100, 48)
exact = {16: -6.911737145575, 100: -44.127739893296}[n]  # 01_heisenberg_ground_state.py computes it

H = qad.mps.OpSum(n)
for i in range(n - 1):
    H.add(0.5, "Sp", i, "Sm", i + 1).add(0.5, "Sm", i, "Sp", i + 1).add(1.0, "Sz", i, "Sz", i + 1)
H = H.mpo()

curves = {}
for method in ("dmrg2", "riemannian"):
    seconds, begin = [], perf_counter()

    def clock(psi, energy, seconds=seconds, begin=begin):
        seconds.append(perf_counter() - begin)

    found = qad.mps.ground_state(H, bond, method, tol=1e-9, callback=clock)
    curves[method] = seconds, 1 - found.history[1:] / exact
    print(f"{method:10}   energy {found.energy:.12f}   exact {exact:.12f} (Bethe ansatz)   {seconds[-1]:.0f} s")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
for method, (seconds, error) in curves.items():
    plt.loglog(seconds, error, label=method)
plt.xlabel("seconds")
plt.ylabel("relative error of the energy")
plt.legend()
plt.savefig(__file__.replace(".py", ".png"))
