"""The frustrated antiferromagnet J1-J2 on the square lattice, by one tensor.

Couplings across the diagonals weaken the order of the neighbours.  The state of each coupling is found from that of the
one before; the staggered moment falls, and the structure factor at (pi, pi) of the plain model, which is that at (0, 0)
of the turned one, is the derivative of a generating function.  ``--short``: two couplings of bond 2.
"""

import sys

import numpy as np

from qad import peps

short = "--short" in sys.argv
couplings = [0.0, 0.3] if short else [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
spin = np.diag([0.5, -0.5])

moments, energies, factors, start = [], [], [], None
for j2 in couplings:
    model = peps.j1j2(1.0, j2).rotated()
    options = {"seed": 4} if start is None else {"start": start}
    found = peps.ground_state(model, bond=2, chi=16, symmetry="c4v", tol=1e-9, **options)
    start = found.state
    m = [peps.local_expectations(found.state, name, found.environment)[0, 0] for name in ("Sx", "Sz")]
    moments.append(np.hypot(*m))
    energies.append(found.energy)
    factors.append(peps.structure_factor(found.state, spin, (0.0, 0.0), chi=12))
    print(f"J2 {j2:.1f}   energy {found.energy:.6f}   moment {moments[-1]:.4f}   S(pi, pi) {factors[-1]:.4f}")
print(f"energy {energies[0]:.8f}   exact {-0.6602310935} (published for this bond)")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(couplings, energies, "o-")
left.set(xlabel="J2 / J1", ylabel="energy per site")
right.plot(couplings, moments, "o-", label="staggered moment")
right.plot(couplings, factors, "s-", label="connected structure factor")
right.set(xlabel="J2 / J1")
right.legend()
figure.savefig(__file__.replace(".py", ".png"))
