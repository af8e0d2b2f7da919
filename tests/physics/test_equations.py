"""Differential equations at the default tolerances: solutions and derivatives, at rest too."""

import numpy as np
import pytest
from scipy.linalg import expm

import qad
from qad.integrate import solve_ivp
from tests.physics import exact


def test_decay_at_rest():
    final = lambda y: solve_ivp(lambda t, y: -y, [0, 10], y)[-1]
    assert qad.grad(final)(0.0) == pytest.approx(np.exp(-10), abs=1e-7)
    assert qad.jvp(final, (0.0,), (1.0,))[1] == pytest.approx(np.exp(-10), abs=1e-7)


def test_pendulum_at_rest():
    swing = lambda y: solve_ivp(lambda t, y: np.stack([y[1], -np.sin(y[0])]), [0, 3], y)[-1]
    wanted = expm(3 * np.array([[0.0, 1.0], [-1.0, 0.0]]))
    assert qad.jacobian(swing)(np.zeros(2)) == pytest.approx(wanted, abs=1e-6)


def test_pendulum_in_motion():
    """Period ``4 K(sin(a/2))``, and how it changes the angle."""
    swing = lambda y: solve_ivp(lambda t, y: np.stack([y[1], -np.sin(y[0])]), [0, 3], y)[-1][0]
    reference = lambda y: solve_ivp(
        lambda t, y: np.stack([y[1], -np.sin(y[0])]), [0, 3], y, rtol=1e-12, atol=1e-13)[-1][0]  # fmt: skip
    y0 = np.array([1.0, 0.0])
    slope = exact.difference(lambda x: reference(np.array([x, 0.0])), 1.0)
    assert qad.grad(swing)(y0)[0] == pytest.approx(slope, abs=1e-6)


def test_drive_from_rest():
    """``y' = i (w s_z + u s_x) y`` at no drive: transition amplitudes grow with the square of u."""
    z, x = np.diag([1.0, -1.0]), np.array([[0.0, 1.0], [1.0, 0.0]])

    def excited(u):
        final = solve_ivp(lambda t, y, u: -1j * (z @ y + u * (x @ y)), [0.0, 1.0], np.array([1.0 + 0j, 0.0]), (u,))[-1]
        return qad.abs2(final[1])

    # u^2 sin^2(w t) / w^2 with w^2 = 1 + u^2
    assert qad.grad(excited)(0.0) == pytest.approx(0.0, abs=1e-8)
    assert qad.hessian(lambda u: excited(u[0]))(np.zeros(1))[0, 0] == pytest.approx(2 * np.sin(1.0) ** 2, abs=1e-5)


@pytest.mark.parametrize("scale", [0.0, 1.0])
def test_linear_equations(scale):
    rng = np.random.default_rng(1)
    a = rng.normal(size=(3, 3)) - 3 * np.eye(3)
    y0, w = scale * rng.normal(size=3), rng.normal(size=3)
    value = lambda y, rate: w @ solve_ivp(lambda t, y, rate: rate * (a @ y), [0.0, 1.0], y, (rate,))[-1]
    by_y, by_rate = qad.grad(value, argnums=(0, 1))(y0, 1.0)
    turn = expm(a)
    assert by_y == pytest.approx(w @ turn, abs=1e-6)
    assert by_rate == pytest.approx(w @ a @ turn @ y0, abs=1e-6)
