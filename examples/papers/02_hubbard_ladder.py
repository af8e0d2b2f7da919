"""A doped Hubbard ladder: its energy, and how pairs of electrons on rungs are correlated.

28 electrons on 2 x 16 sites at U = 8; the energy of bond 200 is that of TeNPy.  ``--short``: two electrons
on 2 x 2 sites, beside the dense matrix.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
length, bond = (2, 64) if short else (16, 200)
lattice = qad.mps.Lattice.ladder(length)
H, electrons = qad.mps.hubbard(lattice, 1.0, 8.0), 2 if short else 28
found = qad.mps.ground_state(H, bond, conserve=("N", "Sz"), sector=(electrons, 0), tol=1e-10 if short else 1e-7)

rungs = [(2 * x, 2 * x + 1) for x in range(length)]
pairs = qad.mps.pair_correlations(found.state, rungs, rungs).real
for distance in range(1, length // 2 + 1):
    middle = (length - distance) // 2
    print(f"singlets of rungs {distance} apart {pairs[middle, middle + distance]:.6f}")

exact, source = -19.86324, "TeNPy, bond 200"
if short:
    number = qad.mps.OpSum(4, "electron")
    for i in range(4):
        number = number.add(1.0, "N", i)
    count, levels = np.round(np.diag(number.mpo().to_dense())), H.to_dense()
    exact, source = np.linalg.eigvalsh(levels[np.ix_(count == 2, count == 2)])[0], "dense"
print(f"energy {found.energy:.6f}   exact {exact:.6f} ({source})")
