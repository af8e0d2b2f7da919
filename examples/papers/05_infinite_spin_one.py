"""The infinite spin-1 chain: energy, string order, correlation length, and the Haldane gap from its excitations.

Beside S. R. White and D. A. Huse (1993) and the gap of J. Haegeman et al. (2013).  ``--short``: the AKLT chain, exact
at bond 2; there the gap is that of single magnons (D. P. Arovas et al. 1988).
"""

import sys

import numpy as np

import qad
from qad.mps import uniform

short = "--short" in sys.argv
ss = sum(np.kron(s, s) for s in (qad.mps.site("spin-1").operators[name] for name in ("Sx", "Sy", "Sz"))).real
model, bond = ((ss + ss @ ss / 3).reshape((3,) * 4), 2) if short else (ss.reshape((3,) * 4), 36)
found = uniform.ground_state(model, bond, cell=1)
gap = uniform.excitations(model, found.state, momentum=np.pi)[0]
turn = np.diag(np.exp(1j * np.pi * np.array([1, 0, -1])))
order = uniform.correlations(found.state, "Sz", "Sz", 60, string=turn, kind="spin-1")[0, -1].real


def length():
    """The correlation length, where the two lowest levels of the transfer operator would meet."""
    if short:
        return uniform.correlation_length(found.state)
    states = [uniform.ground_state(uniform.heisenberg(1), larger, conserve="Sz").state for larger in (36, 64, 120)]
    lowest, second = np.array([1 / uniform.correlation_lengths(psi, 2, charge=2)[0] for psi in states]).T
    return 1 / np.polyfit(second - lowest, lowest, 1)[1]


q = np.linspace(0.0, np.pi, 5)
structure = uniform.structure_factor(found.state, "Sz", "Sz", q, kind="spin-1").real
print("S(q)", structure.round(6))
print(f"correlation length {length():.2f}   exact {1 / np.log(3) if short else 6.03:.2f}")
print(f"gap {gap:.4f}   exact {20 / 27 if short else 0.41047925:.4f}")
print(f"energy {found.energy:.6f}   exact {-2 / 3 if short else -1.401484:.6f} per site")
print(f"string order {order:.5f}   exact {-4 / 9 if short else -0.374325:.5f}")
