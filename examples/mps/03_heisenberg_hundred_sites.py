"""Ground state of a hundred Heisenberg spins: gradients on a manifold beside sweeps, against the Bethe ansatz.

python examples/mps/03_heisenberg_hundred_sites.py            # bond 64, about a minute
python examples/mps/03_heisenberg_hundred_sites.py --short    # 16 sites, bond 16
"""

import argparse
from time import perf_counter

import numpy as np

import qad

EXACT = {16: -6.911737145575, 100: -44.127739893296}  # Bethe ansatz
METHODS = {"dmrg2": "two-site sweeps", "riemannian": "Riemannian L-BFGS"}


def timed(H, bond, method):
    """The result of a search, and the seconds at the end of every step."""
    clock, start = [], perf_counter()
    result = qad.mps.ground_state(H, bond, method, tol=1e-11, callback=lambda *_: clock.append(perf_counter() - start))
    return result, np.array(clock)


def plot(curves, exact, path):
    """Relative error of the energy against time."""
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    for method, (result, clock) in curves.items():
        axis.loglog(clock, np.abs(result.history[1:] / exact - 1), label=METHODS[method])
    axis.set(xlabel="seconds", ylabel="relative error of the energy")
    axis.grid(alpha=0.3)
    axis.legend()
    figure.savefig(path, dpi=150)
    print(f"plot: {path}")


def main(arguments=None):
    """Search by both methods and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="16 sites, bond 16, no plot")
    parser.add_argument("--bond", type=int, default=64, help="bond dimension (default 64)")
    parser.add_argument("--plot", default="heisenberg_hundred_sites.png", help="where the plot goes")
    chosen = parser.parse_args(arguments)
    n, bond = (16, 16) if chosen.short else (100, chosen.bond)
    print(f"{n} sites, bond {bond}; exact energy {EXACT[n]:.12f}")
    curves = {}
    for method in METHODS:
        result, clock = curves[method] = timed(qad.mps.heisenberg(n), bond, method)
        error = abs(result.energy / EXACT[n] - 1)
        print(f"{METHODS[method]:18} {result.energy:.12f}   error {error:.1e}   {clock[-1]:5.1f} s   {result.message}")
    if not chosen.short:
        try:
            plot(curves, EXACT[n], chosen.plot)
        except ImportError:
            print("for the plot: pip install matplotlib")
    return {method: result for method, (result, _) in curves.items()}


if __name__ == "__main__":
    main()
