"""A binary tree of isometries for the critical Ising chain: a network that no library has ready, with its gradient.

Pairs of sites are joined by isometries, layer by layer, the last pair by a vector; L-BFGS on all their manifolds.
``--short``: 8 spins at bond 4 instead of 16 at bond 8.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
n, bond = (8, 4) if short else (16, 8)
rng, layers, size, count = np.random.default_rng(0), [], 2, n
while count > 2:
    upper = min(size * size, bond)
    layers.append([np.linalg.qr(rng.standard_normal((size * size, upper)))[0] for _ in range(count // 2)])
    size, count = upper, count // 2
top = np.linalg.qr(rng.standard_normal((size * size, 1)))[0]
x, z = np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -1.0])


def energy(tree):
    """The energy of the open critical chain: blocks of (H, first z, last z) go up the tree."""
    blocks = [(-x, z, z)] * n
    for layer in [*tree["layers"], [tree["top"]]]:
        joined = []
        for w, (h, first, last), (g, begin, end) in zip(layer, blocks[::2], blocks[1::2], strict=True):
            left, right = np.eye(len(h)), np.eye(len(g))
            inner = np.kron(h, right) + np.kron(left, g) - np.kron(last, begin)
            joined.append(tuple(w.T @ y @ w for y in (inner, np.kron(first, right), np.kron(left, end))))
        blocks = joined
    return blocks[0][0][0, 0]


frames = [[qad.optimize.Stiefel()] * len(row) for row in layers]
space = qad.optimize.Product({"layers": frames, "top": qad.optimize.Sphere()})
found = qad.optimize.minimize_on(energy, {"layers": layers, "top": top}, manifold=space, maxiter=400)
print(f"energy {found.fun:.6f}   exact {1 - 1 / np.sin(np.pi / (4 * n + 2)):.6f} (free fermions)")
