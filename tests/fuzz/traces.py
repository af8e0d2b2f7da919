"""Random traces of products of matrices that are views of other arrays, for `tests.fuzz.frozen`.

A matrix is made of an array of 36 numbers by reshapes, permutations of axes and reversals, of which some can only be
copies; that array is an argument, what is computed from one, or captured.  A trace is written in the ways in which
people write it.  The rules that avoid to form a product, and the memory in which frozen programs keep matrices, both
depend on how these lie.
"""

import numpy as np

import qad

SIZE = 6
SHAPES = ((6, 6), (36,), (2, 3, 6), (6, 3, 2), (3, 2, 2, 3), (4, 9), (9, 4), (3, 12), (2, 2, 9))


def pick(rng, choices):
    return choices[rng.integers(len(choices))]


def move(rng, shape):
    """A change of how an array of this shape lies, and the shape that it has then."""
    axes = tuple(map(int, rng.permutation(len(shape))))
    other = pick(rng, SHAPES)
    permuted = tuple(shape[i] for i in axes)
    return pick(rng, [
        (lambda a: a.reshape(other), other), (lambda a: a.reshape(other), other),
        (lambda a: np.reshape(a, other, order="F"), other),
        (lambda a: a.transpose(axes), permuted), (lambda a: a.T, shape[::-1]),
        (lambda a: np.swapaxes(a, 0, -1), (shape[-1], *shape[1:-1], shape[0]) if len(shape) > 1 else shape),
        (lambda a: a[::-1], shape), (lambda a: a[..., ::-1], shape), (lambda a: a.conj(), shape),
        (lambda a: np.tanh(a) if a.dtype.kind == "f" else a * 0.5j, shape), (lambda a: a.copy(), shape),
        (lambda a: a.ravel(), (36,)),
    ])  # fmt: skip


def entries(rng):
    """A function that draws an array of 36 numbers, of one shape and dtype; it is laid out in one of a few ways."""
    shape, whole = pick(rng, SHAPES), bool(rng.integers(2))
    order = pick(rng, "CCF")

    def drawn(rng):
        a = rng.normal(size=shape)
        return np.asarray(a if whole else a + 1j * rng.normal(size=shape), order=order)

    return drawn


def matrix(rng):
    """A function that makes a matrix of an array of 36 numbers."""
    moves, shape = [], (36,)
    for _ in range(rng.integers(4)):
        each, shape = move(rng, shape)
        moves.append(each)
    moves.append(lambda a: a.reshape(SIZE, SIZE))
    moves += [pick(rng, [lambda a: a.T, lambda a: a.conj().T, lambda a: a, lambda a: a])]

    def make(a):
        a = a.reshape(36)
        for each in moves:
            a = each(a)
        return a

    return make


def stacked(a):
    """Two matrices that lie beside each other."""
    return np.stack([a, 0.5 * a])


TRACES = (
    lambda a, b: np.trace(a @ b), lambda a, b: (a @ b).trace(), lambda a, b: np.dot(a, b).trace(),
    lambda a, b: qad.tr(a @ b), lambda a, b: qad.tr(a, b), lambda a, b: qad.tr(a, b, a),
    lambda a, b: np.einsum("ij,ji->", a, b), lambda a, b: np.einsum("ij,ij", a, b.T),
    lambda a, b: np.einsum("ii", a @ b), lambda a, b: qad.einsum("ij,ji->", a, b),
    lambda a, b: qad.einsum("ij,jk,ki->", a, b, a), lambda a, b: np.sum(a * b.T), lambda a, b: np.vdot(a.conj().T, b),
    lambda a, b: np.diagonal(a @ b).sum(), lambda a, b: np.trace(a @ b, 1), lambda a, b: np.dot(a.ravel(), b.T.ravel()),
    lambda a, b: np.trace(a @ b) * (a @ b)[1, 2], lambda a, b: np.tensordot(a, b, ([0, 1], [1, 0])),
    lambda a, b: np.einsum("kij,kji->k", stacked(a), stacked(b))[1], lambda a, b: qad.tr(stacked(a) @ stacked(b))[1],
    lambda a, b: qad.tr(stacked(a), b)[0], lambda a, b: np.trace(stacked(a) @ b, axis1=-2, axis2=-1)[0],
    lambda a, b: qad.vmap(lambda a, b: qad.tr(a @ b))(stacked(a), stacked(b))[1],
    lambda a, b: qad.vmap(lambda a: qad.tr(a, b))(stacked(a))[1], lambda a, b: np.trace((a @ b).reshape(4, 9)[:, :4]),
)  # fmt: skip


def draw(rng):
    """A function from a vector, something captured and an array of 36 numbers to another vector of that shape."""
    one, two, trace = matrix(rng), matrix(rng), pick(rng, TRACES)
    sources = rng.integers(4, size=2)

    def step(x, c, given):
        outer = np.outer(np.outer(x, x).ravel(), x[[0, 1, 2, 0]])
        held = c[:3, :3] if np.ndim(c) == 2 else np.eye(3)
        choices = given, given * outer.reshape(given.shape), outer, np.kron(held, np.ones((2, 2)))
        a, b = one(choices[sources[0]]), two(choices[sources[1]])
        found = trace(a, b)
        return x + (found / (1 + np.abs(found))).real

    return step
