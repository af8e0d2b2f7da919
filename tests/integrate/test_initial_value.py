"""Initial value problems: known solutions, gradients by state, parameters and times, and what is refused."""

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg

import qad
from qad.core.errors import ArgumentError, ConvergenceError, ShapeError
from qad.extend.recording import operations
from qad.integrate import dormand_prince, solve_ivp

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(3, 3)) + 1j * RANDOM.normal(size=(3, 3))
Y = RANDOM.normal(size=3) + 1j * RANDOM.normal(size=3)


def linear(t, y, a):
    return a @ y


def test_the_tableau_is_scipys():
    theirs = scipy.integrate.RK45
    np.testing.assert_allclose(dormand_prince.NODES, theirs.C)
    np.testing.assert_allclose(dormand_prince.FIFTH, theirs.B)
    np.testing.assert_allclose(dormand_prince.ERROR, theirs.E)
    for row, weights in zip(theirs.A, dormand_prince.STAGES, strict=True):
        np.testing.assert_allclose(row[: len(weights)], weights)


@pytest.mark.parametrize("times", [[0.0, 0.3, 1.0], [1.0, -0.5]])
def test_the_exponential_of_a_matrix_forward_and_backward_in_time(times):
    found = solve_ivp(linear, times, Y, (A,))
    exact = [scipy.linalg.expm(A * (t - times[0])) @ Y for t in times]
    np.testing.assert_allclose(found, exact, rtol=1e-6, atol=1e-7)


@pytest.mark.slow
def test_gradients_of_the_first_and_second_order_by_all_that_it_depends_on():
    """A driven pendulum; differences see the choice of steps, too, which is below the tolerance of the solution."""

    def slope(t, y, d):
        return np.stack([y[1], -np.sin(y[0]) - d * y[1] + np.cos(t)])

    def swing(y0, damping, times):
        return solve_ivp(slope, times, y0, (damping,), rtol=1e-11, atol=1e-12)

    qad.check_grads(swing, (np.array([1.0, 0.5]), np.array(0.2), np.array([0.0, 0.1, 0.25])), order=2, rtol=1e-5)


def test_gradients_of_complex_states_and_parameters():

    def loss(y0, a):
        return qad.abs2(solve_ivp(linear, [0.0, 0.5], y0, (a,), rtol=1e-9)[-1, 0])

    def exact(y0, a):
        return qad.abs2((qad.linalg.expm(0.5 * a) @ y0)[0])

    for one, two in zip(qad.grad(loss, (0, 1))(Y, A), qad.grad(exact, (0, 1))(Y, A), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-7)


def test_a_recorded_solution_is_the_plain_one_within_the_tolerances():
    y = solve_ivp(linear, [0.0, 1.0], Y, (A,))
    recorded = solve_ivp(linear, [0.0, 1.0], qad.tensor(Y, requires_grad=True), (A,))
    np.testing.assert_allclose(recorded.numpy(), y, rtol=1e-7)


def test_what_is_kept_of_a_step_does_not_grow_with_its_work():
    """The tape of a problem has the same length whatever a slope costs."""

    def tape(work):
        def slope(t, y):
            for _ in range(work):
                y = y * 1.0
            return -y

        _, found, _, _ = operations(lambda y: solve_ivp(slope, [0.0, 0.1], y, rtol=1e-3), np.ones(2))
        return len(found)

    assert 0 < tape(1) == tape(20)


def test_a_real_state_may_become_complex():
    assert solve_ivp(lambda t, y: 1j * y, [0.0, 1.0], np.ones(1)).dtype == complex


@pytest.mark.parametrize("times", [[0.0], [0.0, 1.0, 0.5], [1.0, 1.0]])
def test_times_that_are_refused(times):
    with pytest.raises(ArgumentError, match="rise or fall"):
        solve_ivp(linear, times, Y, (A,))


def test_what_else_is_refused():
    with pytest.raises(ShapeError, match=r"returns shape \(\) for a state of shape \(3,\)"):
        solve_ivp(lambda t, y: y.sum(), [0.0, 1.0], Y)
    with pytest.raises(ShapeError, match=r"np.stack"):
        solve_ivp(lambda t, y: [y[1], -y[0]], [0.0, 1.0], np.ones(2))
    for rtol, atol in [(-1e-3, 1e-3), (1e-3, -1e-3), (0.0, 0.0), (np.nan, 1e-3)]:
        with pytest.raises(ArgumentError, match="rtol="):
            solve_ivp(linear, [0.0, 1.0], Y, (A,), rtol=rtol, atol=atol)
    with pytest.raises(ConvergenceError, match="singular there"):
        solve_ivp(lambda t, y: y**2, [0.0, 2.0], np.ones(1))  # 1 / (1 - t)


def test_the_gradient_by_an_initial_number():
    assert np.isclose(qad.grad(lambda y: solve_ivp(lambda t, y: -y, [0.0, 1.0], y)[-1])(1.0), np.exp(-1), atol=1e-8)
    by_real = qad.grad(lambda y: solve_ivp(lambda t, y: 1j * y, [0.0, 1.0, 2.0], y)[-1].imag)(1.0)
    assert np.isclose(by_real, np.sin(2), atol=1e-7)
