"""Every local expectation value from one gradient: Hellmann and Feynman with a field and a coupling on each place.

    H(g, J) = -sum_i J_i sz_i sz_(i+1) - sum_i g_i sx_i,    dE/dg_i = -<sx_i>,    dE/dJ_i = -<sz_i sz_(i+1)>

At its minimum the energy <psi|H|psi> has no slope in psi, so that its gradient by the couplings alone is that of the
ground state energy.  Free fermions give the exact ones, E = -sum of singular values of the bidiagonal matrix of g and J
(E. Lieb, T. Schultz and D. Mattis 1961), differentiated by qad too.  ``--short``: 8 sites instead of 40.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
n, bond = (8, 16) if short else (40, 24)


def hamiltonian(g, J):
    terms = qad.mps.OpSum(n)
    for i in range(n):
        terms.add(-g[i], "X", i)
    for i in range(n - 1):
        terms.add(-J[i], "Z", i, "Z", i + 1)
    return terms.mpo()


def exact_energy(g, J):
    return -qad.linalg.svdvals(np.diag(g) + np.diag(J, 1)).sum()


g = np.where(np.arange(n) < n // 2, 0.6, 1.4)  # ordered on the left, disordered on the right
J = np.ones(n - 1)
psi = qad.mps.ground_state(hamiltonian(g, J), bond, "dmrg2", tol=1e-13).state
by_g, by_J = qad.grad(lambda g, J: qad.mps.energy(psi, hamiltonian(g, J)), argnums=(0, 1))(g, J)
exact_g, exact_J = qad.grad(exact_energy, argnums=(0, 1))(g, J)
print(f"<sx> in the middle {-by_g[n // 2]:.10f}   exact {-exact_g[n // 2]:.10f} (free fermions)")
print(f"<sz sz> there      {-by_J[n // 2]:.10f}   exact {-exact_J[n // 2]:.10f}")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
plt.plot(-exact_g, label=r"$\langle\sigma^x_i\rangle$, free fermions")
plt.plot(-by_g, "o", label=r"$-\partial E/\partial g_i$")
plt.plot(np.arange(n - 1) + 0.5, -exact_J, label=r"$\langle\sigma^z_i\sigma^z_{i+1}\rangle$, free fermions")
plt.plot(np.arange(n - 1) + 0.5, -by_J, "s", label=r"$-\partial E/\partial J_i$")
plt.xlabel("site")
plt.legend()
plt.savefig(__file__.replace(".py", ".png"))
