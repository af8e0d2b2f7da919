"""The exponential and its derivatives."""

import numpy as np
import pytest
import scipy.linalg

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.linalg.functions.expm import expm, expm_frechet


def random(*shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


@pytest.mark.parametrize("norm", [0.0, 1e-9, 0.1, 1.0, 5.0, 30.0, 200.0])
@pytest.mark.parametrize("kind", [complex, float])
def test_against_scipy(norm, kind):
    a, e = random(7, 7), random(7, 7, seed=1)
    a, e = (a, e) if kind is complex else (a.real, e.real)
    a = norm * a / np.linalg.norm(a, 1)
    value, derivative = scipy.linalg.expm_frechet(a, e)
    assert expm(a).dtype == value.dtype
    assert np.allclose(expm(a), value, rtol=0, atol=1e-15 * max(norm, 10) * np.abs(value).max())
    found = expm_frechet(a, e)
    assert np.allclose(found, derivative, rtol=0, atol=2e-15 * max(norm, 10) * np.abs(derivative).max())


def test_exact_values():
    assert np.array_equal(expm(np.zeros((3, 3))), np.eye(3))
    jordan = np.array([[1.0, 1e8], [0.0, 1.0]])
    assert np.allclose(expm(jordan), np.e * np.array([[1, 1e8], [0, 1]]), rtol=1e-14)
    turn = 1e4 * np.array([[0.0, -1.0], [1.0, 0.0]])
    assert np.allclose(expm(turn), [[np.cos(1e4), -np.sin(1e4)], [np.sin(1e4), np.cos(1e4)]], rtol=0, atol=1e-11)
    assert np.array_equal(expm(np.diag([-1e14, -2e10])), np.zeros((2, 2)))


def test_far_from_normal():
    a = np.triu(1e5 * np.ones((4, 4)), 1) + np.diag([1.0, 2.0, -1.0, -2.0])
    assert np.allclose(expm(a), scipy.linalg.expm(a), rtol=1e-9)


@pytest.mark.parametrize("norm", [0.5, 3.0, 12.0])
def test_derivatives(norm):
    a = random(4, 4)
    qad.check_grads(expm, (norm * a / np.linalg.norm(a, 1),))


def test_real_zero_and_nilpotent():
    qad.check_grads(expm, (random(4, 4).real,))
    qad.check_grads(expm, (np.zeros((3, 3), complex),))
    qad.check_grads(expm, (np.triu(random(3, 3), 1),))
    qad.check_grads(expm, (np.eye(3, dtype=complex),))


def test_third_order():
    a, e = random(3, 3), random(3, 3, seed=1)

    def curvature(a):
        return qad.hvp(lambda a: qad.abs2(expm(a)).sum(), (a,), (e,))[0]

    qad.check_grads(curvature, (a / 3,), order=1)


def test_batches():
    a = random(2, 3, 4, 4) * np.array([1e-3, 1.0, 9.0])[:, None, None]
    assert np.allclose(expm(a), scipy.linalg.expm(a), rtol=1e-12, atol=1e-12)
    qad.check_grads(expm, (0.3 * random(2, 2, 2),))
    assert expm(np.zeros((0, 3, 3))).shape == (0, 3, 3)
    assert expm(np.zeros((0, 0))).shape == (0, 0)


def test_single_precision():
    a = random(4, 4).astype(np.complex64)
    assert expm(a).dtype == np.complex64
    qad.check_grads(expm, (a,), order=1)


def test_bad_matrices_raise_with_numbers():
    with pytest.raises(ShapeError, match=r"\(2, 3\)"):
        expm(np.ones((2, 3)))
    with pytest.raises(ArgumentError, match=r"entry \[0, 0\] is nan"):
        expm(np.array([[np.nan, 0], [0, 1]]))
    with pytest.raises(ArgumentError, match=r"2e\+16, which leaves no digit right"):
        expm(np.diag([-2e16, 1.0]))
    with pytest.raises(ArgumentError, match=r"norm of the matrix is 1e\+04"), np.errstate(all="ignore"):
        expm(np.array([[1e4]]))
