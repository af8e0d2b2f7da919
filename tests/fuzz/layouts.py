"""Random chains of functions, views and copies, and writes through reshapes of what they give.

Whether such a write shows depends on how an array lies in memory, which functions hand on in many ways.  Values are
compared with NumPy's; under `qad.vmap`, where a layout may not be known, a program may be refused.
"""

from collections import Counter

import numpy as np

import qad

FUNCTIONS = [
    lambda a: np.partition(a.real, 1, 0), lambda a: np.sort(a.real, 0), lambda a: np.diff(a, axis=0, append=a[:1]),
    lambda a: np.pad(a, 1), lambda a: np.delete(a, 0, 0), lambda a: np.multiply.accumulate(a, 0),
    lambda a: np.select([a.real > 0], [a], 0.5 * a), lambda a: np.take_along_axis(a, np.argsort(a.real, 0), 0),
    lambda a: a * 1.0, lambda a: a @ a.T, lambda a: np.einsum("ij,jk->ki", a, a.T), lambda a: np.stack([a, a], -1),
    lambda a: np.quantile(a.real, [0.2, 0.7], axis=0), lambda a: np.gradient(a, axis=0), lambda a: np.cumsum(a, 0),
    lambda a: np.tile(a, (2, 1)), lambda a: np.repeat(a, 2, 0), lambda a: np.fft.fft(a, axis=0).real,
    lambda a: np.roll(a, 1, 0), lambda a: np.where(a.real > 0, a, 2 * a), lambda a: np.outer(a, a),
    lambda a: np.median(a.real, 0, keepdims=True) * a, lambda a: np.broadcast_to(a[None], (2, *a.shape)).copy(),
    lambda a: np.linalg.inv(a @ a.T + 3 * np.eye(a.shape[0])), lambda a: np.concatenate([a, a], 1),
    lambda a: np.kron(a, a), lambda a: np.insert(a, 1, 0.3, 0), lambda a: np.clip(a.real, -1, 1),
    lambda a: np.choose((a.real > 0).astype(int), [a, 2 * a]), lambda a: np.prod(np.stack([a, a]), 0),
    lambda a: np.rot90(a) * 1, np.nan_to_num, lambda a: np.sum(np.stack([a, a]), 0), np.tril, lambda a: a**2,
    lambda a: np.piecewise(a.real, [a.real > 0], [np.sin, np.cos]), lambda a: np.interp(a.real, [-1, 0], [3, 4]),
    lambda a: np.tensordot(a, a, ([0], [0])), lambda a: np.max(np.stack([a, 2 * a]).real, 0), lambda a: a[[1, 0]],
    lambda a: a[:, [1, 0]], lambda a: np.compress([True, True], a, 1), lambda a: np.block([[a, a], [a, a]]),
    lambda a: np.linspace(a, 2 * a, 3, axis=1), lambda a: np.full_like(a, 0.5) * a, lambda a: np.zeros_like(a) + a,
    lambda a: np.apply_along_axis(np.cumsum, 0, a), lambda a: np.add.outer(a[0], a[:, 0]), lambda a: np.inner(a, a),
    lambda a: np.polyval([1.0, 2.0], a), lambda a: np.meshgrid(a[0], a[1])[0], lambda a: np.dstack([a, a]),
]  # fmt: skip
VIEWS = [
    np.squeeze, lambda a: a.reshape(a.shape), lambda a: a[...], lambda a: a.T, lambda a: a[::-1], np.atleast_2d,
    lambda a: a[None], lambda a: np.expand_dims(a, -1), lambda a: a.swapaxes(0, -1), lambda a: a.real, np.ravel,
    lambda a: a.reshape(*a.shape, 1), lambda a: a.reshape(-1), lambda a: a.reshape(a.shape[0], -1),
    lambda a: a.mT if a.ndim > 1 else a, lambda a: np.moveaxis(a, 0, -1), lambda a: np.flip(a, 0), np.real,
]  # fmt: skip
COPIES = [
    np.conj, np.positive, lambda a: a * 1.0, np.copy, lambda a: a.copy(order="K"), lambda a: np.round(a, 9),
    lambda a: a.astype(a.dtype), lambda a: a.flatten().reshape(a.shape), np.abs, np.tanh, lambda a: a + a[:1],
    lambda a: np.where(a.real > 0, a, a), lambda a: np.cumsum(a, 0), lambda a: np.roll(a, 1, 0),
]  # fmt: skip
REACHES = [
    lambda a: (a.reshape(-1), 0), lambda a: (np.ravel(a), 1), lambda a: (a.T.reshape(-1), slice(0, 2)),
    lambda a: (a.reshape(a.shape[0], -1), (0, 0)), lambda a: (a.reshape(a.shape[::-1]), 0), lambda a: (a.flat, 0),
    lambda a: (np.ravel(a, "F"), 0), lambda a: (a.ravel(), slice(0, 2)), lambda a: (a, 0),
    lambda a: (np.squeeze(a), -1),
]  # fmt: skip
ROADS = {
    "reverse": lambda f, x: np.array([qad.value_and_grad(f)(y)[0] for y in x]),
    "forward": lambda f, x: np.array([qad.jvp(f, (y,), (y,))[0] for y in x]),
    "frozen": lambda f, x: _replayed(qad.freeze(f), x),
    "vmap": lambda f, x: qad.vmap(f)(x),
    "vmap of the gradient": lambda f, x: qad.vmap(qad.value_and_grad(f))(x)[0],
    "vmap of vmap": lambda f, x: qad.vmap(qad.vmap(f))(np.stack([x, x]))[1],
}
OUTCOMES: Counter = Counter()  # how many roads of programs were right, and refused


def _replayed(frozen, x):
    for y in x:
        frozen(y)
    return np.array([float(frozen(y)) for y in x])


def draw(seed):
    """A program of one matrix, which gives a number, and two matrices."""
    rng = np.random.default_rng(seed)

    def pick(choices):
        return choices[rng.integers(len(choices))]

    steps = [pick(FUNCTIONS)]
    for _ in range(rng.integers(1, 4)):
        steps += [pick(VIEWS) for _ in range(rng.integers(0, 3))] + [pick(COPIES) for _ in range(rng.integers(0, 2))]
    if rng.random() < 0.4:
        steps.insert(rng.integers(1, len(steps) + 1), pick(FUNCTIONS))
    writes = [
        (1 + int(rng.integers(len(steps))), pick(REACHES), float(rng.normal())) for _ in range(rng.integers(1, 4))
    ]
    x = rng.normal(size=(2, 3, 2) if rng.random() < 0.7 else (2, 2, 3))
    if rng.random() < 0.5:
        x = x.transpose(0, 2, 1)
    if rng.random() < 0.2:
        x = x + 1j * rng.normal(size=x.shape)

    def program(a):
        arrays = [a * 1.0]
        for step in steps:
            arrays.append(step(arrays[-1]))
        for k, reach, value in writes:
            if arrays[k].ndim:
                place, index = reach(arrays[k])
                place[index] = value
        return sum([np.sum(a.real * np.cos(1.0 + np.arange(a.size)).reshape(a.shape)) for a in arrays])

    return program, x


def check(seed, *roads):
    """What is wrong with the program of this seed, in words, on these `roads`, or on all."""
    program, x = draw(seed)
    try:
        right = np.array([float(program(y)) for y in x])
    except (ValueError, IndexError, TypeError, np.linalg.LinAlgError):
        return []  # for NumPy itself it is none
    found = []
    for road in roads or ROADS:
        try:
            value = ROADS[road](program, x)
        except qad.QadError:
            OUTCOMES[road, "refused"] += 1
            continue
        OUTCOMES[road, "answered"] += 1
        if not np.allclose(value, right, rtol=1e-9, atol=1e-9):
            found.append(f"{road}: {value} instead of {right}")
    return found
