"""A frustrated chain as for a paper: energy, gap, entanglement and structure factor of J1-J2 spins.

At J2 = J1/2 the ground state is a product of singlets (C. K. Majumdar and D. K. Ghosh 1969), which every number has to
show.  ``--short``: 20 spins instead of 100.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
n = 20 if short else 100
H = qad.mps.j1j2(n, 1.0, 0.5)
found = qad.mps.ground_state(H, bond=64, conserve="Sz")
print(f"energy {found.energy:.10f}   exact {-0.375 * n:.10f} (Majumdar and Ghosh)")

triplet = qad.mps.ground_state(H, bond=64, conserve="Sz", sector=2)
print(f"gap to one unit of Sz {triplet.energy - found.energy:.6f}, converged: {triplet.converged}")

entropy = found.state.entanglement_entropy()
print(f"largest entropy of a cut {max(entropy):.10f}   exact {np.log(2):.10f} (a singlet is cut)")

q = np.linspace(0.0, np.pi, 5)
structure = qad.mps.structure_factor(found.state, "Sz", "Sz", q).real
for momentum, number in zip(q, structure, strict=True):
    print(f"S({momentum:.3f}) {number:.9f}   exact {(1 - np.cos(momentum)) / 4:.9f} (singlets)")
