"""The infinite Heisenberg chain by a uniform matrix product state of two sites, against 1/4 - ln 2.

The energy differentiates through the dominant eigenvectors of the transfer operator; L-BFGS runs on the manifold of
isometric tensors.  Correlation length and entropy grow with the bond dimension without end: the chain is critical.

    python examples/mps/06_infinite_heisenberg.py            # bonds 4 to 32
    python examples/mps/06_infinite_heisenberg.py --short    # bonds 2 and 4
"""

import argparse

import numpy as np

import qad
from qad.mps import uniform

EXACT = 0.25 - np.log(2)


def term():
    """``S . S`` of two neighbours, with legs (out, out, in, in)."""
    raising, z = np.array([[0.0, 1.0], [0.0, 0.0]]), np.diag([0.5, -0.5])
    pairs = [(raising / 2, raising.T), (raising.T / 2, raising), (z, z)]
    return qad.einsum("kac,kbd->abcd", *(np.array(side) for side in zip(*pairs, strict=True)))


def plot(rows, path):
    """Error of the energy over the correlation length, and entropy over its logarithm."""
    from matplotlib import pyplot as plt

    bond, energy, length, entropy = np.array(rows).T
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    left.loglog(length, energy - EXACT, "o-")
    left.set(xlabel=r"correlation length $\xi$", ylabel="energy above the exact one")
    right.semilogx(length, entropy, "o-", color="tab:orange", label="MPS")
    guide = np.log(length / length[-1]) / 6 + entropy[-1]
    right.semilogx(length, guide, "--", color="gray", label=r"$\frac{c}{6}\ln\xi$, $c = 1$")
    right.set(xlabel=r"correlation length $\xi$", ylabel="entropy (nats)")
    right.legend()
    for axis in (left, right):
        axis.grid(alpha=0.3)
        axis.set_xticks([3, 10, 30, 60], labels=["3", "10", "30", "60"], minor=False)
        axis.set_xticks([], minor=True)
    for x, y, size in zip(length, energy - EXACT, bond, strict=True):
        left.annotate(f"{size:.0f}", (x, y), textcoords="offset points", xytext=(6, 4))
    figure.savefig(path, dpi=150)
    print(f"plot: {path}")


def main(arguments=None):
    """Print the energy per site for growing bonds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="bonds 2 and 4, no plot")
    parser.add_argument("--plot", default="infinite_heisenberg.png", help="where the plot goes")
    chosen = parser.parse_args(arguments)
    h, rows = term(), []
    print(f"exact {EXACT:.12f}\n{'bond':>5} {'energy':>16} {'error':>9} {'length':>8} {'entropy':>8}")
    for bond in (2, 4) if chosen.short else (4, 8, 12, 16, 24, 32):
        found = uniform.ground_state(h, bond, cell=2, tol=1e-9)
        length, entropy = uniform.correlation_length(found.state), uniform.entanglement_entropy(found.state).mean()
        rows.append((bond, found.energy, length, entropy))
        print(f"{bond:5} {found.energy:16.12f} {found.energy - EXACT:9.1e} {length:8.2f} {entropy:8.4f}")
    if not chosen.short:
        try:
            plot(rows, chosen.plot)
        except ImportError:
            print("for the plot: pip install matplotlib")
    return rows


if __name__ == "__main__":
    main()
