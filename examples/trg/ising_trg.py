"""Thermodynamics of the two-dimensional Ising model by tensor renormalisation: lnZ(K), u = -lnZ', c = K^2 lnZ''.

A step (M. Levin and C. P. Nave, Phys. Rev. Lett. 99, 120601 (2007)) splits the tensor of a site along both diagonals,
drops small singular values, and joins four halves to a tensor of twice the area.  Two derivatives pass through twenty
steps; singular values coincide on the way (at K = 0.5 twofold, from step 12 on), where derivatives of singular vectors
do not exist.  `qad.linalg.split` differentiates the kept spaces, which are smooth.  ``--short``: K = 0.5 only.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
couplings = (0.5,) if short else (0.38, 0.4, 0.415, 0.425, 0.43, 0.435, 0.44, 0.45, 0.455, 0.46, 0.48, 0.5)


def log_z(K, chi=16, steps=20):
    """``lnZ`` per site of ``Z = sum exp(K sum_<ij> s_i s_j)``, bonds cut to `chi`."""
    half = np.sqrt(qad.array([[np.cosh(K), np.sinh(K)]])) * np.array([[1, 1], [1, -1]])
    tensor, total = qad.einsum("ai,aj,ak,al->ijkl", half, half, half, half), 0.0  # legs right, up, left, down
    for n in range(steps):
        size, d = np.abs(tensor).max(), len(tensor)
        total, tensor = total + np.log(size) / 2**n, tensor / size
        halves = []
        for axes in ((2, 1, 0, 3), (3, 2, 1, 0)):
            p, q = qad.linalg.split(tensor.transpose(axes).reshape(d * d, d * d), chi, cutoff=1e-12, multiplets="drop")
            halves += [p.reshape(d, d, -1), q.reshape(-1, d, d)]
        tensor = qad.einsum("war,lbg,abu,dgw->ruld", *halves)
    return total + np.log(qad.einsum("ijij->", tensor)) / 2**steps


def onsager(K):
    """The exact ``lnZ`` (Phys. Rev. 65, 117 (1944)), its integral over 0 < x < pi/2 by the midpoint rule."""
    m, x = 2 * np.sinh(2 * K) / np.cosh(2 * K) ** 2, np.pi * (np.arange(2**14) + 0.5) / 2**15
    return np.log(2 * np.cosh(2 * K)) + np.mean(np.log((1 + np.sqrt(1 - (m * np.sin(x)) ** 2)) / 2)) / 2


def thermodynamics(f, K):
    """``(f, -f', K^2 f'')``: forward mode in forward mode."""
    (value, first), (_, second) = qad.jvp(lambda K: qad.jvp(f, (K,), (1.0,)), (K,), (1.0,))
    return value, -first, K**2 * second


found, exact = (np.array([thermodynamics(f, K) for K in couplings]) for f in (log_z, onsager))
for K, a, b in zip(couplings, found, exact, strict=True):
    print(f"K = {K:.3f}   lnZ {a[0]:.9f}   exact {b[0]:.9f} (Onsager)   c {a[2]:.4f}   exact {b[2]:.4f}")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
fine = np.linspace(min(couplings) - 0.02, max(couplings) + 0.02, 100)
plt.plot(fine, [thermodynamics(onsager, K)[2] for K in fine], label="Onsager")
plt.plot(couplings, found[:, 2], "o", label="TRG and qad")
plt.gca().set(xlabel="coupling K", ylabel="specific heat c")
plt.legend()
plt.savefig(__file__.replace(".py", ".png"))
