"""Derivatives of initial value problems are as exact as the tolerances ask for, whatever the values are."""

import numpy as np
import pytest
import scipy.linalg

import qad
from qad.core.errors import BatchError, GradientTypeError
from qad.integrate import solve_ivp

END = 10.0


def pendulum(t, y):
    return np.stack([y[1], -np.sin(y[0])])


def van_der_pol(t, y):
    return np.stack([y[1], 2.0 * (1 - y[0] ** 2) * y[1] - y[0]])


def lotka_volterra(t, y):
    return np.stack([y[0] - y[0] * y[1], y[0] * y[1] - y[1]])


def stiffish(t, y):
    return np.stack([-100.0 * (y[0] - y[1]), -y[1]])


def zero_crossing(t, y):
    return np.cos(t) - 0.1 * y**3


def reference(f, start, end):
    """The propagator of the linearised equation, in many steps of a method of order 8."""
    n = start.size

    def tangents(t, z):
        y, m = z[:n], z[n:].reshape(n, n)
        return np.concatenate([f(t, y), (qad.jacobian(lambda y: f(t, y))(y) @ m).ravel()])

    begin = np.concatenate([start, np.eye(n).ravel()])
    found = scipy.integrate.solve_ivp(tangents, (0, end), begin, method="DOP853", rtol=1e-11, atol=1e-13)
    return found.y[n:, -1].reshape(n, n)


def driven(a, end=3.0):
    """At zero drive the state stays at zero."""
    return solve_ivp(lambda t, y: a * np.cos(5 * t) - y, [0.0, end], np.array(0.0))[-1]


def moved(end):
    """The derivative of `driven`."""
    return (np.cos(5 * end) + 5 * np.sin(5 * end) - np.exp(-end)) / 26


def test_the_gradient_of_a_decay_at_rest():
    """176.12, where no step was too long for the values."""

    def decayed(y0):
        return solve_ivp(lambda t, y: -y, [0, END], y0)[-1]

    assert np.isclose(qad.grad(decayed)(0.0), np.exp(-END), rtol=1e-6)
    assert np.isclose(qad.jvp(decayed, (0.0,), (1.0,))[1], np.exp(-END), rtol=1e-6)


def test_the_jacobian_of_a_pendulum_at_rest():
    found = qad.jacobian(lambda y0: solve_ivp(pendulum, [0, END], y0)[-1])(np.zeros(2))
    np.testing.assert_allclose(found, scipy.linalg.expm(END * np.array([[0, 1], [-1, 0]])), atol=1e-6)


@pytest.mark.slow
def test_derivatives_at_zero_drive_in_all_modes():
    """The Hessian was 91 in place of 0.2; what is closed over is made anew at each time, `a * np.cos(5 * t)`."""
    assert np.isclose(qad.grad(driven)(0.0), moved(3.0), rtol=1e-6)
    assert np.isclose(qad.jvp(driven, (0.0,), (1.0,))[1], moved(3.0), rtol=1e-6)
    power = 2 * moved(3.0) ** 2
    assert np.isclose(qad.hessian(lambda a: driven(a) ** 2)(0.0), power, rtol=1e-6)
    assert np.isclose(qad.grad(qad.grad(lambda a: driven(a) ** 2))(0.0), power, rtol=1e-6)


def test_a_second_derivative_of_which_the_first_knows_nothing():
    """The force is quadratic in the state, and turns fast: 2 exp(-1) times the integral of cos(50 t) exp(-t)."""
    found = qad.hessian(lambda y0: solve_ivp(lambda t, y: y**2 * np.cos(50 * t) - y, [0, 1.0], y0)[-1])(0.0)
    exact = 2 * np.exp(-1) * ((1 - np.exp(-1 + 50j)) / (1 - 50j)).real
    assert np.isclose(found, exact, rtol=1e-5)


@pytest.mark.parametrize(
    "f, start",
    [
        (pendulum, [0.0, 0.0]), (pendulum, [1.0, 0.0]), (van_der_pol, [0.0, 0.0]), (van_der_pol, [2.0, 0.0]),
        (lotka_volterra, [1.0, 1.0]), (lotka_volterra, [0.5, 2.0]), (stiffish, [0.0, 0.0]), (zero_crossing, [-0.5]),
    ],
)  # fmt: skip
@pytest.mark.sampled(1)
def test_the_error_of_a_derivative_follows_rtol(f, start):
    start = np.array(start)
    end = 0.5 if f is stiffish else 3.0
    exact = reference(f, start, end)
    for rtol in 1e-4, 1e-8:
        _, pullback = qad.vjp(
            lambda y0, rtol=rtol: solve_ivp(f, [0.0, end], y0, rtol=rtol, atol=0.01 * rtol)[-1], start
        )
        found = np.stack([pullback(row)[0] for row in np.eye(start.size)])
        assert np.abs(found - exact).max() < 50 * rtol * np.abs(exact).max()


@pytest.mark.slow
def test_a_schroedinger_equation_from_an_eigenstate():
    """An eigenstate only turns its phase, slowly; its derivative by the coupling knows the other levels."""
    h, v = np.diag([0.0, 2.0, 12.0]).astype(complex), np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]], complex)

    def final(c):
        return solve_ivp(lambda t, y: -1j * ((h + c * v) @ y), [0.0, 0.5], np.array([1.0 + 0j, 0, 0]))[-1]

    found = qad.jvp(final, (0.0,), (1.0,))[1]
    exact = scipy.linalg.expm_frechet(-0.5j * h, -0.5j * v, compute_expm=False)[:, 0]
    np.testing.assert_allclose(found, exact, atol=1e-7)
    power = qad.hessian(lambda c: qad.abs2(final(c)[1:]).sum())(0.0)
    assert np.isclose(power, 2 * np.sum(np.abs(exact[1:]) ** 2), rtol=1e-6)


def test_by_a_time_at_rest():
    """d/dT of the gradient at rest: -exp(-T)."""
    slope = qad.grad(lambda y0, end: solve_ivp(lambda t, y: -y, [0.0, end], y0)[-1])
    assert np.isclose(qad.grad(slope, argnums=1)(0.0, 8.0), -np.exp(-8.0), rtol=1e-5)


def test_a_kink_is_met_exactly_and_its_second_derivative_refused():
    """``y = -2 + exp(t / 2)`` to the time ``2 log 2``, then towards 2."""

    def through(y0):
        return solve_ivp(lambda t, y: 1 - 0.5 * np.abs(y), [0, 3.0], y0)[-1]

    assert np.isclose(qad.grad(through)(-1.0), 2 * np.exp(-(1.5 - np.log(2))), rtol=1e-6)
    with pytest.raises(GradientTypeError, match=r"kink at t = 1\.38629"):
        qad.hessian(through)(-1.0)


@pytest.mark.parametrize("f", [lambda t, y: -np.abs(y), lambda t, y: np.maximum(y, 0.0), lambda t, y: -np.sign(y)])
def test_a_state_that_rests_on_a_kink_has_no_derivative(f):
    """That of -abs(y) at y = 0 was said to be 1, where it is exp(-t) on one side and exp(t) on the other."""

    def final(y0):
        return solve_ivp(f, [0, 1.0], y0)[-1]

    assert final(0.0) == 0
    with pytest.raises(GradientTypeError, match="kink at t = 0, or jumps, where the state rests"):
        qad.grad(final)(0.0)
    with pytest.raises(GradientTypeError, match="where the state rests"):
        qad.jvp(final, (0.0,), (1.0,))


def test_what_is_smooth_where_the_state_rests_has_a_derivative():
    fields = [
        lambda t, y: y * y,
        lambda t, y: np.abs(y - 1.0) * y,
        lambda t, y: y**3 - 100 * y * y,
        lambda t, y: 1e6 * y * y,
    ]
    for f in fields:
        slope = qad.grad(lambda y0, f=f: solve_ivp(f, [0, 1.0], y0)[-1])(0.0)
        assert np.isclose(slope, np.e if f is fields[1] else 1.0, rtol=1e-6)


@pytest.mark.parametrize("f", [lambda t, y: np.where(y > 1, 2.0, 1.0), lambda t, y: np.where(y > 2 * t - 1, 1.0, 1.5)])
def test_a_jump_that_the_state_meets_is_refused_with_its_time(f):
    with pytest.raises(GradientTypeError, match=r"jumps at t = (0\.99999|1\.00000|1)"):
        qad.grad(lambda y0: solve_ivp(f, [0, 3.0], y0)[-1])(0.0)


def test_a_pulse_that_ends_at_a_fixed_time():
    def pulse(a):
        return solve_ivp(lambda t, y: (a if t < 1.2345 else 0.0) - y, [0, 3.0], np.array(0.0))[-1]

    assert np.isclose(qad.grad(pulse)(0.5), np.exp(1.2345 - 3) - np.exp(-3), rtol=1e-6)


@pytest.mark.slow
def test_a_batch_takes_the_same_steps():
    def decayed(y0):
        return solve_ivp(lambda t, y: y**2 - y, [0.0, 1.0], y0)[-1]

    y = np.array([0.0, 0.1, 0.2])
    for f in decayed, qad.grad(decayed), qad.hessian(decayed):
        np.testing.assert_allclose(qad.vmap(f)(y), [f(x) for x in y], rtol=1e-6)
    np.testing.assert_allclose(qad.vmap(qad.grad(lambda a: driven(a, 2.0)))(y), [qad.grad(driven)(0.0, 2.0)] * 3)
    with pytest.raises(BatchError, match="solve_ivp: the times are a batch"):
        qad.vmap(lambda end: solve_ivp(lambda t, y: -y, [0.0, end], 1.0))(y + 1)


@pytest.mark.parametrize("rate, y0, end", [(9.26591358, 2.18e-7, 20.0), (9.0, 1.0, 20.0), (100.0, 1.0, 1.0)])
@pytest.mark.sampled(1)
def test_what_has_decayed_is_not_followed_in_small_steps(rate, y0, end):
    """The cotangent of a state long ago is nothing: relative to itself it would take 130 times the steps."""
    calls = [0]

    def f(t, y):
        calls[0] += 1
        return -rate * y

    solve_ivp(f, [0.0, end], y0)
    of_value, calls[0] = calls[0], 0
    slope = qad.grad(lambda y0: solve_ivp(f, [0.0, end], y0)[-1])(y0)
    assert calls[0] < 15 * of_value
    assert abs(slope - np.exp(-rate * end)) < 1e-10
