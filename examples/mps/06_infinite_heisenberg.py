"""The infinite Heisenberg chain by a uniform matrix product state of two sites, against 1/4 - ln 2.

VUMPS finds it: centres on both sites, between infinite environments.  The chain is critical: correlation length and
entropy grow with the bond dimension, as S = (c/6) ln xi with c = 1 (P. Calabrese and J. Cardy 2004).  ``--short``:
bonds 2 and 4 instead of 4 to 24.
"""

import sys

import numpy as np

from qad.mps import uniform

short = "--short" in sys.argv
bonds = (2, 4) if short else (4, 8, 12, 16, 24)

sp, sz = np.array([[0.0, 1.0], [0.0, 0.0]]), np.diag([0.5, -0.5])
h = sum(np.multiply.outer(a, b) for a, b in ((sp / 2, sp.T), (sp.T / 2, sp), (sz, sz)))
h = h.transpose(0, 2, 1, 3)  # S . S of two neighbours, with legs (out, out, in, in)
exact = 0.25 - np.log(2)

rows = []
for bond in bonds:
    found = uniform.ground_state(h, bond, cell=2, tol=1e-9)
    length, entropy = uniform.correlation_length(found.state), uniform.entanglement_entropy(found.state).mean()
    rows.append((found.energy, length, entropy))
    print(f"bond {bond:2}   energy {found.energy:.9f}   exact {exact:.9f} (L. Hulthén 1938)")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
energy, length, entropy = np.array(rows).T
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.semilogy(np.log(length), energy - exact, "o-")
left.set(xlabel=r"$\ln\xi$", ylabel="energy per site above the exact one")
right.plot(np.log(length), entropy, "o", label="matrix product state")
right.plot(np.log(length), np.log(length / length[-1]) / 6 + entropy[-1], label="slope 1/6")
right.set(xlabel=r"$\ln\xi$", ylabel="entropy (nats)")
right.legend()
figure.savefig(__file__.replace(".py", ".png"))
