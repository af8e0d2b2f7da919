"""The array-API standard, name by name: signatures, values beside NumPy's, gradients at real and complex points.

`standard.py` is the standard's list; a name that is in none of the tables below fails.  What is not differentiated, or
not at complex points, says why.
"""

import inspect

import numpy as np
import pytest

import qad
from qad.core.tensor import value_of
from qad.core.trees import flatten
from tests.array_api import standard
from tests.cases import Case, apart

RECENT = tuple(map(int, np.__version__.split(".")[:2])) >= (2, 3)
pytestmark = pytest.mark.skipif(not RECENT, reason="NumPy, whose functions these are, follows 2024.12 since its 2.3")
xp = qad.tensor(0.0).__array_namespace__()

X = (apart(3, 3) + 1.2) / 2.4  # distinct, from 0.1 to 0.9
Y = X[::-1, ::-1] + 0.04
Z, W = X + 0.3j * Y.T, Y - 0.2j * X
HERMITIAN = np.eye(3) * 3

# -- the tables: name -> what to call, of the namespace and one or two arrays ---------------------------------
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


def case(name, *arrays):
    return Case(lambda *a: GRADIENTS[name](xp if _recorded(a) else np, *a), points(inner(name), *arrays), name=name)


def _recorded(arrays):
    return any(type(a) is qad.Tensor for a in arrays)


CASES = [case(name, X, Y) for name in sorted(GRADIENTS)] + [case(name, Z, W) for name in COMPLEX]


def lookup(name):
    part, _, last = name.rpartition(".")
    return getattr(getattr(xp, part) if part else xp, last)


def test_every_name_is_in_one_table():
    assert not set(GRADIENTS) & set(CONSTANT)
    assert set(GRADIENTS) | set(CONSTANT) == set(SIGNATURES)
    assert set(REAL_ONLY) <= set(GRADIENTS)


@pytest.mark.parametrize("name", sorted(SIGNATURES))
def test_signatures(name):
    """Every argument of the standard is understood, in its place, with the same default."""
    asked = inspect.signature(eval(f"lambda {SIGNATURES[name]}: 0")).parameters.values()
    try:
        given = inspect.signature(lookup(name)).parameters
    except ValueError:  # NumPy's ufuncs do not say before 2.4
        return
    places = [p for p in given.values() if p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD)]
    for i, p in enumerate(asked):
        if p.kind is p.POSITIONAL_ONLY or p.kind is p.VAR_POSITIONAL:
            assert len(places) > i or places[-1].kind is p.VAR_POSITIONAL
        else:
            assert p.name in given, f"{name} does not know {p.name}"
            assert given[p.name].kind is not p.POSITIONAL_ONLY


@pytest.mark.parametrize("c", CASES, ids=str)
def test_values_and_gradients(c):
    """Beside NumPy, whose main namespace follows the standard; and all answers are Tensors."""
    found = flatten(c.f(*map(qad.tensor, c.point)))[0]
    expected = flatten(c.f(*c.point))[0]
    for a, b in zip(found, expected, strict=True):
        assert type(a) is qad.Tensor
        assert (a.shape, a.dtype) == (np.shape(b), b.dtype)
        if "unique" not in c.name:
            np.testing.assert_allclose(a.numpy(), b, rtol=1e-12, atol=1e-14)
    c.check()


@pytest.mark.parametrize("name", sorted(CONSTANT))
def test_values_without_gradient(name):
    _, f = CONSTANT[name]
    arrays = points(f, X, Y)
    found = f(xp, *(qad.tensor(a, requires_grad=True) for a in arrays))
    expected = f(np, *arrays)
    for a, b in zip(flatten(found)[0], flatten(expected)[0], strict=True):
        if isinstance(b, (np.ndarray, np.integer)) and type(a) is not int:
            assert type(a) is qad.Tensor
            assert not a.requires_grad
            assert (a.shape, a.dtype) == (np.shape(b), b.dtype)
        np.testing.assert_array_equal(value_of(a), b)


# -- the array itself ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", [*standard.METHODS, *standard.ATTRIBUTES, "to_device"])
def test_the_array_has_the_methods_of_the_standard(name):
    assert hasattr(qad.tensor([[1.0]]), name)


def test_constants_and_dtypes():
    for name in standard.CONSTANTS:
        assert getattr(xp, name) is getattr(np, name)
    for name in standard.DTYPES:
        assert xp.zeros(2, dtype=getattr(xp, name)).dtype == name


def test_sorting_downwards():
    x = qad.tensor([1.0, 3.0, 2.0, 3.0])
    np.testing.assert_array_equal(xp.argsort(x, descending=True).numpy(), [1, 3, 2, 0])
    np.testing.assert_array_equal(xp.sort(x, descending=True).numpy(), [3.0, 3.0, 2.0, 1.0])
    g = qad.grad(lambda x: xp.sum(xp.sort(x, descending=True) * xp.arange(3.0)))(np.array([0.3, 0.1, 0.2]))
    np.testing.assert_array_equal(g, [0.0, 2.0, 1.0])


def test_numbers_in_lists():
    t = qad.tensor(2.0, requires_grad=True)
    y = xp.asarray([[t, 1.0], [3, t * t]])
    assert y.shape == (2, 2)
    np.testing.assert_array_equal(qad.grad(lambda t: xp.sum(xp.asarray([[t, 1.0], [3, t * t]])))(2.0), 5.0)
    assert xp.asarray([1, 2], dtype=xp.float32).dtype == np.float32
    assert xp.asarray(t) is t
    assert xp.full(3, t).requires_grad
    with pytest.raises(qad.errors.ArgumentError, match="copy=False"):
        xp.asarray(t, dtype=xp.float32, copy=False)


def test_versions_devices_and_information():
    x = qad.tensor([1.0, 2.0])
    assert x.__array_namespace__(api_version="2022.12") is xp is qad.array_api
    assert xp.__array_api_version__ == "2024.12"
    with pytest.raises(qad.errors.ArgumentError, match="2024.12"):
        x.__array_namespace__(api_version="1999.1")
    assert x.device == "cpu"
    assert x.to_device("cpu") is x
    with pytest.raises(qad.errors.ArgumentError, match="CuPy"):
        x.to_device("cuda")
    info = xp.__array_namespace_info__()
    assert info.devices() == [info.default_device()] == ["cpu"]
    assert info.capabilities()["boolean indexing"]
    assert set(info.dtypes(kind=("integral", "bool"))) == {n for n in standard.DTYPES if "int" in n or n == "bool"}
    assert set(info.dtypes()) == set(standard.DTYPES)
    assert xp.finfo(x).max == np.finfo(float).max
    assert type(xp.finfo(xp.float32).eps) is float
    assert 2.0 in x and 3.0 not in x


def test_dlpack_hands_out_values_that_are_not_recorded():
    x = qad.tensor([1.0, 2.0])
    np.testing.assert_array_equal(np.from_dlpack(x), [1.0, 2.0])
    with pytest.raises(qad.errors.RecordedTensorError):
        np.from_dlpack(qad.tensor([1.0], requires_grad=True))


def test_a_program_of_the_standard():
    """Written for any library: one namespace from the arguments, no other name."""

    def loss(a, b):
        xp = a.__array_namespace__()
        q, r = xp.linalg.qr(a)
        mask = xp.abs(b) > xp.mean(xp.abs(b))
        spectrum = xp.fft.fft(xp.where(mask, b, xp.zeros_like(b)))
        return xp.sum(xp.abs(r) ** 2) + xp.linalg.vector_norm(spectrum) + xp.real(xp.sum(xp.linalg.matmul(q, b)))

    qad.check_grads(lambda a, b: loss(qad.array_api.asarray(a), qad.array_api.asarray(b)), (Z, W[:, 0]))


def test_arrays_without_entries():
    x = qad.tensor(np.zeros((2, 0)), requires_grad=True)
    assert xp.cumulative_sum(x, axis=1, include_initial=True).shape == (2, 1)
    assert xp.linalg.vector_norm(x, ord=np.inf, axis=0).shape == (0,)
    assert xp.linalg.matrix_norm(x, ord=1).numpy() == 0
    assert xp.linalg.matrix_power(qad.tensor(np.ones((2, 2), np.float32)), 0).dtype == np.float32


def test_arguments_that_may_be_tensors_too():
    x = xp.asarray([[2.0, 0.0], [0.0, 1e-3]])
    rtol = qad.tensor(1e-2, requires_grad=True)
    np.testing.assert_array_equal(xp.linalg.pinv(x, rtol=rtol).numpy(), [[0.5, 0.0], [0.0, 0.0]])
    np.testing.assert_array_equal(xp.repeat(x[0, :], xp.asarray([2, 1], dtype=xp.uint64)).numpy(), [2.0, 2.0, 0.0])


def test_copies_are_made_where_asked_for():
    x = xp.arange(4.0)
    y = xp.reshape(x, (2, 2), copy=True)
    y[0, 0] = 7.0
    assert x[0] == 0.0
    assert xp.from_dlpack(x, copy=True)[1] == 1.0
    assert np.from_dlpack(x, copy=True).flags.writeable
    with pytest.raises(qad.errors.ArgumentError, match="copy=False"):
        xp.reshape(xp.matrix_transpose(xp.ones((2, 3))), (6,), copy=False)


def test_promotion_mixes_no_kinds():
    assert xp.can_cast(xp.int8, xp.int16) and xp.can_cast(xp.float32, xp.complex64)
    assert not xp.can_cast(xp.int8, xp.float64) and not xp.can_cast(xp.bool, xp.int8)


@pytest.mark.parametrize("make", [lambda: xp.zeros(3), lambda: xp.asarray([0.0, 0, 0]), lambda: xp.full((3,), 0.0)])
def test_arrays_of_the_namespace_may_be_written_into(make):
    def f(x):
        y = make()
        y[0] = x * x
        y[1:] += 3.0 * x
        return xp.sum(y)

    assert f(qad.tensor(2.0)).item() == 16.0
    assert qad.grad(f)(2.0) == 10.0
