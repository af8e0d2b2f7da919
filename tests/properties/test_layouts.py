"""Every result lies in memory as NumPy's does: that decides whether a reshape is a view, which shows what is written.

The cases of every floor, and one for each function of which they show no result of several axes, for operands that lie
in memory in many ways; a result that lies otherwise would be a silent wrong number.
"""

import numpy as np
import pytest

import qad
from tests.cases import Case, apart, normal
from tests.properties.layouts import differing
from tests.rules.test_registry import gathered

pytestmark = pytest.mark.filterwarnings("ignore")

X, Y = normal(2, 3, 4), normal(4, 3, 2, seed=1)
Z = normal(2, 3, 4, complex)
POSITIVE = abs(X) + 0.5
REDUCED = [
    np.sum, np.prod, np.mean, np.max, np.min, np.amax, np.var, np.std, np.ptp, np.median, np.average, np.nanmax,
    np.nanmin, np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd, np.nanmedian, np.add.reduce, np.multiply.reduce,
    np.maximum.reduce, np.minimum.reduce, np.logaddexp.reduce, np.hypot.reduce, np.argmax, np.all, np.count_nonzero,
    np.cumsum, np.cumprod, np.nancumsum, np.trapezoid, np.linalg.norm, np.diff, np.sort, np.flip, np.gradient,
    np.add.accumulate, np.maximum.accumulate, np.unwrap, np.fft.fft, np.fft.hfft, np.fft.irfft, np.argsort,
    np.partition,
]  # fmt: skip
QUANTILES = [np.quantile, np.percentile, np.nanquantile, np.nanpercentile]
KEPT = {np.partition: (1,)}
TABLE = {
    **{
        f"{f.__name__} {k}": (lambda x, f=f, k=k: f(x, *KEPT.get(f, ()), axis=k), X) for f in REDUCED for k in (0, 1, 2)
    },
    **{
        f"{f.__name__} {k} {q}": (lambda x, f=f, k=k, q=q: f(x, q, axis=k, keepdims=k == 2), X)
        for f in QUANTILES
        for k in (0, 1, 2, (0, 1))
        for q in (0.3, [0.2, 0.4])
    },
    **{f"sum {axes}": (lambda x, axes=axes: x.sum(axes, keepdims=True), X) for axes in (0, 1, (0, 2))},
    **{f"delete {axis}": (lambda x, axis=axis: np.delete(x, [0], axis), X) for axis in (0, 1, 2)},
    **{f"insert {axis}": (lambda x, axis=axis: np.insert(x, 1, 0.5, axis), X) for axis in (0, 1, 2)},
    **{
        f"norm {p} {axes}": (lambda x, p=p, axes=axes: np.linalg.norm(x, p, axes, True), X)
        for p in (1, -1, 2, "nuc", "fro")
        for axes in ((0, 1), (0, 2), (2, 1))
    },
    **{
        f"{f.__name__}": (f, POSITIVE)
        for f in (
            np.log,
            np.log2,
            np.log10,
            np.sqrt,
            np.i0,
            np.arccos,
            np.arctanh,
            np.around,
            np.ones_like,
            np.isreal,
            np.zeros_like,
            np.empty_like,
            np.copy,
            np.trace,
            np.trim_zeros,
            np.linalg.svdvals,
            np.nan_to_num,
        )
    },
    **{f"take {axis}": (lambda x, axis=axis: np.take(x, [[1, 0], [0, 1]], axis), X) for axis in (0, 1, 2)},
    **{f"repeat {axis}": (lambda x, axis=axis: np.repeat(x, 2, axis), X) for axis in (0, 1, 2, None)},
    **{f"stack {axis}": (lambda x, axis=axis: np.stack([x, 2 * x], axis), X) for axis in (0, 1, 2, 3)},
    **{f"concatenate {axis}": (lambda x, axis=axis: np.concatenate([x, 2 * x], axis), X) for axis in (0, 1, 2)},
    **{f"concatenate mixed {axis}": (lambda x, y, k=axis: np.concatenate([x, y.T], k), (X, Y)) for axis in (0, 1, 2)},
    **{
        f"pad {mode}": (lambda x, m=mode: np.pad(x, 1, m), X)
        for mode in ("constant", "edge", "wrap", "mean", "reflect")
    },
    "full_like": (lambda x: np.full_like(x, 0.5), X),
    "power": (lambda x: np.power(x, 1.5), POSITIVE),
    "ravel": (lambda x: np.ravel(x, "F"), X),
    "outer": (np.outer, (X, Y)),
    "tensordot": (np.tensordot, (X, Y)),
    "tensordot 1": (lambda x, y: np.tensordot(x, y, 1), (X, Y)),
    "choose": (lambda x: np.choose([[0], [1]], list(x)), X),
    "where": (lambda x, y: np.where(x > 0, x, y.T), (X, Y)),
    "extract": (lambda x: x[X > 0], X),
    "fancy": (lambda x: x[:, [1, 0]], X),
    "fancy last": (lambda x: x[..., [1, 0]], X),
    "rows": (lambda x: x[[1, 0]], X),
    "two indices": (lambda x: x[[0, 1], :, [1, 2]], X),
    "mask": (lambda x: x[:, [True, False, True]], X),
    "vecdot": (lambda x: np.vecdot(x, x), X),
    "cross": (lambda x: np.cross(x, 2 * x, axis=1), X),
    "dot": (lambda x, y: np.dot(x, y), (X, normal(4, 3, 2).transpose(2, 0, 1).copy())),
    "matmul": (lambda x, y: x @ y.mT, (X, X)),
    "matmul 2": (lambda x, y: x.mT @ y, (X, X)),
    "inner": (np.inner, (X, X)),
    "kron": (np.kron, (X, X)),
    "by a number": (lambda x: np.dot(2.0, x), X),
    "polyval": (lambda x: np.polyval([1.0, 2.0, 3.0], x), X),
    "interp": (lambda x: np.interp(x, [-1, 0, 1], [3, 4, 6]), X),
    "clip": (lambda x: np.clip(x, -0.5, 0.5), X),
    "nextafter": (lambda x: np.maximum(x, 0), X),
    "tile": (lambda x: np.tile(x, (2, 1, 1)), X),
    "roll": (lambda x: np.roll(x, 1, 1), X),
    "rot90": (np.rot90, X),
    "meshgrid": (lambda x: tuple(np.meshgrid(x[0, 0], x[0, 1])), X),
    "resize": (lambda x: np.resize(x, (5, 2)), X),
    "mixed": (lambda x, y: x + y.T, (X, Y)),
    "mixed 2": (lambda x, y: x[0] * y.T, (X, Y)),
    "abs": (np.abs, Z),
    "size": (lambda z: abs(z) ** 2, Z),
    "abs2": (qad.abs2, Z),
    "real": (lambda z: (z * z).real, Z),
    "number": (lambda x: x.astype(np.float32), X),
    "complex": (lambda x: x.astype(complex), X),
    "where=": (lambda x: np.exp(x, where=X > 0), X),
    "dtype=": (lambda x: np.exp(x, dtype=complex), X),
    "reduceat": (lambda x: np.add.reduceat(x, [0, 1], 1), X),
    "ufunc.outer": (lambda x: np.subtract.outer(x, x[0]), X),
    "select": (lambda x: np.select([X > 0], [x], 2 * x), X),
    "select by it": (lambda x: np.select([x > 0], [x], 2 * x), X),
    "apply": (lambda x: np.apply_along_axis(np.cumsum, 1, x), X),
    "over axes": (lambda x: np.apply_over_axes(np.sum, x, [1]), X),
    "tril": (np.tril, X),
    "diag": (np.diagonal, X),
    "trace": (lambda x: np.trace(np.stack([x, x]), axis1=0, axis2=1), X),
    "unstack": (np.unstack, X) if hasattr(np, "unstack") else (np.copy, X),
    "piecewise": (lambda x: np.piecewise(x, [X > 0], [np.sin, np.cos]), X),
    "put_along": (lambda x: np.take_along_axis(x, np.argsort(X, 1), 1), X),
    "atleast": (np.atleast_3d, X),
    "inv": (lambda x: np.linalg.inv(x[:, :, :3] + 3 * np.eye(3)), X),
    "qr": (lambda x: tuple(np.linalg.qr(x)), X),
    "svd": (lambda x: tuple(np.linalg.svd(x, full_matrices=False)), X),
    "pinv": (np.linalg.pinv, X),
    "eigh": (lambda x: tuple(np.linalg.eigh(x @ x.mT)), X),
    "cholesky": (lambda x: np.linalg.cholesky(x @ x.mT), X),
    "upper": (lambda x: np.linalg.cholesky(np.eye(3) + x[:, :, :3] @ x[:, :, :3].mT, upper=True), X),
    "solve": (lambda x: np.linalg.solve(x @ x.mT, x), X),
    "det": (lambda x: np.linalg.det(np.stack([x @ x.mT, x @ x.mT])), X),
    "power 0": (lambda x: np.linalg.matrix_power(x[:, :, :3], 0), X),
    "lstsq": (lambda x: np.linalg.lstsq(x[0], x[1])[0], X),
    "power 3": (lambda x: np.linalg.matrix_power(x[:, :, :3], 3), X),
    "fft2": (np.fft.fft2, X),
    "fftn": (np.fft.fftn, X),
    "irfftn": (np.fft.irfftn, X),
    "shift": (np.fft.fftshift, X),
    "einsum": (lambda x, y: np.einsum("ijk,klm->mil", x, y), (X, Y)),
    "sorted": (lambda x: np.sort(x, 1), apart(2, 3, 4)),
    "corrcoef": (lambda x: np.corrcoef(x[0]), X),
    "cov": (lambda x: np.cov(x[0]), X),
    "vander": (lambda x: np.vander(x[0, 0]), X),
    "linspace": (lambda x: np.linspace(x, 2 * x, 3, axis=1), X),
    "geomspace": (lambda x: np.geomspace(x, 2 * x, 3, axis=1), POSITIVE),
    "logspace": (lambda x: np.logspace(x, 2 * x, 3), X),
}
TERMS = [
    "ij,jk->ki", "ij,jk->ik", "ij,ij->ji", "ij,jk,kl->li", "i,j->ji", "ijk->ki", "ijk,kl->jil", "ij,kl->ljki",
    "iij->ji", "ijk,ijl->ilk", "ij,j->ji", "ij,kj,lj->lik", "ij,ik->jki", "ijk,jil->kl", "i...,...j->j...i", "ij,jk",
]  # fmt: skip
SIZES = dict(zip("ijkl", (2, 3, 4, 5), strict=True))


def operands(term):
    shapes = [[SIZES.get(label, 3) for label in part.replace("...", ".")] for part in term.split("->")[0].split(",")]
    return tuple([normal(*shape, seed=i) for i, shape in enumerate(shapes)])


INNER = ("second_of_sine",)  # of a primitive that no user calls: of plain arrays it gives a slice of a larger one


@pytest.mark.parametrize("floor", ["rules", "special", "linalg", "contract"])
def test_every_case(floor):
    cases = [case for case in gathered((floor,)) if not str(case).startswith(INNER)]
    assert cases
    words = [words for case in cases for words in differing(case)[:1]]
    assert not words, "\n".join(words)


@pytest.mark.parametrize("name", TABLE)
def test_functions_with_several_axes(name):
    f, args = TABLE[name]
    assert not (words := differing(Case(f, args, name=name))), "\n".join(words)


def with_gaps(x):
    """The numbers of `x`, positive, as the absolute squares of complex ones: qad has them as real parts of others."""
    return np.abs(np.sqrt(np.abs(x)) * (0.6 + 0.8j)) ** 2


def with_gaps_turned(x):
    return with_gaps(x.T).T


def read_again(x):
    """A view with gaps that was taken before a write."""
    whole = np.stack([x.T, x.T], -1) * 1.0
    part = whole[..., 0].T
    whole[..., 1] = 0.0
    return part


ONE = [name for name, (_, args) in TABLE.items() if (args is X or args is POSITIVE) and name != "isreal"]  # a mask


@pytest.mark.parametrize("made", [with_gaps, with_gaps_turned, read_again])
@pytest.mark.parametrize("name", ONE)
def test_functions_of_what_lies_apart_in_memory(name, made):
    """NumPy's functions look at the order of axes, and some at whether there are gaps."""
    f = TABLE[name][0]
    case = Case(lambda x: f(made(x)), POSITIVE if made is read_again else X, name=name)
    words = differing(case, ("leaf", "nested"), ("C", "F"))
    assert not words, "\n".join(words)


WIDENED = {
    "atleast_1d": np.atleast_1d, "atleast_2d": np.atleast_2d, "atleast_3d": np.atleast_3d, "None": lambda x: x[None],
    "last": lambda x: x[..., None], "expand_dims": lambda x: np.expand_dims(x, 0),
    "reshape": lambda x: x.reshape(1, -1), "squeeze": lambda x: np.squeeze(x[None, ..., None]),
    "part": lambda x: x[:1], "transpose": lambda x: x[:1].T, "diagonal": lambda x: np.diag(np.outer(x, x))[None],
    "diagonal of it": lambda x: (x if x.ndim > 1 else x[None]).diagonal()[None],
}  # fmt: skip


@pytest.mark.parametrize("again", [False, True], ids=["as it was made", "after a write"])
@pytest.mark.parametrize("name", WIDENED)
def test_steps_along_axes_of_length_one(name, again):
    """They decide in which order NumPy makes an array like it, of another shape."""

    def f(y):
        for part in (y, y[::-1], y[::2], y[::-2], np.outer(y, y)[::-1, ::2], np.outer(y, y)[:, 1]):
            whole = part * 1.0
            x = WIDENED[name](whole[::-1])
            if again:
                whole[...] = 0.5
            found.append([np.zeros_like(x, shape=(2,) * k) for k in range(1, 4)])
        return np.sum(y)

    steps = []
    for road in (lambda y: f(y), lambda y: f(qad.tensor(y)), qad.grad(f)):
        found = []
        road(np.arange(4.0))
        steps.append([[qad.extend.value_of(z).strides for z in row] for row in found])
    assert steps[0] == steps[1] == steps[2]


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("how", [{}, {"optimize": True}, {"order": "C"}, {"optimize": [(0, 1)]}], ids=str)
def test_contractions(term, how):
    args = operands(term)
    if type(how.get("optimize")) is list:
        how = {"optimize": ["einsum_path", *[(0, 1)] * max(len(args) - 1, 0)]} if len(args) > 1 else {}
    contract = Case(lambda *xs: np.einsum(term, *xs, **how), args, name=f"einsum {term}")
    ours = Case(lambda *xs: qad.einsum(term, *xs), args, name=f"qad.einsum {term}")
    mixed = tuple([x.T.copy().T if k % 2 else x for k, x in enumerate(args)])
    for case in (contract, ours, Case(contract.f, mixed), Case(ours.f, mixed)):
        assert not (words := differing(case)), "\n".join(words)
