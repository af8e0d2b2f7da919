"""Fixed points: converged is what is near, by the rate of contraction; under `qad.vmap` too."""

import numpy as np
import pytest

import qad
from qad.core.errors import ConvergenceError
from qad.linalg import Report


@pytest.mark.parametrize("method", ["anderson", "plain"])
def test_a_map_that_hardly_contracts_has_not_converged_where_its_steps_are_small(method):
    with pytest.raises(ConvergenceError, match="contracts so slowly"):
        qad.fixed_point(lambda x: x - 1e-13 * (x - 5), 1.0, method=method)


@pytest.mark.parametrize("method", ["anderson", "plain"])
@pytest.mark.parametrize("rate", [1e-1, 1e-2, 1e-5, 1e-8, 1e-11])
@pytest.mark.sampled(1)
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
