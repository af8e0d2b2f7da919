"""A ring of matrices in qad's order for value and gradient, by cotengra's tree: its gradient beside NumPy's product."""

import cotengra as ctg
import numpy as np

import qad
from qad.interop.cotengra import JointOptimizer

n = 8
rng = np.random.default_rng(0)
matrices = [rng.normal(size=(3, 3)) for _ in range(n)]
labels = "abcdefgh"
terms = [labels[i] + labels[(i + 1) % n] for i in range(n)]
tree = ctg.array_contract_tree(terms, "", shapes=[(3, 3)] * n, optimize=JointOptimizer([0]))


def trace(first):
    return qad.einsum(",".join(terms) + "->", first, *matrices[1:], optimize=tree)


gradient = qad.grad(trace)(matrices[0])
exact = np.linalg.multi_dot(matrices[1:]).T  # of the trace of a product
print(f"norm {np.linalg.norm(gradient):.10f}   exact {np.linalg.norm(exact):.10f}")
