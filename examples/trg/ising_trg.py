"""The two-dimensional Ising model by tensor renormalisation, and its thermodynamics by differentiation.

    lnZ(K) per site,    u = -d lnZ/dK,    c = K^2 d^2 lnZ/dK^2

Each step of the tensor renormalisation group (M. Levin and C. P. Nave, Phys. Rev. Lett. 99, 120601 (2007)) splits the
tensor of four sites in two ways, drops small singular values, and joins four halves to a tensor of twice the area.
The derivatives go through all of the twenty steps.  Two obstacles make other libraries return NaN, or wrong numbers:
singular values coincide (at K = 0.5 twofold, from step 12 on), and the first steps have zeros among them.
`qad.linalg.split` differentiates the kept subspaces, which are smooth, and not the vectors in them.

The method itself jumps, by some 1e-9, wherever a kept and a dropped singular value cross: differences of lnZ near
K = 0.44 give a specific heat of 3.4 or of 13, as the step is chosen, where the derivative of the program is 3.312.

Run: ``python examples/trg/ising_trg.py``; ``--short`` for two temperatures and no plot.
"""

import argparse

import numpy as np
from scipy import integrate, special

import qad

CHI, STEPS = 16, 20
COUPLINGS = (0.38, 0.4, 0.41, 0.42, 0.43, 0.435, 0.44, 0.45, 0.455, 0.46, 0.48, 0.5)
SHORT = (0.44, 0.5)
CRITICAL = np.log(1 + np.sqrt(2)) / 2


def log_partition_function(coupling, chi=CHI, steps=STEPS):
    """``lnZ`` per site of ``Z = sum exp(K sum_<ij> s_i s_j)`` on the square lattice.

    Parameters
    ----------
    coupling : float
        ``K = J / kT``, may be traced.
    chi : int
        The largest bond.
    steps : int
        Doublings of the area.
    """
    even, odd = np.sqrt(np.cosh(coupling)), np.sqrt(np.sinh(coupling))
    half = np.stack([np.stack([even, odd]), np.stack([even, -odd])])
    tensor = qad.einsum("ai,aj,ak,al->ijkl", half, half, half, half)  # legs right, up, left, down
    total = 0.0
    for n in range(steps):
        size = np.abs(tensor).max()
        total = total + np.log(size) / 2**n
        tensor = coarser(tensor / size, chi)
    return total + np.log(qad.einsum("ijij->", tensor)) / 2**steps


def coarser(tensor, chi):
    """The tensor of twice the area: split along both diagonals, and four halves joined."""
    d = tensor.shape[0]
    p, q = halves(tensor.transpose(2, 1, 0, 3).reshape(d * d, d * d), d, chi)
    v, w = halves(tensor.transpose(3, 2, 1, 0).reshape(d * d, d * d), d, chi)
    return qad.einsum("war,abu,lbg,dgw->ruld", p, v, q, w)


def halves(matrix, d, chi):
    """The two factors of the truncated `matrix`, with legs of size `d`."""
    p, q = qad.linalg.split(matrix, chi, cutoff=1e-12, multiplets="drop")
    return p.reshape(d, d, -1), q.reshape(-1, d, d)


def thermodynamics(coupling, chi=CHI, steps=STEPS):
    """``lnZ``, u and c at coupling K: value, first and second derivative in one call."""

    def slope(k):
        return qad.jvp(lambda k: log_partition_function(k, chi, steps), (k,), (1.0,))

    (log_z, first), (_, second) = qad.jvp(slope, (coupling,), (1.0,))
    return float(log_z), -float(first), coupling**2 * float(second)


def onsager(coupling):
    """The exact ``lnZ``, u and c (L. Onsager, Phys. Rev. 65, 117 (1944))."""
    m = 2 * np.sinh(2 * coupling) / np.cosh(2 * coupling) ** 2
    log_z = np.log(2 * np.cosh(2 * coupling)) + integrate.quad(
        lambda x: np.log((1 + np.sqrt(abs(1 - (m * np.sin(x)) ** 2))) / 2), 0, np.pi / 2, limit=200
    )[0] / np.pi  # fmt: skip
    first, second = special.ellipk(m**2), special.ellipe(m**2)
    tanh2 = np.tanh(2 * coupling)
    swing = 2 * tanh2**2 - 1
    u = -(1 + 2 / np.pi * swing * first) / tanh2
    bracket = first - second - (1 - tanh2**2) * (np.pi / 2 + swing * first)
    return log_z, u, 4 / np.pi * (coupling / tanh2) ** 2 * bracket


def plot(couplings, found, path):
    """Energy and specific heat beside Onsager's curves."""
    from matplotlib import pyplot as plt

    fine = np.concatenate([np.linspace(0.36, 0.4405, 200), np.linspace(0.4408, 0.52, 200)])
    exact = np.array([onsager(k) for k in fine])
    figure, axes = plt.subplots(2, 1, sharex=True, figsize=(6, 6), layout="constrained")
    for axis, column, label in zip(axes, (1, 2), ("energy per site $u$", "specific heat $c$"), strict=True):
        axis.plot(fine, exact[:, column], color="0.6", label="Onsager")
        axis.plot(couplings, [row[column] for row in found], "o", ms=4, label=f"TRG and qad, $\\chi={CHI}$")
        axis.axvline(CRITICAL, color="0.8", lw=0.8, zorder=0)
        axis.set_ylabel(label)
    axes[1].set_xlabel("coupling $K$")
    axes[0].legend()
    figure.savefig(path, dpi=150)
    print(f"plot: {path}")


def main(arguments=None):
    """Print a table of found and exact numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="two temperatures, no plot")
    parser.add_argument("--plot", default="ising_trg.png", help="where the plot goes")
    options = parser.parse_args(arguments)
    couplings = SHORT if options.short else COUPLINGS
    print(f"{'K':>6} {'lnZ':>16} {'exact':>16} {'u':>12} {'exact':>12} {'c':>9} {'exact':>9}")
    found = []
    for k in couplings:
        found.append(thermodynamics(k))
        (f, u, c), (f0, u0, c0) = found[-1], onsager(k)
        print(f"{k:6.3f} {f:16.13f} {f0:16.13f} {u:12.8f} {u0:12.8f} {c:9.5f} {c0:9.5f}")
    if not options.short:
        try:
            plot(couplings, found, options.plot)
        except ImportError:
            print("for the plot: pip install matplotlib")
    return dict(zip(couplings, found, strict=True))


if __name__ == "__main__":
    main()
