"""The hydrogen molecule in a minimal basis by unitary coupled cluster, against full configuration interaction.

Two orbitals, four spin orbitals, four qubits after Jordan and Wigner.  One double excitation from the Hartree-Fock
state |1100> is all that symmetry allows, so that the circuit exp(t (T - T^H)) is exact at every distance.

    python examples/circuits/03_h2_ucc.py            # 21 distances
    python examples/circuits/03_h2_ucc.py --short    # 3 distances
"""

import argparse
import json
from itertools import product
from pathlib import Path

import numpy as np

import qad

DATA = json.loads(Path(__file__).with_name("h2_sto3g.json").read_text("utf-8"))


def annihilator(p):
    """The fermion operator a_p on four modes: Z on those before, and (X + i Y) / 2."""
    before = "Z" * p
    return qad.PauliSum({(before + letter).ljust(4, "I"): c for letter, c in (("X", 0.5), ("Y", 0.5j))})


A = [annihilator(p) for p in range(4)]  # orbital p // 2, spin p % 2
C = [a.adjoint() for a in A]


def hamiltonian(row):
    """``sum h_pq c_p a_q + 1/2 sum (pq|rs) c_p c_r a_s a_q`` and the nuclear repulsion, from a row of the data."""
    _, nuclear, h11, h22, g1111, g2222, g1122, g1212 = row
    one = {(0, 0): h11, (1, 1): h22}
    two = {(0, 0, 0, 0): g1111, (1, 1, 1, 1): g2222, (0, 0, 1, 1): g1122, (1, 1, 0, 0): g1122}
    two |= dict.fromkeys([(0, 1, 0, 1), (0, 1, 1, 0), (1, 0, 0, 1), (1, 0, 1, 0)], g1212)
    total = qad.PauliSum({"IIII": nuclear})
    for (p, q), h in one.items():
        for spin in (0, 1):
            total = total + h * C[2 * p + spin] @ A[2 * q + spin]
    for ((p, q, r, s), g), one_spin, other in product(two.items(), (0, 1), (0, 1)):
        i, j, k, m = 2 * p + one_spin, 2 * r + other, 2 * s + other, 2 * q + one_spin
        if i != j and k != m:
            total = total + (g / 2) * C[i] @ C[j] @ A[k] @ A[m]
    kept = {string: c.real for string, c in total.terms.items() if abs(c) > 1e-12}
    return qad.PauliSum(kept)


def excitation():
    """The Hermitian G of ``exp(t (T - T^H)) = exp(-i t G)`` with T = c_2 c_3 a_1 a_0; its strings commute."""
    up = C[2] @ C[3] @ A[1] @ A[0]
    generator = 1j * (up - up.adjoint())
    return qad.PauliSum({string: c.real for string, c in generator.terms.items() if abs(c) > 1e-12})


def ansatz(t):
    """Hartree-Fock, and the double excitation."""
    return qad.Circuit(4).x([0, 1]).evolve(excitation(), t)


def full_ci(H):
    """The lowest energy of two electrons, by diagonalisation."""
    two = [index for index in range(16) if index.bit_count() == 2]
    return np.linalg.eigvalsh(H.matrix()[np.ix_(two, two)])[0]


def plot(rows, path):
    """Energies over the distance, and what is left to full CI."""
    from matplotlib import pyplot as plt

    distance, fock, ucc, exact = np.array(rows).T
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    left.plot(distance, fock, "--", color="gray", label="Hartree-Fock")
    left.plot(distance, exact, "-", color="tab:blue", label="full CI")
    left.plot(distance, ucc, "o", ms=4, color="tab:orange", label="UCC circuit")
    left.set(xlabel="distance (bohr)", ylabel="energy (hartree)")
    left.legend()
    right.semilogy(distance, fock - exact, "--", color="gray", label="Hartree-Fock")
    right.semilogy(
        distance, np.maximum(np.abs(ucc - exact), 1e-16), "o-", ms=4, color="tab:orange", label="UCC circuit"
    )
    right.axhline(1.6e-3, color="k", lw=0.8, ls=":", label="chemical accuracy")
    right.set(xlabel="distance (bohr)", ylabel="energy above full CI (hartree)")
    right.legend(loc="center right")
    for axis in (left, right):
        axis.grid(alpha=0.3)
    figure.savefig(path, dpi=150)
    print(f"plot: {path}")


def main(arguments=None):
    """Print energies beside those of full CI."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="three distances, no plot")
    parser.add_argument("--plot", default="h2_ucc.png", help="where the plot goes")
    chosen = parser.parse_args(arguments)
    data = [row for row in DATA["rows"] if not chosen.short or row[0] in (1.0, 1.4, 4.0)]
    rows = []
    print(
        f"H2 in STO-3G, energies in hartree\n{'bohr':>5} {'Hartree-Fock':>14} {'UCC':>16} {'full CI':>16} {'apart':>8}"
    )
    for row in data:
        H = hamiltonian(row)
        found = qad.optimize.minimize(lambda t, H=H: ansatz(t).expectation(H), np.array(0.1), gtol=1e-9)
        rows.append((row[0], ansatz(0.0).expectation(H), found.fun, full_ci(H)))
        print("{:5.2f} {:14.8f} {:16.10f} {:16.10f} {:8.1e}".format(*rows[-1], abs(rows[-1][2] - rows[-1][3])))
    if not chosen.short:
        try:
            plot(rows, chosen.plot)
        except ImportError:
            print("for the plot: pip install matplotlib")
    return rows


if __name__ == "__main__":
    main()
