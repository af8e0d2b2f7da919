"""Steps of random programs over arrays of one entry or of none, for `tests.fuzz.writes`.

An array without axes is written into by views that have some, at indices that name its entry once, often, or never.
"""

import numpy as np

import qad
from tests.fuzz.composed import pick


def making(rng, arrays, free):
    i, c = int(rng.integers(len(arrays))), float(rng.normal() * 0.5)
    shape = pick(rng, [(), (), (1,), (1, 1), (0,), (0, 2)])
    name, f = pick(
        rng,
        [
            ("entry", lambda a: (a.reshape(-1)[:1] * c).reshape(()).copy()), ("roll", lambda a: np.roll(a[..., 0], 1)),
            ("first", lambda a: a.reshape(-1)[:1] * c), ("none", lambda a: a.reshape(-1)[:0] * c),
            ("no rows", lambda a: a[:0] * c), ("full", lambda a: np.full_like(a, c, shape=shape)),
            ("constant", lambda a: qad.full(shape, c)), ("maximum", lambda a: np.max(a.real, keepdims=True) * 0.1),
            ("sum", lambda a: np.sum(a, keepdims=True).reshape(()) * np.full((), c)),
        ],
    )  # fmt: skip
    return name, lambda arrays, reads: arrays.append(f(arrays[i]))


def viewing(rng, arrays, free):
    few = [k for k, a in enumerate(arrays) if a.size < 2]
    if not few:
        return None
    i = int(pick(rng, few))
    shape = pick(rng, [(1,), (1, 1), (), (1, 1, 1), (-1,)])
    name, f = pick(
        rng,
        [
            *[("reshape", lambda a: a.reshape(shape))] * 3,
            ("ravel", lambda a: a.ravel()), ("atleast_1d", np.atleast_1d), ("atleast_2d", np.atleast_2d),
            ("squeeze", lambda a: a.squeeze()), ("new axis", lambda a: a[None]), ("dots", lambda a: a[...]),
            ("turned", lambda a: a[..., None][::-1]), ("T", lambda a: a.T), ("real", lambda a: a.real),
            ("none", lambda a: a.reshape(-1)[:0]), ("imag", lambda a: a.imag if a.dtype.kind == "c" else a),
        ],
    )  # fmt: skip
    return name, lambda arrays, reads: arrays.append(f(arrays[i]))


def writing(rng, arrays, free):
    few = [k for k in free if arrays[k].size < 2]
    if not few:
        return None
    i = int(pick(rng, few))
    a, c = arrays[i], float(rng.normal() * 0.5)
    mask = rng.random(a.shape) < 0.5
    index = pick(rng, [mask, mask, ..., (), None, slice(0, 0), slice(None), [], [0, 0, -1], 0, np.array([[0, 0]])])
    ufuncs = [np.add, np.subtract, np.multiply] + [np.maximum, np.minimum] * (a.dtype.kind == "f")
    ufunc = pick(rng, ufuncs)
    spread = rng.normal(size=np.shape(a[index])) if rng.integers(2) else 1.0
    source = int(rng.integers(len(arrays)))

    def value(arrays):
        return np.tanh(arrays[source].real.sum()) * c * spread

    def assign(arrays, reads):
        arrays[i][index] = value(arrays)

    def add(arrays, reads):
        arrays[i][index] += value(arrays)

    def at(arrays, reads):
        ufunc.at(arrays[i], index, value(arrays))

    def part(arrays, reads):
        part = arrays[i][index]
        part *= 0.5
        arrays.append(part)

    step = pick(rng, [assign, assign, add, at, part])
    return f"{step.__name__} {index}", step


STEPS = [making] * 2 + [viewing] * 3 + [writing] * 4
