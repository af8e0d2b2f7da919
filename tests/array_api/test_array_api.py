"""The array-API standard, name by name: signatures, values beside NumPy's, gradients at real and complex points."""

import inspect
from contextlib import nullcontext

import numpy as np
import pytest

import qad
from qad.core.tape.tensor import value_of
from qad.core.trees import flatten
from tests.array_api import standard
from tests.array_api.tables import COMPLEX, CONSTANT, GRADIENTS, REAL_ONLY, SIGNATURES, W, X, Y, Z, inner, points
from tests.cases import Case

NUMPY = tuple(map(int, np.__version__.split(".")[:2]))
xp = qad.tensor(0.0).__array_namespace__()


def case(name, *arrays):
    return Case(lambda *a: GRADIENTS[name](_namespace(name, a), *a), points(inner(name), *arrays), name=name)


def _namespace(name, arrays):
    """NumPy's for plain arrays, so that values are compared, where this version of it has the function."""
    return np if _in_numpy(name) and not any(type(a) is qad.Tensor for a in arrays) else xp


def _in_numpy(name):
    return "." in name or hasattr(np, name)


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
    expected = f(np if _in_numpy(name) else xp, *arrays)
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
    with pytest.raises(qad.errors.ArgumentError, match="the devices are"):
        x.to_device("tpu")
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
    assert xp.linalg.matrix_power(qad.tensor(np.ones((2, 2), np.float32)), 0).dtype == np.float32
    with nullcontext() if NUMPY >= (2, 3) else pytest.raises(ValueError, match="zero-size"):  # a maximum of nothing
        assert xp.linalg.matrix_norm(x, ord=1).numpy() == 0


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
    assert NUMPY < (2, 1) or np.from_dlpack(x, copy=True).flags.writeable  # before it takes no copy=
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
