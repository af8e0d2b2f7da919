"""Pictures told apart by a matrix product state: bars or stripes, trained in minibatches by a frozen gradient.

Pixels p are vectors (1 - p, p), the label a leg (E. M. Stoudenmire, D. J. Schwab 2016).  ``--short``: 4 x 4 pixels."""

import sys

import numpy as np

import qad

short = "--short" in sys.argv
side, bond, steps = (4, 6, 200) if short else (8, 10, 400)
rng, n = np.random.default_rng(0), side * side


def pictures(count):
    labels, lines = rng.integers(0, 2, count), rng.integers(0, 2, (count, side))
    lines[:, :2] = 0, 1
    images = np.where(labels[:, None, None] == 1, lines[:, None, :], lines[:, :, None]).reshape(count, n)
    images = np.clip(images + 0.2 * rng.standard_normal((count, n)), 0, 1)
    return np.stack([1 - images, images], axis=-1), np.eye(2)[labels]


def loss(tensors, x, labels, scores=False):
    left = right = np.full((len(x), bond), 1 / bond)
    for i in range(n // 2):
        left = np.einsum("ba,bs,asc->bc", left, x[:, i], tensors[i])
        right = np.einsum("asc,bs,bc->ba", tensors[-1 - i], x[:, -1 - i], right)
    y = np.einsum("ba,alc,bc->bl", left, tensors[n // 2], right)
    return y if scores else np.mean(np.log(np.exp(y).sum(axis=1)) - (labels * y).sum(axis=1))


tensors = [np.eye(bond)[:, None] + 0.1 * rng.standard_normal((bond, 2, bond)) for _ in range(n + 1)]
gradient, (init, update) = qad.freeze(qad.grad(loss)), qad.optimize.adam_steps(rate=0.03 / n)
state = init(tensors)
for _ in range(steps):
    updates, state = update(gradient(tensors, *pictures(100)), state)
    tensors = qad.apply_updates(tensors, updates)
right = loss(tensors, *(test := pictures(1000)), scores=True).argmax(axis=1) == test[1].argmax(axis=1)
print(f"told apart {right.mean():.3f}   exact 1 (labels)")
