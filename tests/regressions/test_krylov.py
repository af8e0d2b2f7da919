"""Iterative solvers: no level that a random vector refutes, no derivative of a degenerate one, no false convergence."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ConvergenceError
from qad.linalg import Report, dominant_eig, linear_solve, lowest_eig

LEVELS = np.diag(np.arange(1.0, 101.0))
TWOFOLD = np.diag(np.r_[1.0, np.arange(1.0, 100.0)])
ONES = np.ones(100)


def unit(*places):
    v = np.zeros(100)
    v[list(places)] = 1.0
    return v


@pytest.mark.parametrize("start", [unit(50), unit(*range(40, 60)), unit(98)])
@pytest.mark.parametrize("method", ["lanczos", "lobpcg"])
def test_a_start_in_an_invariant_subspace_does_not_give_its_level(start, method):
    """51 for 1, once; the vector's phase cannot be fixed by such a start, so that nothing is returned."""
    with pytest.raises(ArgumentError, match="orthogonal to the eigenvector"):
        lowest_eig(lambda v: LEVELS @ v, start, method=method)
    almost = start + 1e-6 * unit(0)
    assert abs(lowest_eig(lambda v: LEVELS @ v, almost, method=method)[0] - 1) < 1e-10


def test_a_start_in_an_invariant_subspace_of_a_general_operator():
    with pytest.raises(ArgumentError, match="orthogonal to the eigenvector"):
        dominant_eig(LEVELS, unit(50))
    assert abs(dominant_eig(LEVELS, unit(50) + 1e-6 * unit(99))[0] - 100) < 1e-9


def test_a_level_at_zero_is_found():
    """ARPACK multiplies the start by the operator, which hides its kernel."""
    assert abs(lowest_eig(LEVELS - np.eye(100), ONES)[0]) < 1e-10


@pytest.mark.parametrize("method", ["lanczos", "lobpcg"])
def test_the_energy_of_a_degenerate_level_has_a_value_and_no_derivative(method):
    def energy(h):
        return lowest_eig(h, ONES, method=method)[0]

    assert abs(energy(TWOFOLD) - 1) < 1e-10
    with pytest.raises(ArgumentError, match="degenerate"):
        qad.grad(energy)(TWOFOLD)
    with pytest.raises((ArgumentError, ConvergenceError)):
        qad.jvp(energy, (TWOFOLD,), (LEVELS,))


@pytest.mark.parametrize("side", ["right", "left", "both"])
def test_a_degenerate_dominant_eigenvalue_has_no_derivative(side):
    a = 200 * np.eye(100) - TWOFOLD
    with pytest.raises(ArgumentError, match="degenerate"):
        qad.grad(lambda a: dominant_eig(a, ONES, side)[0])(a)


def test_a_degenerate_level_of_a_small_operator():
    with pytest.raises(ArgumentError, match="degenerate"):
        qad.grad(lambda h: lowest_eig(h, np.ones(4))[0])(np.diag([1.0, 1.0, 2.0, 3.0]))
    with pytest.raises(ArgumentError, match="degenerate"):
        qad.grad(lambda a: dominant_eig(a, np.ones(3))[0])(np.array([[2.0, 1, 0], [0, 2.0, 0], [0, 0, 1]]))


def test_eigenvalues_of_equal_modulus_and_other_phase_are_simple():
    a = np.diag(np.r_[-3.0, 3.0, np.linspace(-1, 1, 18)]) + 0.1 * np.eye(20, k=1)
    value, vector = dominant_eig(a, np.ones(20))
    assert abs(abs(value) - 3) < 1e-10
    np.testing.assert_allclose(a @ vector, value * vector, atol=1e-9)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-8, 1e-10, 1e-12, 1e-13])
def test_near_levels_are_right_or_refused(gap):
    h = TWOFOLD - gap * np.diag(unit(0))
    try:
        found = qad.grad(lambda h: lowest_eig(h, ONES)[0])(h)
    except ArgumentError:
        assert gap < 1e-8
        return
    np.testing.assert_allclose(found, np.diag(unit(0)), atol=1e-4)


def test_no_derivative_of_a_vector_whose_solve_could_not_tell_the_levels():
    h = TWOFOLD - 1e-8 * np.diag(unit(0))
    with pytest.raises(ArgumentError, match="too close"):
        qad.grad(lambda h: lowest_eig(h, ONES)[1][0] ** 2)(h)


def test_what_the_second_search_costs():
    """Products of the operator: less than half as many again."""
    rng = np.random.default_rng(0)
    h = rng.normal(size=(200, 200))
    h, report = (h + h.T) / 20, Report()
    lowest_eig(lambda v: h @ v, np.ones(200), report=report)
    assert report.iterations < 1.6 * _first_search(h)


def _first_search(h):
    from scipy.sparse.linalg import LinearOperator, eigsh

    calls = []
    matrix = LinearOperator(h.shape, matvec=lambda v: calls.append(1) or h @ v, dtype=float)
    eigsh(matrix, k=1, which="SA", v0=np.ones(len(h)), tol=0)
    return len(calls)


# -- fixed points ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["anderson", "plain"])
def test_a_map_that_hardly_contracts_has_not_converged_where_its_steps_are_small(method):
    with pytest.raises(ConvergenceError, match="contracts so slowly"):
        qad.fixed_point(lambda x: x - 1e-13 * (x - 5), 1.0, method=method)


@pytest.mark.parametrize("method", ["anderson", "plain"])
@pytest.mark.parametrize("rate", [1e-1, 1e-2, 1e-5, 1e-8, 1e-11])
def test_converged_is_near_by_the_rate_of_contraction(rate, method):
    try:
        found = qad.fixed_point(lambda x: x - rate * (x - 5), 1.0, method=method, maxiter=5000)
    except ConvergenceError:
        assert rate < 1e-2
    else:
        assert abs(found - 5) < 5e-12


def test_one_slow_direction_among_many():
    rates = np.r_[np.linspace(0.2, 0.9, 20), 1e-9]
    with pytest.raises(ConvergenceError):
        qad.fixed_point(lambda x: x - rates * (x - 1), np.zeros(21), method="plain", tol=1e-8)


def test_the_estimate_takes_a_few_calls():
    calls, report = [], Report()
    qad.fixed_point(lambda x: calls.append(1) or 0.5 * np.cos(x), np.zeros(30), report=report)
    assert len(calls) <= report.iterations + 10


def root(a):
    return qad.fixed_point(lambda x: 0.5 * (x + a / x), 1.0)


def test_vmap_of_fixed_point():
    a = np.array([2.0, 3.0, 9.0])
    np.testing.assert_allclose(qad.vmap(root)(a), np.sqrt(a), rtol=1e-12)
    np.testing.assert_allclose(qad.vmap(qad.grad(root))(a), 0.5 / np.sqrt(a), rtol=1e-10)
    np.testing.assert_allclose(qad.grad(lambda a: qad.vmap(root)(a).sum())(a), 0.5 / np.sqrt(a), rtol=1e-10)
    np.testing.assert_allclose(qad.vmap(lambda a: qad.jvp(root, (a,), (1.0,))[1])(a), 0.5 / np.sqrt(a), rtol=1e-10)
    second = qad.hessian(lambda a: qad.vmap(root)(a).sum())(a)
    np.testing.assert_allclose(second, np.diag(-0.25 * a**-1.5), atol=1e-9)


def test_vmap_of_the_start_of_fixed_point():
    def from_start(x0):
        return qad.fixed_point(lambda x: 0.5 * (x + 2 / x), x0)

    np.testing.assert_allclose(qad.vmap(from_start)(np.array([1.0, -1.0])), [2**0.5, -(2**0.5)], rtol=1e-12)
    matrices = np.stack([0.3 * np.eye(2), 0.1 * np.ones((2, 2))])
    solved = qad.vmap(lambda m, b: qad.fixed_point(lambda x: m @ x + b, b))(matrices, np.ones((2, 2)))
    np.testing.assert_allclose(solved, np.linalg.solve(np.eye(2) - matrices, np.ones((2, 2, 1)))[..., 0], rtol=1e-11)


def test_nested_vmap_and_one_that_fixed_point_does_not_see():
    a = np.array([1.0, 2.0])
    both = qad.vmap(lambda b: qad.vmap(lambda a: root(a * b))(a))(a)
    np.testing.assert_allclose(both, np.sqrt(np.outer(a, a)), rtol=1e-12)
    np.testing.assert_allclose(qad.vmap(lambda b: root(2.0) * b)(a), np.sqrt(2) * a, rtol=1e-12)


# -- linear equations --------------------------------------------------------------------------------------------------


def test_a_singular_equation_is_not_solved():
    with pytest.raises(ConvergenceError, match="residual"):
        linear_solve(lambda x: np.array([1.0, 0.0]) * x, np.ones(2))


def test_the_residual_of_what_is_returned_is_measured():
    rng, report = np.random.default_rng(0), Report()
    a, b = rng.normal(size=(30, 30)) + 8 * np.eye(30), rng.normal(size=30)
    x = linear_solve(lambda x: a @ x, b, report=report)
    assert np.linalg.norm(a @ x - b) <= 1.01e-12 * np.linalg.norm(b)
    assert abs(report.residual - np.linalg.norm(a @ x - b) / np.linalg.norm(b)) < 1e-14
