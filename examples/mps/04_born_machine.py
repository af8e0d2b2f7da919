"""A Born machine: a matrix product state whose |psi(s)|^2 is trained to be the distribution of bars and stripes.

The patterns of a grid in which every row is uniform, or every column, are all equally likely.  Training lowers

    L = -mean log |psi(s)|^2 / <psi|psi>  over the patterns s

with gradients through `psi.log_amplitudes` and the norm; L cannot fall below the entropy of the data, log(number of
patterns), and reaches it where the state has learned them all.

    python examples/mps/04_born_machine.py                      # 4 x 4 pixels, bond 20
    python examples/mps/04_born_machine.py --rows 3 --columns 3 --bond 8 --short
"""

import argparse
from itertools import product
from pathlib import Path

import numpy as np

import qad


def bars_and_stripes(rows, columns):
    """All patterns, one flattened grid each: (patterns, rows * columns)."""
    bars = [np.repeat([bits], rows, axis=0) for bits in product((0, 1), repeat=columns)]
    stripes = [np.repeat(np.transpose([bits]), columns, axis=1) for bits in product((0, 1), repeat=rows)]
    return np.unique([grid.ravel() for grid in (*bars, *stripes)], axis=0)


def negative_log_likelihood(psi, patterns):
    """The loss, in nats a pattern."""
    return qad.mps.log_norm2(psi) - 2 * psi.log_amplitudes(patterns).real.mean()


def train(patterns, bond, seed, iterations):
    """The trained state, normalised, and the loss after every iteration."""
    start = qad.mps.MPS.random(patterns.shape[1], bond, dtype=float, seed=seed)
    found = qad.optimize.minimize(lambda psi: negative_log_likelihood(psi, patterns), start, maxiter=iterations)
    return found.params.normalized(), found.history


def draw(history, bound, psi, shape, path):
    """Plot the loss above its bound, and a few samples."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        print("no plot: matplotlib is not installed (pip install matplotlib)")
        return
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
    left.semilogy(np.maximum(np.array(history) - bound, 1e-16))
    left.set(xlabel="iteration", ylabel="loss above the entropy of the data / nats", title="training")
    grid = psi.sample(16, seed=0).reshape(4, 4, *shape)
    spaced = np.pad(grid, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-1)
    right.imshow(spaced.transpose(0, 2, 1, 3).reshape(4 * (shape[0] + 2), -1), cmap="gray")
    right.set(title="samples", xticks=[], yticks=[])
    figure.savefig(path, dpi=150)
    plt.close(figure)
    print(f"plot            {path}")


def options(arguments=None):
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4)
    parser.add_argument("--columns", type=int, default=4)
    parser.add_argument("--bond", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--short", action="store_true", help="at most 100 iterations instead of 500")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".png"), help="file of the plot")
    return parser.parse_args(arguments)


def main(arguments=None):
    """Train, and compare with the bound."""
    chosen = options(arguments)
    patterns = bars_and_stripes(chosen.rows, chosen.columns)
    bound = np.log(len(patterns))
    print(f"{len(patterns)} bars and stripes of {chosen.rows} x {chosen.columns} pixels, bond {chosen.bond}")
    psi, history = train(patterns, chosen.bond, chosen.seed, 100 if chosen.short else 500)
    known = {tuple(pattern) for pattern in patterns}
    hits = np.mean([tuple(sample) in known for sample in psi.sample(1000, seed=1)])
    print(f"loss            {history[-1]:.9f}")
    print(f"entropy bound   {bound:.9f}")
    print(f"above the bound {history[-1] - bound:.2e}")
    print(f"valid samples   {hits:.3f} of 1000")
    draw(history, bound, psi, (chosen.rows, chosen.columns), chosen.output)


if __name__ == "__main__":
    main()
