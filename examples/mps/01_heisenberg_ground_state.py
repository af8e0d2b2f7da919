"""Ground state of the open Heisenberg chain, H = sum_i S_i . S_(i+1), from a random matrix product state.

qad differentiates the energy by every site tensor; L-BFGS does the rest.  The energy is compared with the exact
one of the Bethe ansatz, and its convergence drawn.

    python examples/mps/01_heisenberg_ground_state.py                  # 20 sites, bond 24
    python examples/mps/01_heisenberg_ground_state.py --n 50 --bond 32 --seed 1
    python examples/mps/01_heisenberg_ground_state.py --short          # a few seconds
"""

import argparse
from pathlib import Path
from time import perf_counter

import numpy as np

import qad

PICTURES = (".png", ".pdf", ".svg")


def exact_energy(n):
    """The ground state's energy by the Bethe ansatz, for any number of sites.

    The n // 2 rapidities l of the open chain solve, with t_k(x) = 2 arctan(2 x / k),

        2 n t_1(l_j) = 2 pi j + sum_{k != j} t_2(l_j - l_k) + t_2(l_j + l_k),    E = (n - 1)/4 - sum_j 2 / (4 l_j^2 + 1)

    (F. C. Alcaraz et al., J. Phys. A 20, 6397 (1987)); the first line is iterated to its fixed point.
    """
    numbers = np.arange(1, n // 2 + 1)
    rapidities, previous = np.tan(np.pi * numbers / (2 * n)) / 2, np.inf
    while np.max(np.abs(rapidities - previous) / rapidities) > 1e-13:
        previous = rapidities
        shifts = 2 * np.arctan(np.subtract.outer(previous, previous)) + 2 * np.arctan(np.add.outer(previous, previous))
        shifts = shifts.sum(axis=1) - shifts.diagonal()
        rapidities = np.tan((2 * np.pi * numbers + shifts) / (4 * n)) / 2
    return (n - 1) / 4 - np.sum(2 / (4 * rapidities**2 + 1))


def whole(least):
    """A parser of whole numbers not below `least`."""

    def parse(text):
        if not text.lstrip("-").isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least {least}")
        return int(text)

    return parse


def picture(text):
    """A parser of file names that a plot can be written to."""
    path = Path(text)
    if path.suffix.lower() not in PICTURES:
        raise argparse.ArgumentTypeError(f"{text!r} does not end in {', '.join(PICTURES)}")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {str(path.parent)!r}")
    return path


def options(arguments=None):
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=whole(2), help="number of sites (default 20)")
    parser.add_argument("--bond", type=whole(1), help="bond dimension (default 24)")
    parser.add_argument("--seed", type=whole(0), default=0, help="seed of the random start (default 0)")
    parser.add_argument("--short", action="store_true", help="10 sites and bond 16 unless given: a few seconds")
    parser.add_argument("--output", type=picture, default=Path(__file__).with_suffix(".png"), help="file of the plot")
    chosen = parser.parse_args(arguments)
    chosen.n = chosen.n or (10 if chosen.short else 20)
    chosen.bond = chosen.bond or (16 if chosen.short else 24)
    return chosen


def draw(history, exact, path):
    """Plot the relative error of the energy after every iteration."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        print("no plot: matplotlib is not installed (pip install matplotlib)")
        return
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.semilogy(np.maximum(np.abs(history / exact - 1), 1e-16))
    axes.set(xlabel="iteration", ylabel="relative error of the energy", title="Heisenberg chain, L-BFGS on an MPS")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=150)
    plt.close(figure)
    print(f"plot            {path}")


def main(arguments=None):
    """Find the ground state and compare."""
    chosen = options(arguments)
    print(f"Heisenberg chain of {chosen.n} sites, bond dimension {chosen.bond}, complex128, seed {chosen.seed}")
    start = perf_counter()
    result = qad.mps.ground_state(
        qad.mps.heisenberg(chosen.n), bond=chosen.bond, dtype=complex, seed=chosen.seed, progress=True
    )
    seconds, exact = perf_counter() - start, exact_energy(chosen.n)
    print(f"energy          {result.energy:.12f}")
    print(f"exact           {exact:.12f}")
    print(f"relative error  {abs(result.energy / exact - 1):.2e}")
    print(f"variance        {result.variance:.2e}")
    print(f"time            {seconds:.1f} s, {result.nfev} gradients; {result.message}")
    draw(result.history, exact, chosen.output)


if __name__ == "__main__":
    main()
