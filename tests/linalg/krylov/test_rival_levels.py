"""Searches for one level: none that a random vector refutes, and no derivative of a degenerate one."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ConvergenceError
from qad.linalg import Report, dominant_eig, lowest_eig

LEVELS = np.diag(np.arange(1.0, 101.0))
TWOFOLD = np.diag(np.r_[1.0, np.arange(1.0, 100.0)])
ONES = np.ones(100)


def unit(*places):
    v = np.zeros(100)
    v[list(places)] = 1.0
    return v


@pytest.mark.parametrize("start", [unit(50), unit(*range(40, 60)), unit(98)])
@pytest.mark.parametrize("method", ["lanczos", "lobpcg"])
@pytest.mark.sampled(3)
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
@pytest.mark.sampled(1)
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
