"""Adam and natural gradient descent: trees, phases, histories, refusals."""

import numpy as np
import pytest
import scipy.sparse.linalg

import qad
from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from qad.optimize import adam, adam_steps, natural_descent

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


def test_steps_one_by_one_are_those_of_the_search():
    init, update = adam_steps(rate=lambda step: 0.3 / (step + 1), decay=(0.8, 0.95), epsilon=1e-6)
    params, state = START, init(START)
    for _ in range(5):
        gradient = qad.grad(distance)(params)
        updates, state = update(gradient, state)
        params = qad.apply_updates(params, updates)
    options = {"rate": lambda step: 0.3 / (step + 1), "decay": (0.8, 0.95), "epsilon": 1e-6}
    found = adam(distance, START, **options, maxiter=5, gtol=0.0)
    np.testing.assert_allclose(params["z"], found.params["z"], rtol=1e-14)
    np.testing.assert_allclose(params["x"], found.params["x"], rtol=1e-14)
    assert state.step == 5


def test_the_first_step_of_a_complex_number_has_the_length_of_the_rate():
    """Mean and root of the mean square are the gradient and its modulus then: ``-rate g / |g|``."""
    init, update = adam_steps(rate=0.25, epsilon=0.0)
    state = init({"z": np.array([1j]), "x": np.float32(2.0)})
    updates, after = update({"z": np.array([3.0 - 4.0j]), "x": np.float32(-7.0)}, state)
    np.testing.assert_allclose(updates["z"], [-0.25 * (0.6 - 0.8j)], rtol=1e-14)
    assert updates["x"] == pytest.approx(0.25, rel=1e-6)
    assert updates["x"].dtype == np.float32
    assert (state.step, after.step) == (0, 1)
    assert not state.mean["z"].any()  # a state is never written into
    assert after.square["z"].dtype == float


def test_minibatches_find_the_regression_of_all_data():
    rng = np.random.default_rng(0)
    data, weights = rng.normal(size=(64, 3)), np.array([1.0, -2.0, 0.5])
    init, update = adam_steps(rate=0.05)
    w = np.zeros(3)
    state = init(w)
    loss = qad.grad(lambda w, x: ((x @ w - x @ weights) ** 2).mean())
    for _ in range(40):
        for batch in np.split(rng.permutation(data), 8):
            updates, state = update(loss(w, batch), state)
            w = qad.apply_updates(w, updates)
    np.testing.assert_allclose(w, weights, atol=1e-3)


def test_steps_are_differentiable():
    """The first step is ``-rate sign(g)``, whatever the gradient; the second one follows the ratio of both."""
    init, update = adam_steps(rate=1.0, epsilon=0.0, decay=(0.5, 0.5))

    def second(g):
        _, state = update(np.array(2.0), init(0.0))
        return update(g, state)[0]

    def by_hand(g):  # mean (1/2) 2/2 + g/2 over 3/4, square (1/2) 4/2 + g^2/2 over 3/4
        return -((0.5 + g / 2) / 0.75) / np.sqrt((1 + g * g / 2) / 0.75)

    assert second(np.array(1.5)) == pytest.approx(by_hand(1.5), rel=1e-14)
    slope = (by_hand(1.5 + 1e-6) - by_hand(1.5 - 1e-6)) / 2e-6
    assert qad.grad(second)(np.array(1.5)) == pytest.approx(slope, rel=1e-8)


def test_a_metric_may_be_a_product():
    """Conjugate gradients give the step of the matrix; the damping is added to either."""
    h = np.diag([1.0, 50.0, 0.1]) + 0.05
    calls = []

    def product(v):
        calls.append(v)
        return h @ v

    def loss(x):
        return (x**4).sum() + x @ h @ x / 2

    matrix = natural_descent(loss, np.ones(3), lambda x: h, rate=0.5, maxiter=4, damping=0.1)
    for metric in (lambda x: product, lambda x: scipy.sparse.linalg.aslinearoperator(h)):
        found = natural_descent(loss, np.ones(3), metric, rate=0.5, maxiter=4, damping=0.1)
        np.testing.assert_allclose(found.history, matrix.history, rtol=1e-11)
    assert len(calls) <= 4 * (3 + 2)  # as many products as there are parameters, and what checks the residual
    step = natural_descent(lambda x: x @ h @ x / 2, np.ones(3), lambda x: product, rate=1.0, damping=0.0, gtol=1e-9)
    np.testing.assert_allclose(step.params, 0.0, atol=1e-12)
    assert step.nit == 1


def test_the_metric_of_a_quantum_geometric_tensor_is_its_real_part():
    """Solved with the curvature, the direction was another one, and lost its imaginary part without a word."""
    h, curvature = np.diag([1.0, 4.0]), np.array([[0.0, 1.0], [-1.0, 0.0]])
    for metric in (h + 1j * curvature, lambda v: (h + 1j * curvature) @ v):
        found = natural_descent(lambda x: x @ h @ x / 2, np.ones(2), lambda x, g=metric: g, rate=1.0, damping=0.0)
        assert found.nit == 1 and np.abs(found.params).max() < 1e-12


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
        (lambda: natural_descent(distance, START, lambda p: lambda v: v[:3]), ShapeError, r"\(3,\) does not fit 5"),
        (lambda: natural_descent(distance, START, lambda p: lambda v: -v), ArgumentError, "operator is not positive"),
        (lambda: adam_steps(rate=-1.0), ArgumentError, "rate"),
        (lambda: adam_steps(decay=(0.9, 1.0)), ArgumentError, "decay"),
        (lambda: adam_steps()[0]({"x": np.arange(3)}), GradientTypeError, "params"),
        (lambda: adam_steps()[1]({"y": 1.0}, adam_steps()[0]({"x": 1.0})), ArgumentError, "different structure"),
    ],
)
def test_refusals(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong()
