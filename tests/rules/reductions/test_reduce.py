"""Reductions: every axis and option; where they have kinks, and where nothing is left to reduce."""

import numpy as np
import pytest
from scipy import special

import qad
from tests.cases import Case, normal

R, C = normal(3, 4), normal(3, 4, complex)
MASK = np.array([[1, 0, 1, 1], [0, 1, 1, 0], [1, 1, 0, 1]], bool)
AXES = [{}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": (0, 1)}, {"keepdims": True}, {"axis": (-1, 0)}]


def cases(f, x, options):
    """One case per set of options."""
    for kw in options:
        yield Case(lambda x, kw=kw: f(x, **kw), x, name=f"{f.__name__}({', '.join(f'{k}={v}' for k, v in kw.items())})")


CASES = [
    case
    for x in (R, C, R.T, C[::2, ::-1], np.array(0.7), np.array([[0.5 + 1j]]))
    for f in (np.sum, np.mean, qad.logsumexp)
    for case in cases(f, x, AXES[: len(AXES) if x.ndim else 1])
]
CASES += [case for x in (R, C) for f in (np.var, np.std) for case in cases(f, x, [*AXES, {"ddof": 1, "axis": 1}])]
CASES += [
    case
    for x in (R, C)
    for f in (np.sum, np.mean, np.var, np.std)
    for case in cases(f, x, [{"where": MASK}, {"where": MASK, "axis": 0, "keepdims": True}, {"where": MASK[0]}])
]
CASES += [
    Case(lambda x: np.sum(x, axis=1, initial=2.0, dtype=complex), R, name="sum-initial-dtype"),
    Case(lambda x: np.add.reduce(x), R, name="add.reduce"),
    Case(lambda x: np.average(x, axis=0), C, name="average"),
    Case(lambda x, w: np.average(x, axis=0, weights=w), (C, np.array([1.0, 2.0, 4.0])), name="average-weights"),
    Case(lambda x, w: np.average(x, weights=w, returned=True), (C, abs(R)), name="average-same-shape"),
    Case(lambda x: x.mean(0).var() + x.sum(1).std() + x.sum(axis=(0, 1)), R, name="methods"),
    Case(np.sum, normal(0, 3, complex)),
    Case(lambda x: np.sum(x, axis=0), normal(0, 3)),
]


CASES += [
    Case(lambda x, f=f: f(x, axis=1, ddof=1, mean=np.mean(x, axis=1, keepdims=True)), x, name=f"{f.__name__}-mean")
    for x in (R, C)
    for f in (np.var, np.std)
]
CASES += [
    Case(lambda x: np.average(x, axis=1, weights=[1, 2, 3, 4]), C, name="average-list"),
    Case(lambda w: np.average([1.0, 2.0, 4.0], weights=w), np.array([1.0, 2.0, 4.0]), name="average-of-list"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@pytest.mark.parametrize("f", [np.sum, np.mean, np.var, np.std, qad.logsumexp], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_single_precision(f, dtype):
    Case(lambda x: f(x, axis=1), C.astype(dtype) if dtype is np.complex64 else R.astype(dtype)).check()


def test_values_are_those_of_numpy():
    for f in (np.sum, np.mean, np.var, np.std):
        for kw in (*AXES, {"where": MASK}, {"dtype": np.complex64}):
            if f not in (np.sum, np.mean) and "dtype" in kw:
                continue
            np.testing.assert_allclose(f(qad.tensor(R), **kw).numpy(), f(R, **kw), rtol=1e-6)
    found = np.var(qad.tensor(R), axis=0, ddof=1, where=MASK).numpy()
    np.testing.assert_allclose(found, np.var(R, axis=0, ddof=1, where=MASK))


def test_average_and_its_weights():
    w = np.array([1.0, 2.0, 4.0])
    mean, norm = np.average(qad.tensor(R), axis=0, weights=w, returned=True)
    expected = np.average(R, axis=0, weights=w, returned=True)
    np.testing.assert_allclose(mean.numpy(), expected[0])
    np.testing.assert_allclose(norm, expected[1])
    with pytest.raises(qad.errors.ShapeError, match="weights"):
        np.average(qad.tensor(R), axis=1, weights=w)


def test_logsumexp_values():
    for kw in AXES:
        np.testing.assert_allclose(qad.logsumexp(R, **kw), special.logsumexp(R, **kw))
        np.testing.assert_allclose(np.exp(qad.logsumexp(C, **kw)), np.sum(np.exp(C), **kw))
    assert qad.logsumexp(np.array([1e4, 1e4])) == 1e4 + np.log(2)
    assert qad.logsumexp(np.array([-np.inf, -np.inf])) == -np.inf
    assert qad.logsumexp(R.astype(np.float32), axis=0).dtype == np.float32


def test_logsumexp_with_terms_that_vanish():
    g = qad.grad(qad.logsumexp)(np.array([-np.inf, 0.0, 1e3, 1e3]))
    np.testing.assert_allclose(g, [0, 0, 0.5, 0.5], rtol=1e-12)


def test_std_of_equal_numbers_has_derivative_zero():
    np.testing.assert_array_equal(qad.grad(np.std)(np.full(3, 2.0)), 0)


def test_gradients_of_sums_own_their_memory():
    g, h = qad.grad(lambda x, y: np.sum(x + y), argnums=(0, 1))(np.ones((2, 2)), np.ones((2, 2)))
    g += 1
    np.testing.assert_array_equal(h, 1)


@pytest.mark.parametrize("f", [np.sum, np.mean, np.var, np.std, np.prod, np.cumsum, np.max, np.median, np.clip])
def test_out_is_refused(f):
    with pytest.raises(qad.errors.ArgumentError, match="out="):
        qad.grad(lambda x: f(x, *([0.0, 1.0] if f is np.clip else []), out=np.zeros(())))(R)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_std_of_numbers_equal_up_to_the_rounding_of_their_mean(dtype):
    """The mean of three times 0.1 is not 0.1."""
    x = np.full((2, 3), 0.1, dtype)
    for kw in ({}, {"axis": 1}, {"axis": 0, "keepdims": True}):
        np.testing.assert_array_equal(qad.grad(lambda x, kw=kw: np.std(x, **kw).sum())(x), 0)
        np.testing.assert_array_equal(qad.hvp(lambda x, kw=kw: np.std(x, **kw).sum(), (x,), (x,))[0], 0)


def test_logarithms_of_nothing_have_derivative_zero():
    nothing = np.full(2, -np.inf)
    for f in (np.logaddexp, np.logaddexp2):
        for x, expected in ((nothing, [0, 0]), (np.array([0.0, -np.inf]), [1, 0])):
            g = qad.grad(lambda x, f=f: f(x[0], x[1]))(x)
            np.testing.assert_array_equal(g, expected)
            np.testing.assert_array_equal(qad.hvp(lambda x, f=f: f(x[0], x[1]), (x,), (np.ones(2),))[0], 0)
    np.testing.assert_array_equal(qad.grad(qad.logsumexp)(nothing), 0)
    rows = np.array([[-np.inf, -np.inf], [0.0, 0.0]])
    g = qad.grad(lambda x: qad.logsumexp(x, axis=1)[1])(rows)
    np.testing.assert_allclose(g, [[0, 0], [0.5, 0.5]])
