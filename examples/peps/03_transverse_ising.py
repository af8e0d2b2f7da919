"""The Ising model in a transverse field on the square lattice, across its transition.

A site of bond 2 with all symmetries of the square is optimised for each field, with the gradients of a converged
environment.  The magnetisation along the bonds vanishes near g = 3.04; the derivative of the energy by the field, which
the theorem of Hellmann and Feynman gives as well, is checked against automatic differentiation.  ``--short``: two.
"""

import sys

import numpy as np

import qad
from qad import peps

short = "--short" in sys.argv
fields = [2.5, 3.1] if short else [2.0, 2.5, 2.8, 3.0, 3.1, 3.3, 3.6, 4.0]
chi = 12 if short else 16


def energy_at(g, found):
    """The energy per site of a state in a field."""
    return peps.energy(found.state, peps.ising(g), chi, found.environment)


along, across, energies, lengths = [], [], [], []
for g in fields:
    found = peps.ground_state(peps.ising(g), bond=2, chi=chi, symmetry="c4v", seed=0, tol=1e-8)
    z, x = (peps.local_expectations(found.state, name, found.environment)[0, 0] for name in ("Z", "X"))
    along.append(abs(z))
    across.append(x)
    energies.append(found.energy)
    lengths.append(peps.correlation_length(found.environment))
    slope = qad.grad(energy_at)(g, found)
    print(f"g {g:.1f}   energy {found.energy:.6f}   magnetisation {along[-1]:.4f}   length {lengths[-1]:.2f}")
    print(f"slope {slope:.10f}   exact {-x:.10f} (-<X>)")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(fields, along, "o-", label="along the bonds")
left.plot(fields, across, "s-", label="along the field")
left.axvline(3.04438, color="gray", lw=1)  # H. W. J. Bloete and Y. Deng 2002
left.set(xlabel="transverse field", ylabel="magnetisation")
left.legend()
right.plot(fields, np.array(lengths), "o-")
right.set(xlabel="transverse field", ylabel="correlation length / sites")
figure.savefig(__file__.replace(".py", ".png"))
