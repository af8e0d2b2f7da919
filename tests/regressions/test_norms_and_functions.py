"""Norms at kinks and at tiny sizes, functions of nearly defective matrices, single values at small gaps."""

import numpy as np
import pytest

import qad
from qad import linalg as la
from tests.linalg.draw import draw

E = np.array([[1.0, 2.0], [3.0, 5.0]])

# -- norms -------------------------------------------------------------------------------------------------------------

NORMS = {
    "largest": lambda a: np.linalg.norm(a, 2),
    "matrix_norm": lambda a: np.linalg.matrix_norm(a, ord=2),
    "smallest": lambda a: np.linalg.norm(a, -2),
    "cond": np.linalg.cond,
}


@pytest.mark.parametrize("f", NORMS.values(), ids=NORMS)
@pytest.mark.parametrize("a", [np.eye(2), np.diag([2.0, 1.0]), np.diag([1.0, 1.0 + 1e-15])], ids=str)
def test_equal_singular_values_share_in_both_modes(f, a):
    np.testing.assert_allclose(qad.jvp(f, (a,), (E,))[1], np.sum(E * qad.grad(f)(a)), atol=1e-12)


@pytest.mark.parametrize("f", NORMS.values(), ids=NORMS)
def test_second_derivatives_of_shared_norms_are_refused(f):
    for second in (
        lambda: qad.hvp(f, (np.eye(2),), (E,)),
        lambda: qad.jvp(lambda a: qad.jvp(f, (a,), (E,))[1], (np.eye(2),), (E,)),
        lambda: qad.grad(lambda a: qad.jvp(f, (a,), (E,))[1])(np.eye(2)),
    ):
        with pytest.raises(qad.QadError):
            second()


def test_a_frozen_norm_has_the_same_second_derivative():
    f, a = qad.freeze(lambda a: np.linalg.norm(a, 2)), np.diag([2.0, 1.0, 0.5])
    e = draw(3, 3, real=True)

    def second(f):
        return qad.jvp(lambda a: qad.jvp(f, (a,), (e,))[1], (a,), (e,))[1]

    f(a)
    np.testing.assert_allclose(second(f), second(lambda a: np.linalg.norm(a, 2)), rtol=1e-12)


@pytest.mark.parametrize("size", [1e-310, 1e-308, 3e-308, 1e-300])
def test_norms_of_subnormal_complex_vectors_have_derivatives(size):
    def f(x):
        return np.linalg.norm(x + 1j * x)

    x = np.array([3.0, 4.0, 0.0]) * size
    np.testing.assert_allclose(qad.grad(f)(x), np.sqrt(2) * np.array([0.6, 0.8, 0.0]), rtol=1e-12)
    np.testing.assert_allclose(qad.jvp(f, (x,), (np.ones(3),))[1], np.sqrt(2) * 1.4, rtol=1e-12)


# -- functions of nearly defective matrices ----------------------------------------------------------------------------


def jordan(gap):
    q = np.linalg.qr(draw(3, 3, real=True))[0]
    return q @ np.array([[1.0, 1.0, 0.3], [0.0, 1.0 + gap, 0.2], [0.0, 0.0, 2.0]]) @ q.T


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("gap", [0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1])
def test_funm_near_a_defective_matrix_is_right_or_refused(gap, dtype):
    a = jordan(gap).astype(dtype)
    x, e = (draw(3, 3, real=True, seed=seed) for seed in (2, 3))
    derivatives = lambda f: f(a), lambda f: qad.grad(f)(a), lambda f: qad.hvp(f, (a,), (e.astype(dtype),))[0]
    for derivative in derivatives:
        right = derivative(lambda a: np.sum(x * la.expm(a.astype(float))))
        try:
            found = derivative(lambda a: np.sum(x * la.funm(np.exp, a)).real)
        except qad.QadError:
            assert gap < 1e-3
            continue
        np.testing.assert_allclose(found, right, atol=1e-4 * np.abs(right).max())


# -- single values at small gaps ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [
    lambda a: np.linalg.eigvalsh(a)[3], lambda a: np.linalg.eigh(a)[0][3],
    lambda a: la.truncated_eigh(a, 1, multiplets="cut")[0][0],
    lambda a: la.svdvals(a)[0], lambda a: np.linalg.svd(a)[1][0], lambda a: np.linalg.norm(a, 2),
])  # fmt: skip
@pytest.mark.parametrize("gap", [2.0**-37, 2.0**-36, 2.0**-35, 2.0**-34, 2.0**-30, 2.0**-20])
def test_the_second_derivative_of_one_value_is_good_to_a_ten_thousandth(value, gap):
    """Of a matrix whose entries and eigenvectors are exact."""
    for seed in range(10):
        e = draw(4, 4, real=True, seed=seed)
        e, low = e + e.T, np.random.default_rng(seed).uniform(0.5, 2.5, 2)
        a = np.diag([*low, 3.0 - gap / 2, 3.0 - gap / 2])
        a[2, 3] = a[3, 2] = gap / 2
        turn = np.eye(4)
        turn[2:, 2:] = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
        c = turn.T @ e @ turn
        dv = turn[:, :3] @ (c[:3, 3] / np.array([*(3.0 - low), gap]))
        check_second(value, a, e, np.outer(dv, turn[:, 3]) + np.outer(turn[:, 3], dv), gap)


def check_second(value, a, e, right, gap):
    try:
        found = qad.hvp(value, (a,), (e,))[0]
    except qad.QadError:
        assert gap < 1e-10
        return
    np.testing.assert_allclose(found, right, atol=1e-4 * np.abs(right).max())
