"""Free fermions with p + ip pairing on the square lattice, without strings.

The tensors are graded, so that signs of exchanges are part of every contraction.  Free fermions have an exact energy,
the mean over momenta of (xi - E) / 2, and the number of particles is its slope.  ``--short``: one chemical potential.
"""

import sys

import numpy as np

from qad import peps

short = "--short" in sys.argv
potentials = [-5.0] if short else [-8.0, -7.0, -6.0, -5.0, -4.5]
kx, ky = np.meshgrid(*[(np.arange(400) + 0.5) * np.pi / 200] * 2)

energies, particles = [], []
for mu in potentials:
    xi = -2 * (np.cos(kx) + np.cos(ky)) - mu
    E = np.sqrt(xi**2 + 4 * (np.sin(kx) ** 2 + np.sin(ky) ** 2))
    found = peps.ground_state(peps.fermions(1.0, delta=1.0, mu=mu), bond=2, chi=10, tol=1e-8)
    number = peps.local_expectations(found.state, "N", found.environment).mean()
    energies.append((found.energy, np.mean(xi - E) / 2))
    particles.append((number, np.mean(1 - xi / E) / 2))
    print(f"mu {mu:.1f}   particles {number:.6f}   exact {particles[-1][1]:.6f}")
    print(f"energy {energies[-1][0]:.8f}   exact {energies[-1][1]:.8f} (sum over momenta)")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, rows, label in zip(axes, (energies, particles), ("energy per site", "particles per site"), strict=True):
    ax.plot(potentials, np.array(rows)[:, 1], "k.-", lw=1, label="exact")
    ax.plot(potentials, np.array(rows)[:, 0], "o", label="bond 2")
    ax.set(xlabel="chemical potential", ylabel=label)
axes[0].legend()
figure.savefig(__file__.replace(".py", ".png"))
