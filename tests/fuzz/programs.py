"""Random NumPy programs, for `tests.fuzz.transforms`.

A program is a list of instructions over a growing list of variables; it is drawn by running it on a sample point, so
that every shape fits, and replayed as a function of its inputs.
"""

from dataclasses import dataclass

import numpy as np

import qad

SHAPES = [(), (1,), (3,), (2, 3), (2, 1), (1, 3), (3, 3), (2, 3, 3), (0, 3)]
DTYPES = [np.float64, np.complex128, np.float32, np.complex64]


@dataclass
class Program:
    """Instructions ``(function, numbers of its operands)``; the value is a weighted sum of what all variables hold."""

    instructions: list
    names: list
    weights: np.ndarray

    def __call__(self, *inputs):
        variables = list(inputs)
        for f, operands in self.instructions:
            variables.append(f(*(variables[i] for i in operands)))
        return (np.concatenate(variables, axis=None) * self.weights).sum().real


def real(x):
    return x.dtype.kind == "f"


def pick(rng, choices):
    return choices[rng.integers(len(choices))]


def unary(*functions):
    return [(f.__name__, 1, lambda rng, x, f=f: f) for f in functions]


def axis_of(rng, x):
    return int(rng.integers(-x.ndim, x.ndim)) if x.ndim else None


def reduction(f):
    def build(rng, x):
        if x.size == 0 or (not real(x) and f in (np.max, np.min, np.median)):
            return None
        axis = pick(rng, [None, axis_of(rng, x)] + [(0, -1)] * (x.ndim > 1 and f is not np.median))
        keep = bool(rng.integers(2))
        return lambda x: f(x, axis=axis, keepdims=keep)

    return f.__name__, 1, build


def along(f, *options):
    """A function of one axis and of one of these options."""

    def build(rng, x):
        if not x.ndim or not x.size:
            return None
        axis, option = axis_of(rng, x), pick(rng, options) if options else None
        return (lambda x: f(x, option, axis)) if options else lambda x: f(x, axis=axis)

    return f.__name__, 1, build


def binary(f, name=None):
    def build(rng, x, y):
        np.broadcast_shapes(x.shape, y.shape)
        return f

    return name or f.__name__, 2, build


def with_constant(f, name):
    """A constant of another kind or dtype on the right or the left: NumPy's arrays and scalars, Python's, lists."""

    def build(rng, x):
        c = pick(rng, [2, -1.5, 0.5 + 1j, np.float32(1.25), np.complex64(1 - 1j), np.array(0.75), np.int64(3)])
        if rng.integers(2) and x.shape:
            c = pick(rng, [rng.normal(size=x.shape[-1:]).tolist(), rng.normal(size=x.shape).astype(np.float32) * 1j])
        return (lambda x: f(x, c)) if rng.integers(2) else lambda x: f(c, x)

    return name, 1, build


def matmul(rng, x, y):
    np.matmul(x, y)
    return lambda x, y: x @ y


def indexing(rng, x):
    if not x.ndim or not x.size:
        return lambda x: x[..., None]
    n = x.shape[0]
    index = pick(
        rng,
        [
            int(rng.integers(-n, n)), slice(None, None, -1), slice(n // 2), (Ellipsis, None), (None, 0),
            rng.integers(-n, n, size=4), rng.integers(0, n, size=(2, 2)).tolist(), rng.random(x.shape) < 0.6,
            rng.random(n) < 0.6, (rng.integers(0, n, size=3), Ellipsis), (Ellipsis, [0, 0, -1]), np.array(0),
        ],
    )  # fmt: skip
    return lambda x: x[index]


def reshaping(rng, x):
    choices = [lambda x: x.reshape(-1), lambda x: x.T, np.atleast_2d, np.squeeze]
    choices += [lambda x: np.broadcast_to(x, (2, *x.shape)), lambda x: x[..., None].copy(order="F")]
    if x.ndim > 1:
        choices += [lambda x: np.swapaxes(x, 0, -1), lambda x: x.mT, lambda x: np.reshape(x, x.shape[::-1], "F")]
        choices += [np.tril, lambda x: np.triu(x, 1), lambda x: np.diagonal(x, 0, -1, -2), np.trace, np.rot90]
    if x.ndim and x.size:
        choices += [np.flip, lambda x: np.roll(x, 2), lambda x: np.repeat(x, 2, 0), lambda x: np.tile(x, 2)]
        choices += [lambda x: np.pad(x, 1), lambda x: np.pad(x, 1, "edge"), lambda x: np.take(x, [0, 0, -1])]
        choices += [lambda x: np.stack([x, 2 * x], -1), lambda x: np.concatenate([x, x[:1]], 0), np.diff]
    return pick(rng, choices)


def joining(rng, x, y):
    f = pick(rng, [np.stack, np.concatenate, np.hstack, np.vstack])
    f([x, y])
    return lambda x, y: f([x, y])


def choosing(rng, x, y):
    mask = rng.random(np.broadcast_shapes(x.shape, y.shape)) < 0.5
    return lambda x, y: np.where(mask, x, y)


def extremes(rng, x, y):
    np.broadcast_shapes(x.shape, y.shape)
    f = pick(rng, [np.maximum, np.minimum, np.hypot, np.arctan2, np.logaddexp, np.fmax])
    at_zero = f is np.arctan2 and not (x.all() and y.all())  # rounding decides on which side of its cut
    return f if real(x) and real(y) and not at_zero else None


def outer(rng, x, y):
    f = pick(rng, [np.outer, np.kron, lambda x, y: np.vdot(x, x) * y, np.inner, np.dot])
    f(x, y)
    return f


def linalg(rng, x):
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        return None
    n = x.shape[-1]
    well = 4 * np.eye(n)
    return pick(
        rng,
        [
            lambda x: np.linalg.inv(x + well), lambda x: np.linalg.det(x + well),
            lambda x: np.linalg.solve(x + well, x),
            lambda x: np.linalg.norm(x + 1, axis=(-2, -1)), lambda x: np.linalg.qr(x + well)[1] @ x,
            lambda x: np.linalg.slogdet(x + well)[1], lambda x: np.einsum("...ij,...jk->...k", x, x),
        ],
    )  # fmt: skip


def powers(rng, x):
    p = pick(rng, [0, 1, 2, 3, -1, 2.0, 0.5, 1.5, -0.5, np.float64(2), 1 + 0.5j, np.float32(1.5)])
    shift = 3.0 + 1j if not real(x) else 3.0
    return pick(rng, [lambda x: (np.tanh(x) + shift) ** p, lambda x: abs(p) ** x if p else x, lambda x: abs(x) ** 2])


def on_the_cut(x):
    """Whether the angle of an entry is decided by the sign of a zero, or of what rounding left of one."""
    return not x.all() or (not real(x) and ((x.real < 0) & (np.abs(x.imag) < 1e-9)).any())


OPS = [
    *unary(np.sin, np.cos, np.tanh, np.exp, np.arctan),
    ("arcsinh", 1, lambda rng, x: np.arcsinh if (np.abs(x * x + 1) > 1e-6).all() else None),  # not at a branch point
    *unary(np.square, np.sinc, np.conj, np.negative, np.expm1, np.abs, np.real, np.imag),
    ("sign", 1, lambda rng, x: np.sign if x.all() else None),  # that of 0.0 is not that of what rounding leaves of it
    *unary(qad.abs2, np.copy, np.ravel, np.positive, np.nan_to_num),
    ("angle", 1, lambda rng, x: None if on_the_cut(x) else np.angle),
    ("sqrt", 1, lambda rng, x: lambda x: np.sqrt(np.tanh(x) + 2)),
    ("log", 1, lambda rng, x: lambda x: np.log(qad.abs2(x) + 1)),
    *(reduction(f) for f in (np.sum, np.mean, np.prod, np.var, np.std, np.max, np.min, np.median, qad.logsumexp)),
    along(np.cumsum), along(np.cumprod), along(np.flip), along(np.fft.fft, None, 2, 4, 5),
    along(np.fft.ifft, None, 3), along(np.fft.irfft, 3, 4, 5), along(np.diff, 1), along(np.expand_dims),
    along(np.fft.fftshift), along(np.roll, 1, -2), along(np.repeat, 2),
    binary(np.add), binary(np.subtract), binary(np.multiply), binary(lambda x, y: x * y.conj(), "mul_conj"),
    binary(lambda x, y: x / (qad.abs2(y) + 1), "divide"),
    *(with_constant(f, f"const_{f.__name__}") for f in (np.add, np.subtract, np.multiply, np.divide)),
    ("matmul", 2, matmul), ("index", 1, indexing), ("index", 1, indexing), ("reshape", 1, reshaping),
    ("reshape", 1, reshaping), ("join", 2, joining), ("where", 2, choosing), ("extreme", 2, extremes),
    ("outer", 2, outer), ("linalg", 1, linalg), ("power", 1, powers),
    ("sort", 1, lambda rng, x: (lambda x: np.sort(x, axis=None)) if real(x) else None),
    ("clip", 1, lambda rng, x: (lambda x: np.clip(x, -0.4, 0.6)) if real(x) else None),
    ("cast", 1, lambda rng, x: lambda x: x.astype(complex)),
]  # fmt: skip


def draw(seed, length=20):
    """A random program and its inputs."""
    rng = np.random.default_rng(seed)
    inputs = []
    for _ in range(3):
        x, dtype = np.asarray(rng.normal(size=pick(rng, SHAPES))), pick(rng, DTYPES)
        inputs.append((x + 1j * rng.normal(size=x.shape) if np.dtype(dtype).kind == "c" else x).astype(dtype))
    wide = [x.astype(np.result_type(x, np.float64)) for x in inputs]
    program, variables = Program([], [], None), list(wide)
    with np.errstate(all="ignore"):
        while len(program.instructions) < length:
            extend(program, variables, rng)
    size = sum(v.size for v in variables)
    program.weights = rng.normal(size=size) + 1j * rng.normal(size=size)
    return program, inputs, wide


def extend(program, variables, rng):
    """Add an instruction, unless the draw does not fit."""
    name, arity, build = pick(rng, OPS)
    # recent variables are likelier, so that programs are deep
    operands = [max(0, len(variables) - 1 - int(rng.exponential(3.0))) for _ in range(arity)]
    try:
        f = build(rng, *(variables[i] for i in operands))
        y = f and np.asarray(f(*(variables[i] for i in operands)))
    except (ValueError, TypeError, IndexError, ZeroDivisionError, qad.QadError):
        return
    if f is None or y.dtype.kind not in "fc" or y.size > 60 or not np.isfinite(y).all():
        return
    size, noise = np.abs(y).max(initial=0), (y != 0) & (np.abs(y) < 1e-9)
    if size > 100 or noise.any():  # close to a pole; or what rounding left of a zero, whose sign and angle mean nothing
        return
    if size > 2:
        scale = float(0.7071 / size)  # not to a branch point at 1
        f, y = (lambda *args, f=f: f(*args) * scale), y * scale
    program.instructions.append((f, operands))
    program.names.append(name)
    variables.append(y)
