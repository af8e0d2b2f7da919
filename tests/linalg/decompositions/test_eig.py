"""Eigen-decompositions of general matrices at small gaps, and reverse over reverse there: right or refused."""

import numpy as np
import pytest

import qad
from tests.linalg.draw import draw


def along(f, a, e):
    return qad.hvp(f, (a,), (e,))[0]


# -- general matrices --------------------------------------------------------------------------------------------------


def rebuilt(f, x):
    """``tr x V f(w) V^-1``, of which the numerators show no more than ``f(w_j) - f(w_i)``."""

    def loss(a):
        w, v = np.linalg.eig(a)
        return np.sum(x.T * ((v * f(w)) @ np.linalg.inv(v))).real

    return loss


@pytest.mark.parametrize("real", [True, False])
def test_every_value_and_every_vector_has_its_own_derivative(real):
    """Values of different weights, and sizes of entries: vectors have unit length, and any phase."""
    a = np.diag([1.0, 2.0, 3.5]) + 0.3 * draw(3, 3, seed=4, real=real)
    weights, shares = np.array([1.0, -0.7, 2.0]), draw(3, 3, seed=5, real=True)

    def values(a):
        return np.sum(weights * np.linalg.eigvals(a) ** 2).real

    def vectors(a):
        w, v = np.linalg.eig(a)
        return np.sum(shares * qad.abs2(v)) + np.sum(weights * w.imag * w.real)

    qad.check_grads(values, (a,), order=2)
    qad.check_grads(vectors, (a,), order=1)


@pytest.mark.parametrize("gap", [0.0, 1e-13, 2e-12, 4e-12])
@pytest.mark.parametrize("x", [np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[1.0, 1.0], [1.0, 1.0]])])
def test_a_function_rebuilt_from_eig_is_refused_where_values_coincide(gap, x):
    with pytest.raises(qad.QadError, match="degenerate|too close"):
        qad.grad(rebuilt(np.sin, x))(np.diag([1.5, 1.5 + gap]))


def test_a_function_rebuilt_from_eig_is_right_at_other_gaps():
    found = qad.grad(rebuilt(np.sin, np.ones((2, 2))))(np.diag([1.5, 1.5 + 1e-10]))
    np.testing.assert_allclose(found, np.cos(1.5) * np.ones((2, 2)), rtol=1e-4)


def test_isolated_levels_of_eig_pass_beside_degenerate_ones():
    def loss(a):
        w, v = np.linalg.eig(a)  # complex from NumPy 2.5 on
        return w[2].real + (v[2, 2] ** 2).real

    found = qad.grad(loss)(np.diag([1.0, 1.0, 3.0]))
    np.testing.assert_allclose(found, np.diag([0.0, 0.0, 1.0]), atol=1e-12)


@pytest.mark.parametrize("coupling", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("gap", [1e-9, 1e-6, 1e-5, 1e-3, 0.1])
def test_a_function_rebuilt_near_a_defective_matrix_is_right_or_refused(gap, coupling):
    a = np.array([[1.0, coupling, 0.3], [0.0, 1.0 + gap, 0.2], [0.0, 0.0, 2.0]])
    q, x, e = (draw(3, 3, real=True, seed=seed) for seed in (1, 2, 3))
    a = np.linalg.qr(q)[0] @ a @ np.linalg.qr(q)[0].T
    losses = rebuilt(lambda w: w**3, x), lambda a: np.sum(x.T * (a @ a @ a))

    def second(f):
        return qad.grad(lambda a: np.sum(e * qad.grad(f)(a)))(a)

    for derivative in (lambda f: qad.grad(f)(a), lambda f: along(f, a, e), second):
        right = derivative(losses[1])
        try:
            found = derivative(losses[0])
        except qad.QadError:
            assert gap < 0.1
            continue
        np.testing.assert_allclose(found, right, atol=1e-4 * np.abs(right).max())


def test_the_trace_of_a_function_of_eigenvalues_near_a_defective_matrix_is_refused():
    a = np.linalg.qr(draw(2, 2, real=True, seed=1))[0]
    a = a @ np.array([[1.0, 0.1], [0.0, 1.0]]) @ a.T
    with pytest.raises((qad.QadError, np.linalg.LinAlgError)):
        qad.grad(lambda a: np.sum(np.linalg.eigvals(a) ** 3).real)(a)


# -- reverse over reverse ----------------------------------------------------------------------------------------------


def twice(f, a, e):
    return qad.grad(lambda a: np.sum(e * qad.grad(f)(a)))(a)


def test_a_function_of_equal_eigenvalues_is_right_in_reverse_over_reverse():
    """Along a direction that moves the vectors of the cluster alone, whose numerators are exactly zero: log det."""
    e = np.array([[0.0, 1.0], [1.0, 0.0]])
    found = twice(lambda a: np.log(np.linalg.eigvalsh(a)).sum(), 1.75 * np.eye(2), e)
    np.testing.assert_allclose(found, -e / 1.75**2, rtol=1e-13, atol=1e-15)


def test_a_polar_factor_by_hand_is_right_in_reverse_over_reverse():
    """Numerators of a second division, which are lost beside what the first has divided."""
    x, e = draw(2, 5, real=True, seed=1), draw(2, 5, real=True, seed=2)
    u, v = (np.linalg.qr(draw(n, n, real=True, seed=n))[0] for n in (2, 5))

    def rotation(a):
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum(x * (u @ vh))

    a = (u * np.array([1.0, 1.0 + 1e-10])) @ v[:2]
    expected = twice(lambda a: np.sum(x * qad.linalg.polar(a)[0]), a, e)
    np.testing.assert_allclose(twice(rotation, a, e), expected, rtol=1e-10)


def test_a_tangent_that_splits_equal_values_is_refused_though_the_chosen_vectors_suit_it():
    def f(a):
        return np.sum(np.linalg.eigh(a)[1][0, :1] ** 2)

    with pytest.raises(qad.QadError, match="degenerate"):
        qad.jvp(f, (np.eye(2),), (np.diag([1.0, 2.0]),))
