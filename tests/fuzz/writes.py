"""Random programs of views and writes, for `tests.fuzz.views`.

A program makes arrays, takes views of them and views of views, writes into all of these, and reads what it took before.
It is drawn by running it on plain arrays.
"""

import numpy as np

import qad
from tests.fuzz import composed, few_entries
from tests.fuzz.composed import pick

APART = 4  # one program in so many reads its arrays one by one
COMPOSED = 16  # one program in so many: qad.vmap refuses a quarter of them, as it knows their layouts less often
FEW = 8  # one program in so many is about arrays of one entry or of none


class Program:
    """Steps over a growing list of arrays; the value is a real number, of all their entries and of what was read.

    The arrays are read together in the end, in the programs that are `apart` one by one.
    """

    def __init__(self, apart):
        self.steps, self.names, self.apart = [], [], apart
        self.weights = np.random.default_rng(7).normal(size=200)

    def run(self, *inputs):
        arrays, reads = list(inputs), []
        for step in self.steps:
            step(arrays, reads)
        return arrays, reads

    def __call__(self, *inputs):
        arrays, reads = self.run(*inputs)
        weights = [self.weights[: a.size] * (1 + k % 3) for k, a in enumerate(arrays)]
        if not self.apart:
            return sum(reads) + weighted(np.concatenate(arrays, axis=None), np.concatenate(weights))
        return sum(reads) + sum(weighted(a, w.reshape(a.shape)) for a, w in zip(arrays, weights, strict=True))


def weighted(a, w):
    return (np.sin(a if a.dtype.kind == "f" else a.real + 0.5 * a.imag) * w).sum()


def real(a):
    return a.dtype.kind == "f"


# -- arrays of their own -------------------------------------------------------------------------------------------


def making(rng, arrays, free):
    i, j = rng.integers(len(arrays), size=2)
    c = float(rng.normal() / (1 + np.abs(arrays[i]).max(initial=0)))
    shape = pick(rng, [(2, 3), (3, 3), (4,), (2, 1, 3), (2, 2)])
    name, f = pick(
        rng,
        [
            ("outer", lambda a, b: np.outer(a, b) * 0.3), ("scaled", lambda a, b: a * c), ("sum", np.add),
            ("sin", lambda a, b: np.tanh(a.real)), ("product", lambda a, b: a * np.conj(b) * 0.5),
            ("copy", lambda a, b: a.copy()), ("phase", lambda a, b: np.exp(1j * a.real)),
            ("zeros", lambda a, b: np.zeros_like(a, shape=shape)), ("join", lambda a, b: np.concatenate([a, a])),
            ("full", lambda a, b: np.full_like(a, 0.5, shape=shape)), ("matmul", lambda a, b: a @ b * 0.3),
            ("flatten", lambda a, b: a.flatten()), ("order", lambda a, b: np.sin(a.T.real)),
            ("fancy", lambda a, b: a[[0, -1, 0]]), ("take", lambda a, b: np.take(a, [1, 0], 0)),
            ("stack", lambda a, b: np.stack([a, -a])), ("conjugate", lambda a, b: np.conjugate(a)),
            ("roll", lambda a, b: np.roll(a, 1)), ("where", lambda a, b: np.where(True, a, 0.0)),
            ("square", lambda a, b: np.abs(a) ** 2), ("einsum", lambda a, b: np.einsum("i...->...i", a).copy()),
            ("tril", lambda a, b: np.tril(a)), ("constant", lambda a, b: qad.full(shape, c)),
            ("repeat", lambda a, b: np.repeat(a[:], 2, 0)),
        ],
    )  # fmt: skip
    copied = rng.integers(2) > 0  # half of them: reshapes of results may be views or copies, and are not written into
    return name, lambda arrays, reads: arrays.append(_own(f(arrays[i], arrays[j]), copied))


def _own(y, copied):
    return y.copy() if copied and np.ndim(y) else y


# -- views ---------------------------------------------------------------------------------------------------------


def basic(rng, shape, new_axes=True):
    """A random index of integers, slices, dots and new axes."""
    index = []
    for n in shape[: rng.integers(len(shape) + 1)]:
        kind = rng.integers(4)
        if kind == 0 and n:
            index.append(int(rng.integers(-n, n)))
        elif kind == 1:
            index.append(slice(None, None, int(pick(rng, [-1, 2, -2]))))
        elif kind == 2:
            index.append(slice(*sorted(int(k) for k in rng.integers(0, n + 1, size=2))))
        else:
            index.append(slice(None))
    if rng.integers(4) == 0:
        index.insert(rng.integers(len(index) + 1) if len(index) == len(shape) else len(index), Ellipsis)
    if new_axes and rng.integers(6) == 0:
        index.insert(rng.integers(len(index) + 1), None)
    return index[0] if len(index) == 1 else tuple(index)


def viewing(rng, arrays, free):
    i = int(pick(rng, [rng.integers(len(arrays)), len(arrays) - 1, max(free, default=0)]))
    a = arrays[i]
    index, axes = basic(rng, a.shape), tuple(rng.permutation(a.ndim).tolist())
    shapes = [(-1,), (a.size // 2, 2), (1, -1), a.shape[::-1], (*a.shape, 1)]
    halves = [s for s in shapes if abs(np.prod(s)) in (a.size, 1)]
    shape, axis = pick(rng, halves), int(rng.integers(max(a.ndim, 1)))
    diagonal = "...ii->...i" if a.ndim > 1 and a.shape[-1] == a.shape[-2] else "i...->...i"
    name, f = pick(
        rng,
        [
            *[("index", lambda a: a[index])] * 5,
            ("T", lambda a: a.T), ("transpose", lambda a: a.transpose(axes)), ("reshape", lambda a: a.reshape(shape)),
            ("np.reshape", lambda a: np.reshape(a, shape)), ("ravel", lambda a: a.ravel()), ("np.ravel", np.ravel),
            ("real", lambda a: a.real), ("imag", lambda a: a.imag if a.dtype.kind == "c" else a), ("np.real", np.real),
            ("swapaxes", lambda a: a.swapaxes(0, -1)), ("moveaxis", lambda a: np.moveaxis(a, axis, 0)),
            ("mT", lambda a: a.mT), ("squeeze", lambda a: a.squeeze()), ("expand", lambda a: np.expand_dims(a, axis)),
            ("flip", lambda a: np.flip(a, axis)), ("fliplr", np.flip),
            ("rot90", np.rot90), ("atleast_2d", np.atleast_2d), ("atleast_3d", np.atleast_3d),
            ("broadcast", lambda a: np.broadcast_to(a, (2, *a.shape))), ("diagonal", lambda a: a.diagonal()),
            ("einsum", lambda a: np.einsum(diagonal, a)), ("split", lambda a: np.array_split(a, 2, axis)[1]),
            ("conj", lambda a: a.conj()), ("row", lambda a: list(a)[-1]), ("diag", lambda a: np.diag(a)),
            ("flatten of a view", lambda a: a[::-1].reshape(-1)), ("last", lambda a: a[..., -1]),
            ("broadcast_arrays", lambda a: np.broadcast_arrays(a, a)[1] * 1.0),
        ],
    )  # fmt: skip
    return name, lambda arrays, reads: arrays.append(f(arrays[i]))


# -- writes --------------------------------------------------------------------------------------------------------


def value(rng, arrays, shape, dtype):
    """A function of the arrays whose value fits into this shape and dtype."""
    c = float(rng.normal() * 0.5)
    kind = rng.integers(5)
    if kind == 0:
        plain = rng.normal(size=shape[rng.integers(len(shape) + 1) :])
        return lambda arrays: plain
    if kind == 1:
        return lambda arrays: c
    fitting = [k for k, a in enumerate(arrays) if a.ndim <= len(shape) and _fits(a.shape, shape)]
    if kind == 2 or not fitting:
        i = int(rng.integers(len(arrays)))
        return lambda arrays: np.tanh(arrays[i].real.sum()) * c
    i = int(pick(rng, fitting))
    if dtype.kind == "f":
        return (lambda arrays: arrays[i].real) if kind == 3 else lambda arrays: arrays[i].real * c
    return (lambda arrays: arrays[i]) if kind == 3 else lambda arrays: arrays[i] * c


def _apart(x):
    """`x`, copied where it is plain: NumPy reads what it has just written where vectors overlap at other strides."""
    return x if isinstance(x, qad.Tensor) or np.ndim(x) != 1 else x.copy()


def _copied(v):
    return lambda arrays: v(arrays) * 1.0


def _fits(shape, other):
    return all(n in (1, m) for n, m in zip(shape[::-1], other[::-1], strict=False))


def fancy(rng, shape):
    if not shape or 0 in shape:
        return ...
    n = shape[0]
    mask = rng.random(shape) < 0.5
    choices = [np.array([0, -1]) % n, mask, [0], (rng.integers(0, n, size=3), Ellipsis), (Ellipsis, [0, 0, -1])]
    return pick(rng, choices)


def writing(rng, arrays, free):
    if not free:
        return None
    i = int(pick(rng, free))
    a = arrays[i]
    index = basic(rng, a.shape) if rng.integers(3) else fancy(rng, a.shape)
    there = a[index]
    v = value(rng, arrays, np.shape(there), a.dtype)
    if isinstance(index, np.ndarray) and index.dtype == bool:
        v = _copied(v)  # NumPy reads what it has just written, where mask and value show one array
    whole = value(rng, arrays, a.shape, a.dtype)
    part = value(rng, arrays, a.shape, np.dtype(float))

    def assign(arrays, reads):
        arrays[i][index] = _apart(v(arrays))

    def add(arrays, reads):
        arrays[i][index] += v(arrays)

    def multiply(arrays, reads):
        arrays[i][index] *= v(arrays)

    def whole_add(arrays, reads):
        arrays[i] += whole(arrays)

    def whole_multiply(arrays, reads):
        arrays[i] *= whole(arrays)

    def transposed(arrays, reads):
        arrays[i].T[0] = 0.5 * arrays[i].T[-1]

    def chained(arrays, reads):
        arrays[i][0][...] = 0.3 * arrays[i][-1]

    def rows(arrays, reads):
        for row in arrays[i]:
            row *= 0.5 + 0.1 * np.tanh(row.real.sum())

    def swap(arrays, reads):
        t = arrays[i][0]
        arrays[i][0] = arrays[i][-1]
        arrays[i][-1] = t

    def swap_at_once(arrays, reads):
        arrays[i][0], arrays[i][-1] = arrays[i][-1], arrays[i][0]

    def real_part(arrays, reads):
        arrays[i].real = part(arrays)

    def imaginary_part(arrays, reads):
        arrays[i].imag[...] = part(arrays)

    def real_rows(arrays, reads):
        arrays[i].real[::-1] *= 0.7

    def flat(arrays, reads):
        arrays[i].flat[::2] = np.array([0.25, -0.5])

    def flat_from(arrays, reads):
        arrays[i].flat[1:3] = arrays[i].ravel()[:2] * 0.5

    def at(arrays, reads):
        ufunc.at(arrays[i], index, v(arrays))

    def negative(arrays, reads):
        np.negative.at(arrays[i], [0, 0, -1])

    def sort(arrays, reads):
        arrays[i].sort()

    def fill(arrays, reads):
        arrays[i].fill(np.tanh(arrays[0].sum()))

    def copyto(arrays, reads):
        np.copyto(arrays[i], whole(arrays))

    def put(arrays, reads):
        np.put(arrays[i], [0, -1], 0.5 * arrays[0][:2])

    def reshaped(arrays, reads):
        arrays[i].reshape(-1)[::2] = 0.3

    def raveled(arrays, reads):
        arrays[i].ravel()[-1] = arrays[0][1]

    ufunc = pick(rng, [np.add, np.subtract, np.multiply, np.divide] + [np.maximum, np.minimum] * real(a))
    everywhere = [assign, assign, add, multiply, at, negative, fill, copyto, put, reshaped, flat, flat_from, raveled]
    of_rows = [transposed, chained, rows, swap, swap_at_once]
    of_rows = [*of_rows, whole_add, whole_multiply] * (a.ndim > 0)  # += makes a number of an array without axes
    step = pick(rng, everywhere + of_rows + [sort] * real(a) + [real_part, imaginary_part, real_rows] * (not real(a)))
    return step.__name__, step


def reading(rng, arrays, free):
    i = int(rng.integers(len(arrays)))
    f = pick(rng, [lambda a: np.sin(a.real).sum(), lambda a: (qad.abs2(a) * 0.1).sum(), lambda a: a.real.mean()])
    return "read", lambda arrays, reads: reads.append(f(arrays[i]))


# -- programs ------------------------------------------------------------------------------------------------------


def draw(seed, length=14):
    """A random program, and its inputs: a real vector and a complex matrix."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=3), rng.normal(size=(2, 3)) + 1j * rng.normal(size=(2, 3))
    program = Program(seed % APART == 0)
    made = [making] * 2 + [viewing] * 3 + [writing] * 4 + [reading]
    if seed % COMPOSED == 0:
        made += composed.STEPS
    if seed % FEW == 1:
        made += few_entries.STEPS
    tries, arrays = 0, None
    while len(program.steps) < length and tries < 20 * length:
        tries += 1
        if arrays is None:
            arrays, _ = program.run(*[x.copy() for x in inputs])
        given = arrays[:2]
        free = [k for k, a in enumerate(arrays) if not any(np.shares_memory(a, x) for x in given)]
        free = [k for k in free if isinstance(arrays[k], np.ndarray) and arrays[k].flags.writeable]
        build = making if not free and len(program.steps) < 2 else pick(rng, made)
        arrays = extend(program, inputs, build, rng, arrays, free)
    return program, inputs


def extend(program, inputs, build, rng, arrays, free):
    """Add a step, unless NumPy refuses it or the numbers become too large; the arrays then, or None if lost."""
    try:
        drawn = build(rng, arrays, free)
        if drawn is None:
            return arrays
        name, step = drawn
        program.steps.append(step)
        arrays, reads = program.run(*[x.copy() for x in inputs])
    except (ValueError, TypeError, IndexError, AttributeError, ZeroDivisionError, qad.QadError):
        if len(program.steps) > len(program.names):
            program.steps.pop()
        return None
    last = np.concatenate([np.ravel(a) for a in arrays] + [np.ravel(reads)])
    sizes = [a.size for a in arrays]
    if max(sizes) > 40 or not np.isfinite(last).all() or np.abs(last).max(initial=0) > 50:
        program.steps.pop()
        return None
    program.names.append(name)
    return arrays
