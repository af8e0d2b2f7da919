"""The infinite Ising chain in a transverse field, H = -sum sz_i sz_(i+1) - g sum sx_i, from one tensor A repeated.

The transfer operator X -> sum_s A_s X A_s^H has a dominant eigenvalue lambda and eigenvectors l and r, which stand for
the two half-chains: E = <l| h A A |r> / (lambda^2 <l|r>).  Its gradient passes through them implicitly (H. Xie,
J.-G. Liu and L. Wang, Phys. Rev. B 101, 245139 (2020)).  ``--short``: one field, bonds 2 and 3.
"""

import sys

import numpy as np
from scipy import integrate

import qad

short = "--short" in sys.argv
fields, bonds = ((1.5,), (2, 3)) if short else ((0.5, 1.5, 1.0), (2, 4, 8))


def bond_hamiltonian(g):
    """``h = -sz sz - g (sx + sx) / 2`` of two neighbours, with legs (out, out, in, in)."""
    sx, sz, one = np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -1.0]), np.eye(2)
    return (-np.kron(sz, sz) - g / 2 * (np.kron(sx, one) + np.kron(one, sx))).reshape(2, 2, 2, 2)


def energy(A, h):
    """Energy per site of the state that repeats A (bond, 2, bond), made to look the same from both ends."""
    A = (A + A.transpose(2, 1, 0)) / 2
    A_s, one = A.transpose(1, 0, 2), np.eye(len(A))
    value, right, left = qad.linalg.dominant_eig(lambda X: (A_s @ X @ A_s.conj().mT).sum(0), one, "both")
    pair = qad.einsum("asb,btc->astc", A, A)
    return (qad.einsum("ab,astc,cd,uvst,buvd->", left.conj(), pair, right, h, pair.conj()) / value**2).real


def exact_energy(g):
    """Free fermions: P. Pfeuty, Ann. Phys. 57, 79 (1970)."""
    return -integrate.quad(lambda k: np.sqrt(1 + g**2 - 2 * g * np.cos(k)), 0, np.pi)[0] / np.pi


curves, rng = {}, np.random.default_rng(0)
for g in fields:
    A, curves[g], h = np.ones((1, 2, 1)), [], bond_hamiltonian(g)
    for bond in bonds:  # each starts from the state before, and some noise
        start = 1e-2 * rng.standard_normal((bond, 2, bond))
        start[: len(A), :, : len(A)] += A / np.linalg.norm(A)
        found = qad.optimize.minimize(lambda A, h=h: energy(A, h), start, maxiter=200, gtol=1e-9)
        A, curves[g] = found.params, [*curves[g], *found.history]
    print(f"g = {g}   energy {found.fun:.12f}   exact {exact_energy(g):.12f} (free fermions)")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
for g, curve in curves.items():
    plt.semilogy(np.array(curve) - exact_energy(g), label=f"g = {g}")
plt.xlabel(f"iteration of L-BFGS, at bonds {', '.join(map(str, bonds))} in turn")
plt.ylabel("energy per site above the exact one")
plt.legend()
plt.savefig(__file__.replace(".py", ".png"))
