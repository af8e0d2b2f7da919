"""The Ising model across its transition: energy, specific heat and magnetisation from corner transfer matrices.

ln Z per site of the infinite lattice is the fixed point of an iteration; its derivatives by beta and by the field are
those of the fixed point.  Below the transition the spins of the rim point up.  ``--short``: two temperatures only.
"""

import sys

import numpy as np

import qad
from qad.peps import classical, partition_function

short = "--short" in sys.argv
couplings = (0.3, 0.5) if short else (0.3, 0.36, 0.4, 0.42, 0.43, 0.435, 0.447, 0.455, 0.47, 0.5, 0.55, 0.6)
chi, critical = (12, np.log(1 + np.sqrt(2)) / 2) if short else (24, np.log(1 + np.sqrt(2)) / 2)


def log_z(beta, field=0.0):
    """``ln Z`` per site, in the phase of spins up where there are two."""
    rim = [1.0, 0.0] if beta > critical else None
    return partition_function(classical.ising(beta, field), chi, symmetry="c4v", boundary=rim, tol=1e-10)


def onsager(beta):
    """The exact ``ln Z`` (Phys. Rev. 65, 117 (1944)), its integral over 0 < x < pi/2 by the midpoint rule."""
    m, x = 2 * np.sinh(2 * beta) / np.cosh(2 * beta) ** 2, np.pi * (np.arange(2**14) + 0.5) / 2**15
    return np.log(2 * np.cosh(2 * beta)) + np.mean(np.log((1 + np.sqrt(1 - (m * np.sin(x)) ** 2)) / 2)) / 2


found = [classical.thermodynamics(log_z, beta) for beta in couplings]
exact = [classical.thermodynamics(onsager, beta) for beta in couplings]
magnetisation = [qad.grad(lambda h, beta=beta: log_z(beta, h))(0.0) for beta in couplings]
yang = [(1 - np.sinh(2 * beta) ** -4) ** 0.125 if beta > critical else 0.0 for beta in couplings]
for beta, a, b in zip(couplings, found, exact, strict=True):
    print(f"beta = {beta:.3f}   ln Z {a.log_z:.12f}   exact {b.log_z:.12f} (Onsager)")
    print(f"                energy {a.energy:.10f}   exact {b.energy:.10f}")
    print(f"                specific heat {a.specific_heat:.7f}   exact {b.specific_heat:.7f}")
for beta, a, b in zip(couplings, magnetisation, yang, strict=True):
    print(f"beta = {beta:.3f}   magnetisation {a:.9f}   exact {b:.9f} (Yang)")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
fine = [b for b in np.linspace(couplings[0], couplings[-1], 200) if abs(b - critical) > 1e-3]
plt.plot(fine, [classical.thermodynamics(onsager, b).specific_heat for b in fine], label="specific heat, Onsager")
plt.plot(couplings, [t.specific_heat for t in found], "o", label="specific heat, qad")
plt.plot(couplings, magnetisation, "s", label="magnetisation, qad")
plt.gca().set(xlabel="beta")
plt.legend()
plt.savefig(__file__.replace(".py", ".png"))
