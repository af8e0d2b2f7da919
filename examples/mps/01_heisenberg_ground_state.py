"""Ground state of the open Heisenberg chain, H = sum_i S_i . S_(i+1), as a matrix product state: four ways down.

Three use the gradient of E = <psi|H|psi> / <psi|psi>: steepest descent by hand; L-BFGS; and L-BFGS preconditioned by
Schmidt values.  The default of `qad.mps.ground_state` sweeps over pairs of sites.  ``--short``: 10 sites, bond 16.
"""

import sys
from time import time

import numpy as np
from tqdm import trange

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


H, start = qad.mps.heisenberg(n), qad.mps.MPS.random(n, bond, dtype=complex, seed=0)
value_and_grad = qad.freeze(qad.value_and_grad(lambda psi: qad.mps.energy(psi, H)))


def descended():
    psi, energies = start, []
    for _ in trange(steps, desc="descent", disable=None):  # a bar where someone looks
        E, gradient = value_and_grad(psi)  # the gradient, too, is a chain of site tensors
        psi = qad.mps.MPS([a - 0.5 * g for a, g in zip(psi, gradient, strict=True)])
        energies.append(E)
    return energies


exact, curves = exact_energy(n), {}
ways = {
    "steepest descent": descended,
    "L-BFGS": lambda: qad.optimize.minimize(value_and_grad, start, maxiter=steps, jac=True, progress=True).history,
    "preconditioned L-BFGS": lambda: qad.mps.ground_state(H, method="lbfgs", start=start, progress=True).history,
    "sweeps": lambda: qad.mps.ground_state(H, bond, progress=True).history,
}
for name, way in ways.items():
    begin, curves[name] = time(), way()
    print(f"{name:21} energy {curves[name][-1]:.10f}   exact {exact:.10f} (Bethe ansatz) {time() - begin:5.1f} s")

qad.viz.history(curves, exact=exact).save(figure := __file__.replace(".py", ".png"), dpi=80)
print(f"figure: {figure}\nnext: docs/ground_states.md, for a Hamiltonian of your own; docs/gallery.md")
