"""Ground state of the open Heisenberg chain, H = sum_i S_i . S_(i+1): the energy of a matrix product state, downhill.

Three ways use the gradient of E = <psi|H|psi> / <psi|psi>: steepest descent by hand; L-BFGS; and L-BFGS preconditioned
by Schmidt values, as `qad.mps.ground_state` does it.  ``--short``: 10 sites and bond 16 instead of 20 and 24.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
n, bond, steps = (10, 16, 150) if short else (20, 24, 400)


def exact_energy(n):
    """By the Bethe ansatz: F. C. Alcaraz et al., J. Phys. A 20, 6397 (1987).

    With t_k(x) = 2 arctan(2 x / k), the rapidities x_1 ... x_(n // 2) solve 2 n t_1(x_j) = 2 pi j + sum_(k != j)
    t_2(x_j - x_k) + t_2(x_j + x_k), by iteration.
    """
    j = np.arange(1, n // 2 + 1)
    x, before = np.tan(np.pi * j / (2 * n)) / 2, np.inf
    while np.max(np.abs(x - before) / x) > 1e-13:
        before = x
        t2 = 2 * np.arctan(x[:, None] - x) + 2 * np.arctan(x[:, None] + x)
        x = np.tan((2 * np.pi * j + t2.sum(1) - t2.diagonal()) / (4 * n)) / 2
    return (n - 1) / 4 - np.sum(2 / (4 * x**2 + 1))


H = qad.mps.OpSum(n)
for i in range(n - 1):
    for spin in ("Sx", "Sy", "Sz"):
        H.add(1.0, spin, i, spin, i + 1)
H, start = H.mpo(), qad.mps.MPS.random(n, bond, dtype=complex, seed=0)

value_and_grad = qad.freeze(qad.value_and_grad(lambda psi: qad.mps.energy(psi, H)))
psi, energies = start, []
for _ in range(steps):
    E, gradient = value_and_grad(psi)  # the gradient, too, is a chain of site tensors
    psi = qad.mps.MPS([a - 0.5 * g for a, g in zip(psi, gradient, strict=True)])
    energies.append(E)
lbfgs = qad.optimize.minimize(value_and_grad, start, maxiter=steps, jac=True)
search, exact = qad.mps.ground_state(H, method="lbfgs", start=start), exact_energy(n)
print(f"energy {search.energy:.10f}   exact {exact:.10f} (Bethe ansatz)")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
curves = {"steepest descent": energies, "L-BFGS": lbfgs.history, "preconditioned L-BFGS": search.history}
for name, curve in curves.items():
    plt.semilogy(1 - np.array(curve) / exact, label=name)
plt.xlabel("iteration")
plt.ylabel("relative error of the energy")
plt.legend()
plt.savefig(__file__.replace(".py", ".png"))
