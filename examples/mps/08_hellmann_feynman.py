"""How a ground state's energy changes with the Hamiltonian: Hellmann and Feynman by one gradient.

At its minimum the energy <psi|H(p)|psi> has no slope in psi, so that dE/dp = <psi|dH/dp|psi>: the gradient by the
operator's parameters alone.  It is compared with differences of whole ground state searches.

    python examples/mps/08_hellmann_feynman.py            # XXZ chain of 20 sites
    python examples/mps/08_hellmann_feynman.py --short    # 8 sites
"""

import argparse

import numpy as np

import qad

STEP = 1e-3


def slope(state, hamiltonian, parameter):
    """``<psi|dH/dp|psi>``: the operator's tensors are differentiated, the state is not."""
    return qad.grad(lambda p: qad.mps.energy(state, hamiltonian(p)))(parameter)


def by_differences(hamiltonian, parameter, bond):
    """``dE/dp`` from four searches, by the five-point formula."""
    energies = [qad.mps.ground_state(hamiltonian(parameter + k * STEP), bond, "dmrg2", tol=1e-14).energy
                for k in (-2, -1, 1, 2)]  # fmt: skip
    return np.dot([1, -8, 8, -1], energies) / (12 * STEP)


def plot(rows, path):
    """Slopes over the parameter: a curve by gradients, crosses by differences."""
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    for (name, data), colour in zip(rows.items(), ("tab:blue", "tab:orange"), strict=True):
        p, gradient, difference = np.array(data).T
        axis.plot(p, gradient, "-", color=colour, label=f"{name}, gradient")
        axis.plot(p, difference, "x", color=colour, label=f"{name}, differences")
    axis.set(xlabel="parameter", ylabel="$dE/dp$")
    axis.grid(alpha=0.3)
    axis.legend()
    figure.savefig(path, dpi=150)
    print(f"plot: {path}")


def main(arguments=None):
    """Print both slopes for two models."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="8 sites, one parameter, no plot")
    parser.add_argument("--plot", default="hellmann_feynman.png", help="where the plot goes")
    chosen = parser.parse_args(arguments)
    n, bond, values = (8, 16, [0.5]) if chosen.short else (20, 32, np.linspace(0.2, 1.4, 5))
    models = {"XXZ, anisotropy": lambda p: qad.mps.xxz(n, p), "Ising, field": lambda p: qad.mps.ising(n, p)}
    rows = {}
    print(f"{n} sites, bond {bond}\n{'model':18} {'p':>5} {'gradient':>16} {'differences':>16} {'apart':>8}")
    for name, hamiltonian in models.items():
        rows[name] = []
        for p in values:
            state = qad.mps.ground_state(hamiltonian(p), bond, "dmrg2", tol=1e-14).state
            pair = slope(state, hamiltonian, float(p)), by_differences(hamiltonian, p, bond)
            rows[name].append((p, *pair))
            print(f"{name:18} {p:5.2f} {pair[0]:16.10f} {pair[1]:16.10f} {abs(pair[0] - pair[1]):8.1e}")
    if not chosen.short:
        try:
            plot(rows, chosen.plot)
        except ImportError:
            print("for the plot: pip install matplotlib")
    return rows


if __name__ == "__main__":
    main()
