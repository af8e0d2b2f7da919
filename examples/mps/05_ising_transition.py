"""The transverse-field Ising chain across its transition: energies against free fermions, and the entropy's peak.

H = -sum sz_i sz_(i+1) - g sum sx_i,    exact energy = -sum of singular values of the bidiagonal matrix (g; 1)

python examples/mps/05_ising_transition.py            # 40 sites, 13 fields
python examples/mps/05_ising_transition.py --short    # 10 sites, 3 fields
"""

import argparse

import numpy as np

import qad


def exact_energy(n, g):
    """Ground state energy of the open chain, by fermions: E. Lieb et al., Ann. Phys. 16, 407 (1961)."""
    return -np.linalg.svd(g * np.eye(n) + np.eye(n, k=1), compute_uv=False).sum()


def scan(n, bond, fields):
    """For every field: itself, the energy, the exact one, the entropy of the middle bond and the mean of sx."""
    rows, start, sx = [], None, np.array([[0.0, 1.0], [1.0, 0.0]])
    for g in fields:
        found = qad.mps.ground_state(qad.mps.ising(n, g), bond, "dmrg2", start=start, tol=1e-12)
        start = found.state
        entropy = qad.mps.entanglement_entropy(found.state, n // 2)
        magnetisation = np.mean(qad.mps.local_expectations(found.state, sx))
        rows.append((g, found.energy, exact_energy(n, g), entropy, magnetisation))
    return np.array(rows)


def plot(rows, path):
    """Entropy and transverse magnetisation over the field."""
    from matplotlib import pyplot as plt

    g, _, _, entropy, magnetisation = rows.T
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    left.plot(g, entropy, "o-")
    left.set(xlabel="field $g$", ylabel="entropy of the middle bond (nats)")
    right.plot(g, magnetisation, "o-", color="tab:orange")
    right.set(xlabel="field $g$", ylabel=r"$\langle\sigma_x\rangle$")
    for axis in (left, right):
        axis.axvline(1.0, color="gray", lw=0.8, ls="--")
        axis.grid(alpha=0.3)
    figure.savefig(path, dpi=150)
    print(f"plot: {path}")


def main(arguments=None):
    """Print energies beside the exact ones, and the entropy."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="10 sites, three fields, no plot")
    parser.add_argument("--plot", default="ising_transition.png", help="where the plot goes")
    chosen = parser.parse_args(arguments)
    n, bond, fields = (10, 12, [1.5, 1.0, 0.8]) if chosen.short else (40, 24, np.linspace(1.6, 0.7, 13))
    rows = scan(n, bond, fields)
    print(f"{n} sites, bond {bond}\n{'g':>6} {'energy':>18} {'exact':>18} {'error':>9} {'entropy':>9} {'<sx>':>8}")
    for g, energy, exact, entropy, sx in rows:
        print(f"{g:6.3f} {energy:18.12f} {exact:18.12f} {energy - exact:9.1e} {entropy:9.5f} {sx:8.5f}")
    if not chosen.short:
        try:
            plot(rows, chosen.plot)
        except ImportError:
            print("for the plot: pip install matplotlib")
    return rows


if __name__ == "__main__":
    main()
