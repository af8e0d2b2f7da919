"""Adam and natural gradient descent: trees, phases, histories, refusals."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.optimize import adam, natural_descent

TARGET = {"z": np.array([1 + 2j, -1j]), "x": np.array(0.5)}


def distance(p):
    return qad.abs2(p["z"] - TARGET["z"]).sum() + 3 * (p["x"] - TARGET["x"]) ** 2


START = {"z": np.zeros(2, complex), "x": np.array(0.0)}


def test_adam_finds_the_minimum_of_a_tree():
    seen = []
    result = adam(distance, START, rate=0.1, callback=lambda p, value: seen.append(value))
    assert result.success
    np.testing.assert_allclose(result.params["z"], TARGET["z"], atol=1e-5)
    np.testing.assert_allclose(result.params["x"], TARGET["x"], atol=1e-5)
    assert result.fun == min(result.history)
    assert len(seen) == result.nit == len(result.history) - 1
    assert START["x"] == 0.0


def test_the_first_steps_are_those_of_the_paper():
    def f(x):
        return (x**4).sum() / 4  # its gradient is x**3

    x, m, v = np.array([1.0, -2.0]), 0.0, 0.0
    for t in range(1, 4):
        g = x**3
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        x = x - 0.2 / t * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.99**t)) + 1e-8)
    found = adam(f, np.array([1.0, -2.0]), rate=lambda step: 0.2 / (step + 1), maxiter=3, decay=(0.9, 0.99))
    np.testing.assert_allclose(found.params, x, rtol=1e-12)


def test_steps_do_not_depend_on_the_phase():
    def loss(z):
        return qad.abs2(z - 1.0) + qad.abs2(z * z)

    def turned(z):
        return loss(z * np.exp(-0.7j))

    one, two = adam(loss, 0.3 + 0.4j, maxiter=20), adam(turned, (0.3 + 0.4j) * np.exp(0.7j), maxiter=20)
    np.testing.assert_allclose(one.history, two.history, rtol=1e-10)


def test_natural_descent_ends_stretched_problems_at_once():
    h = np.diag([1.0, 1e4, 1e-3])
    result = natural_descent(lambda x: x @ h @ x / 2, np.ones(3), lambda x: h, rate=1.0, damping=0.0, gtol=1e-9)
    assert result.nit == 1
    np.testing.assert_allclose(result.params, 0.0, atol=1e-12)


def test_natural_descent_takes_trees():
    result = natural_descent(distance, START, lambda p: np.eye(5), rate=0.1)
    np.testing.assert_allclose(result.params["z"], TARGET["z"], atol=1e-5)


def test_stops():
    def stop(params, value):
        raise StopIteration

    for result in (
        adam(distance, START, callback=stop),
        natural_descent(distance, START, lambda p: np.eye(5), callback=stop),
    ):
        assert result.interrupted
        assert "callback" in result.message
    result = adam(lambda x: np.where(x > 0.5, np.nan, -x), 0.0, rate=0.2)
    assert "the loss is nan" in result.message
    assert result.params == pytest.approx(0.4)


@pytest.mark.parametrize(
    "wrong, error, message",
    [
        (lambda: adam(distance, START, rate=-1.0), ArgumentError, "rate"),
        (lambda: adam(distance, START, decay=(1.0, 0.9)), ArgumentError, "decay"),
        (lambda: adam(distance, START, maxiter=-1), ArgumentError, "maxiter"),
        (lambda: adam(lambda x: x * np.inf, 1.0), ArgumentError, "the loss is inf"),
        (lambda: natural_descent(distance, START, lambda p: np.eye(3)), ShapeError, "does not fit 5"),
        (lambda: natural_descent(distance, START, lambda p: np.zeros((5, 5)), damping=0.0), ArgumentError, "singular"),
        (lambda: natural_descent(distance, START, lambda p: np.eye(5), damping=-1.0), ArgumentError, "damping"),
    ],
)
def test_refusals(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong()
