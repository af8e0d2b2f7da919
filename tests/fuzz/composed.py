"""Steps of random programs in which the order of axes in memory counts, for `tests.fuzz.writes`.

What is composed of several operations must lie as NumPy's does: that decides whether a reshape is a view of it.
"""

import numpy as np

import qad


def pick(rng, choices):
    return choices[rng.integers(len(choices))]


PAIRS = ["ab,bc->ca", "ab,bc->ac", "ab,ac->cb", "ab,ab->ba", "a,b->ba", "ab,cb->ca", "ab,b->ba", "ab,cd->db"]


def composing(rng, arrays, free):
    """What qad makes of several operations, of arrays in either order."""
    i, j = (int(pick(rng, [k for k, a in enumerate(arrays) if a.ndim > 1])) for _ in range(2))
    a, b = arrays[i], arrays[j]
    axis, place = int(rng.integers(a.ndim)), int(rng.integers(max(min(a.shape), 1)))
    first, second, scale = rng.integers(2), rng.integers(2), rng.integers(2)
    axes = tuple(rng.permutation(a.ndim).tolist())
    fitting = [s for s in PAIRS if _contracts(s, a, b)] or ["a...,b...->ba..."]
    subscripts, optimize = pick(rng, fitting), bool(rng.integers(2))
    c = 1 / (1 + np.abs(b).max(initial=0))
    name, f = pick(
        rng,
        [
            *[(f"{subscripts} {optimize}", lambda a, b: np.einsum(subscripts, a, b * c, optimize=optimize))] * 4,
            ("qad.einsum", lambda a, b: qad.einsum(subscripts, a, b * c)),
            ("delete", lambda a, b: np.delete(a, place, axis)), ("insert", lambda a, b: np.insert(a, place, 0.5, axis)),
            ("median", lambda a, b: np.median(a.real, axis, keepdims=True) * np.ones(a.shape)),
            ("quantile", lambda a, b: np.quantile(a.real, [0.2, 0.4], axis)),
            ("sort", lambda a, b: np.sort(a.real, axis)),
            ("cumsum", lambda a, b: np.cumsum(a, axis) * 0.5), ("taken", lambda a, b: np.take(a, [[1, 0]], axis)),
            ("chosen", lambda a, b: np.where(a.real > 0.1, a, 0.5 * a)),
            ("joined", lambda a, b: np.concatenate([a, a], axis)),
            ("stacked", lambda a, b: np.stack([a, -a], axis)), ("padded", lambda a, b: np.pad(a, 1, "edge")[1:-1]),
            ("gradient", lambda a, b: np.gradient(a, axis=axis)), ("diff", lambda a, b: np.diff(a, axis=axis)),
            ("partition", lambda a, b: np.partition(a.real, 1, axis)), ("summed", lambda a, b: np.stack([a, a]).sum(0)),
        ],
    )  # fmt: skip

    def make(arrays, reads):
        a, b = arrays[i], arrays[j]
        y = f(a.transpose(axes) * 1 if first and subscripts not in name else a, b * 1 if second else b)
        arrays.append((np.tanh(y.real) if scale else y * 1.0).copy())

    return name, make


def _contracts(subscripts, a, b):
    """Whether two arrays have the axes that a contraction asks for."""
    terms = subscripts.split("->")[0].split(",")
    if (len(terms[0]), len(terms[1])) != (a.ndim, b.ndim):
        return False
    sizes = {}
    pairs = [*zip(terms[0], a.shape, strict=True), *zip(terms[1], b.shape, strict=True)]
    return all(sizes.setdefault(label, n) == n for label, n in pairs)


def reaching(rng, arrays, free):
    """A write through a reshape of one of the last arrays, and a look at the array itself."""
    if not free:
        return None
    i, order = free[-1 - int(rng.integers(min(len(free), 3)))], pick(rng, ["C", "C", "F"])
    way, value = int(rng.integers(4)), float(rng.normal())
    if arrays[i].ndim < 2:
        return None
    shape = pick(rng, [(-1,), (arrays[i].shape[0], -1), (-1, arrays[i].shape[-1]), arrays[i].shape[::-1]])

    def write(arrays, reads):
        a = arrays[i]
        r = (a.reshape(shape, order=order), np.ravel(a, order), a.T.reshape(-1), np.reshape(a * 1.0, shape))[way]
        r[..., 0] = value
        reads.append(np.sin(a.real).sum())
        arrays.append(r)

    return f"reshape {way}", write


STEPS = [composing] * 2 + [reaching] * 2
