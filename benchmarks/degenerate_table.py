"""The table of `docs/notebooks/degenerate_spectra.ipynb`: `python -m benchmarks.degenerate_table` prints it.

Gradients at equal and nearly equal values, in every library that is installed, beside formulas: of a projector onto the
two lowest eigenvectors of a symmetric matrix, and of the product of all factors of a singular value decomposition.
"""

import importlib.metadata
import warnings

import numpy as np

from .linalg_table import libraries

GAPS = (1e-2, 1e-6, 1e-12, 0.0)
SEEDS = range(20)


def rotation(seed):
    """A random orthogonal matrix."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(4, 4)))[0]


def weights(seed):
    """A random symmetric matrix."""
    x = np.random.default_rng(100 + seed).normal(size=(4, 4))
    return x + x.T


def projector_loss(library, x):
    """``tr(x P)`` with the projector onto the two lowest eigenvectors."""

    def loss(a):
        v = library.la.eigh((a + a.T) / 2)[1][:, :2]
        return library.xp.sum(library.constant(x) * library.xp.matmul(v, v.T))

    return loss


def projector_gradient(a, x):
    """By perturbation theory: the coupling of the kept space to the rest alone."""
    w, v = np.linalg.eigh(a)
    kept, rest = v[:, :2], v[:, 2:]
    half = kept @ ((kept.T @ x @ rest) / (w[:2, None] - w[2:])) @ rest.T
    return half + half.T


def product_loss(library, x):
    """``sum(x * (U S V^H))``, whose gradient is `x`."""

    def loss(a):
        u, s, vh = library.la.svd(a, full_matrices=False)
        return library.xp.sum(library.constant(x) * library.xp.matmul(u * s, vh))

    return loss


def error(gradient, expected):
    """The largest error of an entry, in units of the largest entry."""
    return np.abs(gradient - expected).max() / np.abs(expected).max()


def at_gap(library, gap):
    """Errors of the gradient of a projector inside of which two values are `gap` apart."""
    for seed in SEEDS:
        q, x = rotation(seed), weights(seed)
        a = (q * [1.0, 1.0 + gap, 2.0, 3.0]) @ q.T
        a = (a + a.T) / 2
        yield error(library.grad(projector_loss(library, x))(a), projector_gradient(a, x))


def at_orthogonal(library):
    """Errors of the gradient of a product of factors at orthogonal matrices."""
    for seed in SEEDS:
        yield error(library.grad(product_loss(library, weights(seed)))(rotation(seed)), weights(seed))


def cell(errors):
    """Median and largest of the finite errors, and how many are not finite."""
    errors = np.array(list(errors))
    finite = errors[np.isfinite(errors)]
    lost = len(errors) - len(finite)
    return f"{np.median(finite):.0e}, at most {finite.max():.0e}" + (f", {lost} NaN" if lost else "")


def main():
    """Print the table."""
    warnings.simplefilter("ignore")
    found = libraries()
    versions = {name: importlib.metadata.version(name) for name in found if name != "qad"}
    print("| |", " | ".join(f"{name} {versions.get(name, '')}".strip() for name in found), "|")
    print("|---" * (1 + len(found)) + "|")
    with np.errstate(all="ignore"):
        for gap in GAPS:
            print(f"| projector, gap {gap:g} |", " | ".join(cell(at_gap(each, gap)) for each in found.values()), "|")
        print("| product, all values 1 |", " | ".join(cell(at_orthogonal(each)) for each in found.values()), "|")


if __name__ == "__main__":
    main()
