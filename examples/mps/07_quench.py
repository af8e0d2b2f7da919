"""A sudden quench of the Ising chain, in real time, against exact diagonalisation.

All spins point up; the field is switched on to g = 1.  TEBD of fourth order and two-site TDVP follow the magnetisation.

    python examples/mps/07_quench.py            # 10 sites up to t = 3
    python examples/mps/07_quench.py --short    # 6 sites up to t = 1
"""

import argparse

import numpy as np

import qad

SZ = np.diag([1.0, -1.0])
METHODS = {"tebd4": "TEBD, fourth order", "tdvp2": "two-site TDVP"}


def by_diagonalisation(H, psi, times):
    """Mean magnetisation at every time, from the eigenvectors of the dense Hamiltonian."""
    values, vectors = np.linalg.eigh(H.to_dense())
    start = vectors.conj().T @ psi.to_dense().reshape(-1)
    n = len(psi)
    spins = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    states = vectors @ (np.exp(-1j * np.outer(values, times)) * start[:, None])
    return spins.mean(1) @ np.abs(states) ** 2


def by_chain(H, psi, times, method, bond):
    """The same from a matrix product state; also the weight that truncation discarded."""
    found = [np.mean(qad.mps.local_expectations(psi, SZ)).real]
    result = qad.mps.evolve(
        psi, H, times[-1], len(times) - 1, method, bond,
        callback=lambda state, time: found.append(np.mean(qad.mps.local_expectations(state, SZ)).real),
    )  # fmt: skip
    return np.array(found), result.discarded


def plot(times, exact, curves, path):
    """Magnetisation, and how far each method strays."""
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    left.plot(times, exact, color="black", lw=1, label="exact")
    for (method, curve), marker in zip(curves.items(), "o+", strict=True):
        left.plot(times[::4], curve[::4], marker, label=METHODS[method])
        right.semilogy(times[1:], np.maximum(np.abs(curve - exact)[1:], 1e-16), label=METHODS[method])
    left.set(xlabel="time", ylabel=r"$\langle\sigma_z\rangle$")
    right.set(xlabel="time", ylabel="error")
    for axis in (left, right):
        axis.grid(alpha=0.3)
        axis.legend()
    figure.savefig(path, dpi=150)
    print(f"plot: {path}")


def main(arguments=None):
    """Print the magnetisation at the end beside the exact one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="6 sites up to t = 1, no plot")
    parser.add_argument("--bond", type=int, default=32, help="largest bond dimension (default 32)")
    parser.add_argument("--plot", default="quench.png", help="where the plot goes")
    chosen = parser.parse_args(arguments)
    n, end, steps = (6, 1.0, 20) if chosen.short else (10, 3.0, 60)
    H, psi, times = qad.mps.ising(n, g=1.0), qad.mps.MPS.product([0] * n), np.linspace(0, end, steps + 1)
    exact, curves = by_diagonalisation(H, psi, times), {}
    print(f"{n} sites, time {end}: exact magnetisation {exact[-1]:.10f}")
    for method, name in METHODS.items():
        curves[method], discarded = by_chain(H, psi, times, method, chosen.bond)
        worst = np.abs(curves[method] - exact).max()
        print(f"{name:20} {curves[method][-1]:.10f}   largest error {worst:.1e}   discarded weight {discarded:.1e}")
    if not chosen.short:
        try:
            plot(times, exact, curves, chosen.plot)
        except ImportError:
            print("for the plot: pip install matplotlib")
    return exact, curves


if __name__ == "__main__":
    main()
