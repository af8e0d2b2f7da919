"""A thermal XX chain with conserved magnetisation: energy, specific heat and entropy at many temperatures.

One cooling passes all of them; beside free fermions whose modes have the energies cos(k).  ``--short``: 8 spins.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
n, betas = (8, [0.5, 1.0, 2.0]) if short else (30, np.linspace(0.5, 4.0, 8))
found = qad.mps.thermal_curve(qad.mps.xxz(n, 0.0), betas, conserve="Sz")

modes = np.cos(np.arange(1, n + 1) * np.pi / (n + 1))
for k, beta in enumerate(betas):
    filled = 1 / (1 + np.exp(beta * modes))
    energy, heat = filled @ modes, beta**2 * (filled * (1 - filled)) @ modes**2
    entropy = np.log1p(np.exp(-beta * modes)).sum() + beta * energy
    print(f"beta {beta:.2f} energy {found.energy[k]:.7f}   exact {energy:.7f} (free fermions)")
    print(f"beta {beta:.2f} specific heat {found.specific_heat[k]:.6f}   exact {heat:.6f} (free fermions)")
    print(f"beta {beta:.2f} entropy {found.entropy[k]:.6f}   exact {entropy:.6f} (free fermions)")
