"""The Heisenberg antiferromagnet on the infinite square lattice, by one tensor.

Every second spin is turned by i sigma_y, so that a single site with all symmetries of the square is enough.  Its
energy is differentiated through the fixed point of the corner transfer matrix, and L-BFGS does the rest.  The order
parameter is too large, as in every state of so little entanglement.  ``--short``: bond 2 only, instead of 2 and 3.
"""

import sys

import numpy as np

from qad import peps

short = "--short" in sys.argv
sizes = ((2, 16),) if short else ((2, 16), (3, 36))
exact, order = -0.6694421, 0.30743  # A. W. Sandvik and H. G. Evertz 2010; A. W. Sandvik 2010

model = peps.heisenberg().rotated()
found = {}
for bond, chi in sizes:
    found[bond] = result = peps.ground_state(model, bond, chi, symmetry="c4v", seed=4, progress=True)
    spin = [peps.local_expectations(result.state, name, result.environment)[0, 0] for name in ("Sx", "Sz")]
    length = peps.correlation_length(result.environment)
    print(f"bond {bond}, chi {result.environment.chi}: order parameter {np.hypot(*spin):.4f} (exact {order})", end=", ")
    print(f"correlation length {length:.3f}")
    print(f"energy {result.energy:.10f}   exact {exact} (quantum Monte Carlo)")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for bond, result in found.items():
    left.semilogy(result.history - exact, label=f"bond {bond}")
    right.semilogy(np.linalg.svd(result.environment.corners[0], compute_uv=False), "o", label=f"bond {bond}")
left.set(xlabel="iteration of L-BFGS", ylabel="energy per site above the exact one")
right.set(xlabel="number", ylabel="values of the corner")
left.legend()
figure.savefig(__file__.replace(".py", ".png"))
