"""The classical Ising model on the square lattice: free energy, energy, specific heat, magnetisation.

Corner matrices, and derivatives of ln Z by the inverse temperature, beside L. Onsager (1944) and C. N. Yang (1952).
``--short``: chi = 24 instead of 64.
"""

import sys

import numpy as np
from scipy.integrate import quad
from scipy.special import ellipk

from qad.peps import classical

short = "--short" in sys.argv
chi, beta = (24 if short else 64), 0.5


def onsager(beta):
    """``ln Z`` per site."""
    k = 2 * np.sinh(2 * beta) / np.cosh(2 * beta) ** 2
    part = quad(lambda x: np.log((1 + np.sqrt(1 - (k * np.sin(x)) ** 2)) / 2), 0, np.pi / 2, epsabs=1e-13)[0] / np.pi
    return np.log(2 * np.cosh(2 * beta)) + part


def log_z(beta):
    """``ln Z`` per site by corner matrices."""
    return classical.partition_function(classical.ising(beta), chi, symmetry="c4v")


found = classical.thermodynamics(log_z, beta)
k = 2 * np.sinh(2 * beta) / np.cosh(2 * beta) ** 2
energy = -(1 + 2 / np.pi * (2 * np.tanh(2 * beta) ** 2 - 1) * ellipk(k * k)) / np.tanh(2 * beta)
print(f"ln Z per site {found.log_z:.10f}   exact {onsager(beta):.10f} (Onsager)")
print(f"energy per site {found.energy:.9f}   exact {energy:.9f} (Onsager)")
