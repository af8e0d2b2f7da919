"""The largest cut of a graph by QAOA (E. Farhi, J. Goldstone and S. Gutmann, arXiv:1411.4028).

A cut splits the nodes in two and counts the edges between the parts, C = sum_edges (1 - Z_i Z_j) / 2.  The circuit
alternates exp(-i a sum ZZ / 2) and exp(-i b sum X / 2).  On a 3-regular graph without triangles its first layer gives
1/2 + 1/(3 sqrt 3) of all edges, whatever the graph (Z. Wang et al., Phys. Rev. A 97, 022304 (2018)).  ``--short``:
3 layers on Petersen's graph of 10 nodes instead of 6 on its relative of 14.
"""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
ring, layers = (5, 3) if short else (7, 6)
n = 2 * ring
outer = np.arange(ring)  # an outer ring, spokes, and an inner star
edges = np.concatenate([np.stack([outer, (outer + 1) % ring]), np.stack([outer, outer + ring]),
                        np.stack([outer + ring, (outer + 2) % ring + ring])], 1)  # fmt: skip
cut = qad.PauliSum.on_sites(n, [(len(edges[0]) / 2, "I", [0]), *((-0.5, "ZZ", edge) for edge in edges.T.tolist())])


def circuit(angles):
    c = qad.Circuit(n).h(range(n))
    for a, b in angles:
        c.rzz(a, *edges).rx(b, range(n))
    return c


sizes = (np.indices((2,) * n)[edges[0]] != np.indices((2,) * n)[edges[1]]).sum(0)  # of all cuts, one by one
first, angles, means = edges.shape[1] * (1 / 2 + 1 / np.sqrt(27)), np.array([[-0.6, 0.6]]), []
distributions = {"random cuts": np.bincount(sizes.ravel()) / 2**n}
for p in range(1, layers + 1):
    old, new = np.linspace(0, 1, len(angles)), np.linspace(0, 1, p)
    start = np.stack([np.interp(new, old, column) for column in angles.T], 1)  # the last angles, stretched
    found = qad.optimize.minimize(lambda angles: -circuit(angles).expectation(cut), start)
    angles, means = found.params, [*means, -found.fun]
    distributions[f"{p} layer{'s' * (p > 1)}"] = np.bincount(sizes.ravel(), circuit(angles).probabilities().ravel())
print(f"one layer: mean cut {means[0]:.9f}   exact {first:.9f} (Z. Wang et al.)")
print(f"{layers} layers: mean cut {means[-1]:.6f}   largest {sizes.max()} of {edges.shape[1]} edges (all cuts counted)")

try:
    from matplotlib import pyplot as plt
except ImportError:
    sys.exit("for the figure: pip install matplotlib")
for name, heights in distributions.items():
    plt.plot(heights, "o-", label=name)
plt.xlabel("size of the cut")
plt.locator_params("x", integer=True)
plt.ylabel("probability")
plt.legend()
plt.savefig(__file__.replace(".py", ".png"))
