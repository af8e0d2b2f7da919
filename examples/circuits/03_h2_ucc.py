"""The hydrogen molecule by unitary coupled cluster, from fermions to qubits, against full configuration interaction.

Two orbitals in the minimal basis STO-3G, four spin orbitals, four qubits after Jordan and Wigner.  Symmetry allows one
double excitation T of the Hartree-Fock state |1100>, so that exp(t (T - T^H)) |1100> is exact at every distance.
``--short``: 3 distances instead of 21.
"""

import json
import sys
from itertools import product
from pathlib import Path

import numpy as np

import qad

short = "--short" in sys.argv
data = json.loads(Path(__file__).with_name("h2_sto3g.json").read_text("utf-8"))["rows"]
data = [row for row in data if not short or row[0] in (1.0, 1.4, 4.0)]  # distances and integrals, in atomic units

# The fermion operators a_p of orbital p // 2 and spin p % 2: Z on the modes before, then (X + i Y) / 2.
a = [qad.PauliSum({("Z" * p + "X").ljust(4, "I"): 0.5, ("Z" * p + "Y").ljust(4, "I"): 0.5j}) for p in range(4)]
c = [x.adjoint() for x in a]
T = c[2] @ c[3] @ a[1] @ a[0]
real = lambda x: qad.PauliSum({string: z.real for string, z in x.terms.items() if abs(z) > 1e-12})


def hamiltonian(nuclear, h11, h22, g1111, g2222, g1122, g1212):
    """``sum h_pq c_p a_q + 1/2 sum (pq|rs) c_p c_r a_s a_q`` over orbitals and spins, and the nuclear repulsion."""
    two = {(0, 0, 0, 0): g1111, (1, 1, 1, 1): g2222, (0, 0, 1, 1): g1122, (1, 1, 0, 0): g1122}
    two |= dict.fromkeys([(0, 1, 0, 1), (0, 1, 1, 0), (1, 0, 0, 1), (1, 0, 1, 0)], g1212)
    H = qad.PauliSum({"IIII": nuclear})
    for p, h in enumerate((h11, h11, h22, h22)):
        H = H + h * c[p] @ a[p]
    for ((p, q, r, s), g), x, y in product(two.items(), (0, 1), (0, 1)):
        H = H + g / 2 * c[2 * p + x] @ c[2 * r + y] @ a[2 * s + y] @ a[2 * q + x]
    return real(H)


rows, pairs = [], [index for index in range(16) if index.bit_count() == 2]  # states of two electrons
G = real(1j * (T - T.adjoint()))  # its strings commute
for distance, *integrals in data:
    H = hamiltonian(*integrals)
    energy = lambda t, H=H: qad.Circuit(4).x([0, 1]).evolve(G, t).expectation(H)
    found = qad.optimize.minimize(energy, np.array(0.1), gtol=1e-9)
    exact = np.linalg.eigvalsh(H.matrix()[np.ix_(pairs, pairs)])[0]
    rows.append((energy(0.0), found.fun, exact))
    print(f"{distance:.1f} bohr   energy {found.fun:.10f}   exact {exact:.10f} hartree (full CI)")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
distance, (fock, cluster, exact) = [row[0] for row in data], np.array(rows).T
plt.plot(distance, fock, "--", distance, exact, "-", distance, cluster, "o")
plt.gca().set(xlabel="distance (bohr)", ylabel="energy (hartree)")
plt.legend(["Hartree-Fock", "full CI", "UCC circuit"])
plt.savefig(__file__.replace(".py", ".png"))
