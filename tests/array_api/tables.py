"""What the tests of the standard call: name -> a function of the namespace and one or two arrays.

`standard.py` is the standard's list; a name that is in none of these tables fails.  What is not differentiated, or not
at complex points, says why.
"""

import inspect

import numpy as np

from tests.array_api import standard
from tests.cases import apart

X = (apart(3, 3) + 1.2) / 2.4  # distinct, from 0.1 to 0.9
Y = X[::-1, ::-1] + 0.04
Z, W = X + 0.3j * Y.T, Y - 0.2j * X
HERMITIAN = np.eye(3) * 3

# -- what is differentiated ----------------------------------------------------------------------------------
ONE = (
    "abs acos asin asinh atan atanh conj cos cosh exp expm1 imag log log1p log2 log10 negative positive real reciprocal"
)
ONE += " sin sinh square sqrt tan tanh"
TWO = (
    "add atan2 copysign divide hypot logaddexp maximum minimum multiply nextafter pow subtract remainder matmul vecdot"
)
DIFFERENTIABLE = {name: lambda xp, x, name=name: getattr(xp, name)(x) for name in ONE.split()}
DIFFERENTIABLE |= {name: lambda xp, x, y, name=name: getattr(xp, name)(x, y) for name in TWO.split()}
DIFFERENTIABLE |= {
    "acosh": lambda xp, x: xp.acosh(x + 1),
    "sign": lambda xp, x: xp.sign(x) * x,
    "clip": lambda xp, x: xp.clip(x, 0.3, 0.7),
    "where": lambda xp, x, y: xp.where(xp.asarray(X > 0.5), x, y),
    "astype": lambda xp, x: xp.astype(x, xp.complex128),
    "asarray": lambda xp, x: xp.asarray(x, copy=True),
    "full": lambda xp, x: xp.full((2, 3), x[0, 0]),
    "full_like": lambda xp, x: x * xp.full_like(x, 2.0),
    "linspace": lambda xp, x: xp.linspace(x[0, 0], x[1, 1], 4),
    "meshgrid": lambda xp, x, y: xp.meshgrid(x[0, :], y[0, :], indexing="ij"),
    "tril": lambda xp, x: xp.tril(x, k=-1),
    "triu": lambda xp, x: xp.triu(x, k=1),
    "broadcast_arrays": lambda xp, x, y: xp.broadcast_arrays(x, y[0, :]),
    "broadcast_to": lambda xp, x: xp.broadcast_to(x, (2, 3, 3)),
    "concat": lambda xp, x, y: xp.concat([x, y], axis=None),
    "expand_dims": lambda xp, x: xp.expand_dims(x, axis=1),
    "flip": lambda xp, x: xp.flip(x, axis=0),
    "moveaxis": lambda xp, x: xp.moveaxis(x, 0, 1),
    "permute_dims": lambda xp, x: xp.permute_dims(x, (1, 0)),
    "repeat": lambda xp, x: xp.repeat(x, 2, axis=0),
    "reshape": lambda xp, x: xp.reshape(x, (9,)),
    "roll": lambda xp, x: xp.roll(x, (1, 2), axis=(0, 1)),
    "squeeze": lambda xp, x: xp.squeeze(x[None, ...], axis=0),
    "stack": lambda xp, x, y: xp.stack([x, y], axis=-1),
    "tile": lambda xp, x: xp.tile(x, (2, 1)),
    "unstack": lambda xp, x: xp.unstack(x, axis=1),
    "cumulative_sum": lambda xp, x: xp.cumulative_sum(x, axis=0, include_initial=True),
    "cumulative_prod": lambda xp, x: xp.cumulative_prod(x, axis=1),
    "diff": lambda xp, x: xp.diff(x, axis=0, n=2, prepend=x[:1, :]),
    "max": lambda xp, x: xp.max(x, axis=1),
    "min": lambda xp, x: xp.min(x, axis=0, keepdims=True),
    "mean": lambda xp, x: xp.mean(x, axis=(0, 1)),
    "prod": lambda xp, x: xp.prod(x, axis=0),
    "std": lambda xp, x: xp.std(x, axis=1, correction=1.0),
    "sum": lambda xp, x: xp.sum(x, axis=1, keepdims=True),
    "var": lambda xp, x: xp.var(x, correction=0.5),
    "sort": lambda xp, x: xp.sort(x, axis=0),
    "take": lambda xp, x: xp.take(x, xp.asarray([2, 0, 2]), axis=1),
    "take_along_axis": lambda xp, x: xp.take_along_axis(x, xp.asarray([[0], [2], [1]]), axis=1),
    "unique_all": lambda xp, x: xp.unique_all(x).values,
    "unique_counts": lambda xp, x: xp.unique_counts(x).values,
    "unique_inverse": lambda xp, x: xp.unique_inverse(x).values,
    "unique_values": lambda xp, x: xp.unique_values(x),
    "matrix_transpose": lambda xp, x: xp.matrix_transpose(x),
    "tensordot": lambda xp, x, y: xp.tensordot(x, y, axes=((0,), (1,))),
}
LINALG = {
    "cholesky": lambda la, x: la.cholesky(x @ la.matrix_transpose(x).conj() + HERMITIAN, upper=True),
    "cross": lambda la, x, y: la.cross(x, y, axis=0),
    "det": lambda la, x: la.det(x),
    "diagonal": lambda la, x: la.diagonal(x, offset=1),
    "eigh": lambda la, x: la.eigh(x + la.matrix_transpose(x).conj()).eigenvalues,
    "eigvalsh": lambda la, x: la.eigvalsh(x + la.matrix_transpose(x).conj()),
    "inv": lambda la, x: la.inv(x + HERMITIAN),
    "matmul": lambda la, x, y: la.matmul(x, y),
    "matrix_norm": lambda la, x: la.matrix_norm(x, ord="nuc"),
    "matrix_power": lambda la, x: la.matrix_power(x, 3),
    "matrix_transpose": lambda la, x: la.matrix_transpose(x),
    "outer": lambda la, x, y: la.outer(x[0, :], y[1, :]),
    "pinv": lambda la, x: la.pinv(x[:2, :]),
    "qr": lambda la, x: la.qr(x[:, :2], mode="reduced"),
    "slogdet": lambda la, x: la.slogdet(x + HERMITIAN).logabsdet,
    "solve": lambda la, x, y: la.solve(x + HERMITIAN, y),
    "svd": lambda la, x: la.svd(x, full_matrices=False).S,
    "svdvals": lambda la, x: la.svdvals(x),
    "tensordot": lambda la, x, y: la.tensordot(x, y, axes=1),
    "trace": lambda la, x: la.trace(x, offset=-1),
    "vecdot": lambda la, x, y: la.vecdot(x, y, axis=0),
    "vector_norm": lambda la, x: la.vector_norm(x, axis=1, ord=3),
}
FFT = {name: lambda ft, x, name=name: getattr(ft, name)(x, axis=0, norm="ortho") for name in ("fft", "ifft", "hfft")}
FFT |= {name: lambda ft, x, name=name: getattr(ft, name)(x, n=4) for name in ("rfft", "irfft", "ihfft")}
FFT |= {name: lambda ft, x, name=name: getattr(ft, name)(x, axes=(0, 1)) for name in ("fftn", "ifftn", "irfftn")}
FFT |= {"rfftn": lambda ft, x: ft.rfftn(x), "fftshift": lambda ft, x: ft.fftshift(x, axes=0)}
FFT |= {"ifftshift": lambda ft, x: ft.ifftshift(x)}

ORDER = "complex numbers have no order"
STANDARD = "the standard has it for real numbers"
REAL_ONLY = {
    "atan2": STANDARD, "copysign": STANDARD, "hypot": STANDARD, "logaddexp": STANDARD, "nextafter": STANDARD,
    "remainder": STANDARD, "clip": ORDER, "max": ORDER, "min": ORDER, "maximum": ORDER, "minimum": ORDER, "sort": ORDER,
    "unique_values": "their order is NumPy's secret",
    "fft.rfft": STANDARD, "fft.rfftn": STANDARD, "fft.ihfft": STANDARD,
}  # fmt: skip

# -- what has no gradient ------------------------------------------------------------------------------------
STEPS = "its values are steps"
TRUTH = "its values are true or false"
COUNTS = "its values are places or counts"
DTYPE = "it is about dtypes"
BITS = "it is about integers"
NEW = "its result depends on no array's values"
CONSTANT = {  # name -> (why it has no gradient, what to call)
    **{
        name: (STEPS, lambda xp, x, name=name: getattr(xp, name)(x * 5)) for name in ("ceil", "floor", "round", "trunc")
    },
    "floor_divide": (STEPS, lambda xp, x, y: xp.floor_divide(x * 5, y)),
    **{
        name: (TRUTH, lambda xp, x, y, name=name: getattr(xp, name)(x, y))
        for name in ("equal", "greater", "greater_equal", "less", "less_equal", "not_equal")
    },
    **{
        name: (TRUTH, lambda xp, x, name=name: getattr(xp, name)(x))
        for name in ("isfinite", "isinf", "isnan", "signbit")
    },
    **{
        name: (TRUTH, lambda xp, x, y, name=name: getattr(xp, name)(x > 0.5, y > 0.5))
        for name in ("logical_and", "logical_or", "logical_xor")
    },
    "logical_not": (TRUTH, lambda xp, x: xp.logical_not(x > 0.5)),
    "all": (TRUTH, lambda xp, x: xp.all(x > 0.5, axis=0)),
    "any": (TRUTH, lambda xp, x: xp.any(x > 0.5, axis=0, keepdims=True)),
    "isin": (TRUTH, lambda xp, x, y: xp.isin(x, y, invert=True)),
    "argmax": (COUNTS, lambda xp, x: xp.argmax(x, axis=0, keepdims=True)),
    "argmin": (COUNTS, lambda xp, x: xp.argmin(x)),
    "argsort": (COUNTS, lambda xp, x: xp.argsort(x, axis=0, stable=True)),
    "count_nonzero": (COUNTS, lambda xp, x: xp.count_nonzero(x, axis=0)),
    "nonzero": (COUNTS, lambda xp, x: xp.nonzero(x)),
    "searchsorted": (COUNTS, lambda xp, x, y: xp.searchsorted(xp.asarray([0.2, 0.5, 0.7]), y, side="right")),
    **{
        name: (BITS, lambda xp, x, y, name=name: getattr(xp, name)(xp.asarray([5, 9]), xp.asarray([3, 2])))
        for name in ("bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor")
    },
    "bitwise_invert": (BITS, lambda xp, x: xp.bitwise_invert(xp.asarray([5, 9]))),
    "can_cast": (DTYPE, lambda xp, x: xp.can_cast(x, xp.float32)),
    "finfo": (DTYPE, lambda xp, x: xp.finfo(x.dtype).eps),
    "iinfo": (DTYPE, lambda xp, x: xp.iinfo(xp.int8).max),
    "isdtype": (DTYPE, lambda xp, x: xp.isdtype(x.dtype, ("integral", "real floating"))),
    "result_type": (DTYPE, lambda xp, x: xp.result_type(x, xp.complex64, 1.0)),
    "__array_namespace_info__": (DTYPE, lambda xp, x: xp.__array_namespace_info__().default_dtypes()["real floating"]),
    "arange": (NEW, lambda xp, x: xp.arange(1, 7, 2, dtype=xp.float32)),
    "empty": (NEW, lambda xp, x: xp.empty((2, 0))),
    "empty_like": (NEW, lambda xp, x: xp.empty_like(x[:0, :])),
    "eye": (NEW, lambda xp, x: xp.eye(2, 3, k=1)),
    "from_dlpack": (NEW, lambda xp, x: xp.from_dlpack(np.arange(3.0))),
    "ones": (NEW, lambda xp, x: xp.ones((2, 3), dtype=xp.complex64)),
    "ones_like": (NEW, lambda xp, x: xp.ones_like(x)),
    "zeros": (NEW, lambda xp, x: xp.zeros(3)),
    "zeros_like": (NEW, lambda xp, x: xp.zeros_like(x, dtype=xp.int8)),
    "linalg.matrix_rank": (COUNTS, lambda xp, x: xp.linalg.matrix_rank(x, rtol=1e-9)),
    "fft.fftfreq": (NEW, lambda xp, x: xp.fft.fftfreq(5, d=0.5)),
    "fft.rfftfreq": (NEW, lambda xp, x: xp.fft.rfftfreq(5, d=0.5)),
}

# -- every name ----------------------------------------------------------------------------------------------
GRADIENTS = {**DIFFERENTIABLE}
GRADIENTS |= {f"linalg.{name}": lambda xp, *a, f=f: f(xp.linalg, *a) for name, f in LINALG.items()}
GRADIENTS |= {f"fft.{name}": lambda xp, *a, f=f: f(xp.fft, *a) for name, f in FFT.items()}
SIGNATURES = {**standard.FUNCTIONS}
SIGNATURES |= {f"linalg.{name}": s for name, s in standard.LINALG.items()}
SIGNATURES |= {f"fft.{name}": s for name, s in standard.FFT.items()}
COMPLEX = sorted(set(GRADIENTS) - set(REAL_ONLY))


def points(f, *arrays):
    """As many of the arrays as the function takes."""
    named = [p for p in inspect.signature(f).parameters.values() if p.default is p.empty]
    return arrays if named[-1].kind is inspect.Parameter.VAR_POSITIONAL else arrays[: len(named) - 1]


def inner(name):
    """The table's own function, whose parameters say how many arrays it takes."""
    part, _, last = name.rpartition(".")
    return {"linalg": LINALG, "fft": FFT}[part][last] if part else GRADIENTS[name]
