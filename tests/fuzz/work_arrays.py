"""Random programs that reuse work arrays: each derivative is that of the program with copies.

A program is a list of steps.  A step changes a work array in place (all of it, an entry, two entries exchanged, one
bit, and back), or uses one, as an operand, a mask or an index.
"""

import numpy as np

import qad

SIZES = (5, 70, 5000)  # the second has a large matrix, the third large vectors

USES = {
    "multiply": lambda x, w, m, i: x * w,
    "arctan2": lambda x, w, m, i: np.arctan2(w, x),
    "power": lambda x, w, m, i: np.power(1.5 + np.cos(x), w),
    "divide": lambda x, w, m, i: x / (2.0 + w) + w / (2.0 + x * x),
    "maximum": lambda x, w, m, i: np.maximum(x, w) * x,
    "clip": lambda x, w, m, i: np.clip(x, w - 1.0, w) + x * x,
    "convolve": lambda x, w, m, i: np.convolve(x, w[:3], "same"),
    "einsum": lambda x, w, m, i: np.einsum("i,i,i->i", x, w, x),
    "interp": lambda x, w, m, i: np.interp(x, np.arange(w.size) - w.size / 2, w) + x,
    "sum where": lambda x, w, m, i: x * np.sum(x, where=m) * 0.1,
    "where": lambda x, w, m, i: np.where(m, x * x, x),
    "multiply where": lambda x, w, m, i: x + np.sum(np.square(x)[m]) * 0.1,
    "take": lambda x, w, m, i: np.take(x, i) * x,
    "index": lambda x, w, m, i: x[i] * x,
    "bincount": lambda x, w, m, i: np.bincount(i, x, x.size) * x,
    "add.at": lambda x, w, m, i: _added(x, i),
    "select": lambda x, w, m, i: np.select([m], [x * x], x),
    "cumsum": lambda x, w, m, i: np.cumsum(x * w[::-1]) * 0.1,
}
MATRIX = {
    "matmul": lambda x, a: a @ np.sin(x),
    "matmul from the right": lambda x, a: np.sin(x) @ a.T,
    "solve": lambda x, a: np.linalg.solve(a + 9.0 * np.eye(len(a)), x),
    "contraction": lambda x, a: qad.einsum("i,ij,jk->k", np.sin(x), a, a * 0.1),
    "quadratic": lambda x, a: x * qad.tr(np.outer(x, np.cos(x)), a) * 0.1,
}


def _added(x, i):
    b = qad.zeros(x.shape)
    np.add.at(b, i, x * x)
    return b


def change(array, rng):
    """Change an array in place."""
    flat, kind = array.reshape(-1), rng.integers(4)
    if kind == 0:
        flat[...] = rng.permutation(flat)
    elif kind == 1:
        flat[rng.integers(flat.size)] = flat[rng.integers(flat.size)]
    elif kind == 2:
        one, two = rng.integers(flat.size, size=2)
        flat[[one, two]] = flat[[two, one]]
    elif flat.dtype == float:
        flat.view(np.uint64)[rng.integers(flat.size)] ^= np.uint64(1)
    return array


class Program:
    """One program; `hand` is what it does to a work array before it uses it."""

    def __init__(self, seed):
        rng = np.random.default_rng([seed, 8])
        self.seed, self.n = seed, int(rng.choice(SIZES))
        self.x = rng.normal(size=self.n) * 0.5
        self.uses = list(USES) + (list(MATRIX) if self.n < 100 else [])
        self.steps = int(rng.integers(1, 7))

    def arrays(self):
        rng = np.random.default_rng([self.seed, 9])
        w, mask = rng.random(self.n), rng.random(self.n) < 0.5
        a = rng.normal(size=(self.n, self.n)) / self.n if self.n < 100 else np.zeros((1, 1))
        return [w, mask, rng.integers(self.n, size=self.n), np.asfortranarray(a) if rng.random() < 0.5 else a]

    def __call__(self, x, hand, arrays):
        rng = np.random.default_rng([self.seed, 10])
        total = 0.0
        for _ in range(self.steps):
            use = self.uses[rng.integers(len(self.uses))]
            y = MATRIX[use](x, hand(arrays[3])) if use in MATRIX else USES[use](x, *map(hand, arrays[:3]))
            if rng.random() < 0.8:
                x = y
            if rng.random() < 0.3:
                total = total + np.sum(y)
            if rng.random() < 0.6:
                which = rng.integers(4)
                if rng.random() < 0.3:  # what it was before
                    arrays[which][...] = self.arrays()[which]
                else:
                    change(arrays[which], rng)
        return total + np.sum(np.sin(x))


def _tape(f, x):
    """The gradient of the second of two graphs, the first one swept afterwards."""
    x = qad.tensor(x, requires_grad=True)
    one, two = f(x), f(x)
    two.backward()
    found = x.grad
    one.backward()
    return found


def _pulled(f, x):
    _, pullback = qad.vjp(f, x)
    pullback(1.0)
    return pullback(1.0)[0]


TRANSFORMS = {
    "grad": lambda f, x: qad.grad(f)(x),
    "vjp": _pulled,
    "jvp": lambda f, x: qad.jvp(f, (x,), (np.cos(x),))[1],
    "tape": _tape,
    "hvp": lambda f, x: qad.hvp(f, (x,), (np.cos(x),)),
    "grad of grad": lambda f, x: qad.grad(lambda x: np.sum(qad.grad(f)(x)))(x),
}


def check(seed):
    """What is wrong with the derivatives of the program of a seed, in words."""
    program, problems = Program(seed), []
    hand = (lambda w: w) if seed % 2 else (lambda w: w[...])  # the array itself, or a view made on the spot
    for name, transform in TRANSFORMS.items():
        mine, copies = program.arrays(), program.arrays()
        expected = transform(lambda x, copies=copies: program(x, np.copy, copies), program.x)
        found = transform(lambda x, mine=mine: program(x, hand, mine), program.x)
        found, expected = (np.concatenate([np.ravel(a) for a in _leaves(x)]) for x in (found, expected))
        if not np.allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max(), equal_nan=True):
            problems.append(f"{name}: off by {np.abs(found - expected).max():.1e} of {np.abs(expected).max():.1e}")
    return problems


def _leaves(x):
    return x if isinstance(x, tuple) else (x,)
