"""Functions of spectra that are zero to rounding: right, or refused at the order at which they have no derivative."""

import numpy as np
import pytest

import qad
from qad import linalg as la

X, E = np.random.default_rng(1).standard_normal((2, 3, 3))
RANK_ONE = np.outer([1.0, 2, 3], [3.0, 1, 2]), np.outer([0.3, 0.7, -0.2], [0.1, 0.5, 0.9])
W = np.array([[1.0, 2.0], [3.0, 4.0]])
ZERO = np.zeros((2, 2))
SECOND = {
    "hvp": lambda f, a: qad.hvp(f, (a,), (E,)),
    "jvp of jvp": lambda f, a: qad.jvp(lambda a: qad.jvp(f, (a,), (E,))[1], (a,), (E,)),
    "jvp of grad": lambda f, a: qad.jvp(qad.grad(f), (a,), (E,)),
    "grad of grad": lambda f, a: qad.grad(lambda a: np.sum(E * qad.grad(f)(a)))(a),
    "grad of jvp": lambda f, a: qad.grad(lambda a: qad.jvp(f, (a,), (E,))[1])(a),
}


def halves(a):
    u, s, vh = np.linalg.svd(a)
    return np.sum(X * ((u * np.sqrt(s)) @ (np.sqrt(s)[:, None] * vh)))


@pytest.mark.parametrize("second", SECOND.values(), ids=SECOND)
@pytest.mark.parametrize("a", RANK_ONE, ids=str)
def test_roots_of_vanishing_values_have_one_derivative_and_no_second(a, second):
    np.testing.assert_allclose(qad.grad(halves)(a), X, atol=1e-12)
    with pytest.raises(qad.QadError, match="order 2"):
        second(halves, a)


@pytest.mark.parametrize("f", [lambda s: s * np.log(s), lambda s: qad.special.xlogy(s, s), lambda s: s**1.01, np.sqrt])
@pytest.mark.parametrize("a", [*RANK_ONE, np.diag([1.0, 2.0, 0.0]), np.zeros((3, 3))], ids=str)
def test_functions_without_a_slope_at_zero_have_no_derivative_there(f, a):
    with np.errstate(all="ignore"), pytest.raises(qad.QadError):
        qad.grad(lambda a: np.sum(X * la.funm_svd(f, a)))(a)


def test_whether_a_zero_is_one_to_rounding_or_exactly_makes_no_difference():
    for a in (*RANK_ONE, np.diag([1.0, 2.0, 0.0]), np.diag([1.0, 0.0, 0.0])):
        found = qad.grad(lambda a: np.sum(X * la.funm_svd(lambda s: np.sqrt(s) * np.sqrt(s), a)))(a)
        np.testing.assert_allclose(found, X, atol=1e-12)


@pytest.mark.parametrize("power", [2, 3, 4])
@pytest.mark.parametrize("function", [la.funm, la.funm_herm])
def test_powers_of_the_zero_matrix(function, power):
    e = E + E.T

    def f(a):
        return np.sum(X * function(lambda x: x**power, a)).real

    np.testing.assert_array_equal(qad.grad(f)(np.zeros((3, 3))), 0.0)
    found = qad.hvp(f, (np.zeros((3, 3)),), (e,))[0]
    right = qad.hvp(lambda a: np.sum(X * np.linalg.matrix_power(a, power)), (np.zeros((3, 3)),), (e,))[0]
    symmetric = (right + right.T) / 2 if function is la.funm_herm else right
    np.testing.assert_allclose(found, symmetric, atol=1e-12)


@pytest.mark.parametrize("f", [lambda s: s**1.5, lambda s: s**2, lambda s: np.sqrt(s) * np.sqrt(s)])
@pytest.mark.parametrize("a", [*RANK_ONE, np.zeros((3, 3))], ids=str)
def test_functions_that_curve_at_zero_have_no_second_derivative_there(f, a):
    with pytest.raises(qad.QadError):
        qad.hvp(lambda a: np.sum(X * la.funm_svd(f, a)), (a,), (E,))


def test_odd_functions_have_one():
    for a in RANK_ONE:
        found = qad.hvp(lambda a: np.sum(X * la.funm_svd(lambda s: s**3, a)), (a,), (E,))[0]
        right = qad.hvp(lambda a: np.sum(X * (a @ a.T @ a)), (a,), (E,))[0]
        np.testing.assert_allclose(found, right, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("values", [
    lambda a: np.linalg.svd(a, full_matrices=False)[1], lambda a: la.truncated_svd(a, 2)[1], la.svdvals,
    lambda a: np.linalg.svd(a, compute_uv=False),
])  # fmt: skip
def test_singular_values_of_zero_have_no_second_derivative(values):
    with pytest.raises(qad.QadError, match="svd"):
        qad.hvp(lambda a: np.sum(values(a) ** 2), (ZERO,), (W,))


def test_the_root_of_the_square_of_zero_has_no_derivative():
    def size(a):
        _, s, vh = np.linalg.svd(a)
        return np.sum(W * ((vh.T * s) @ vh))

    for f in (size, lambda a: np.sum(W * la.polar(a)[1])):
        with pytest.raises(qad.QadError, match="zero"):
            qad.grad(f)(ZERO)
        with pytest.raises(qad.QadError, match="zero"):
            qad.jvp(f, (ZERO,), (W,))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_polar_factor_of_a_singular_matrix_is_refused_in_either_precision(dtype):
    for seed in range(20):
        b, c = np.random.default_rng(seed).standard_normal((2, 3, 2))
        with pytest.raises(qad.QadError):
            qad.grad(lambda a: np.sum(la.polar(a)[0]))((b @ c.T).astype(dtype))


@pytest.mark.parametrize("f", [np.sqrt, np.abs, np.log])
def test_functions_with_a_branch_point_at_a_vanishing_eigenvalue_are_refused(f):
    for seed in range(10):
        b = np.random.default_rng(seed).standard_normal((3, 2))
        with np.errstate(all="ignore"), pytest.raises(qad.QadError):
            qad.grad(lambda a: np.sum(X * la.funm_herm(f, a)))(b @ b.T)


@pytest.mark.parametrize("f", [la.logm, la.sqrtm])
def test_the_logarithm_of_a_singular_complex_matrix_is_refused(f):
    a = np.random.default_rng(5).standard_normal((3, 3, 2)) @ [1, 1j]
    a = a[:, :2] @ a[:2]
    with pytest.raises(qad.QadError, match="zero or lies on"):
        qad.grad(lambda a: qad.grad(lambda b: np.sum(f(b)).real)(a).real.sum())(a)


@pytest.mark.parametrize("f", [np.sqrt, np.log, lambda w: 1 / np.sqrt(np.abs(w))])
def test_roots_of_a_vanishing_eigenvalue_by_hand_are_refused(f):
    def loss(a):
        w, v = np.linalg.eigh(a.T @ a)
        return np.sum(X * ((v * f(w)) @ v.T))

    for seed in range(20):
        a, b = np.random.default_rng(seed).standard_normal((2, 3, 2))
        with np.errstate(all="ignore"), pytest.raises(qad.QadError, match="zero to rounding"):
            qad.grad(loss)(a @ b.T)


def test_a_vanishing_eigenvalue_itself_is_right():
    b = np.random.default_rng(0).standard_normal((3, 2))
    v = np.linalg.eigh(b @ b.T)[1][:, 0]
    np.testing.assert_allclose(qad.grad(lambda a: np.linalg.eigvalsh(a)[0])(b @ b.T), np.outer(v, v), atol=1e-12)
