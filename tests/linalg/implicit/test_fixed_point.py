"""Fixed points and their implicit derivatives."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ConvergenceError
from qad.linalg.implicit.fixed_point import fixed_point
from qad.linalg.krylov.gmres import Report


def random(*shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


W, B = random(4, 4) / 8, random(4, seed=1)


def layer(x, w, b):
    return np.tanh(w @ x + b.conj() * 0.3) + 0.1 * x.conj()


@pytest.mark.parametrize("method", ["anderson", "plain"])
def test_solution_and_report(method):
    report = Report()
    x = fixed_point(layer, np.zeros(4, complex), W, B, method=method, report=report)
    assert np.allclose(x, layer(x, W, B), rtol=0, atol=1e-11)
    assert report.residual < 1e-12
    assert report.adjoint == []
    qad.grad(lambda w: qad.abs2(fixed_point(layer, np.zeros(4, complex), w, B, report=report)).sum())(W)
    ((products, residual),) = report.adjoint
    assert 0 < products < 30
    assert residual < 1e-12


def test_anderson_is_faster():
    plain, mixed = Report(), Report()

    def step(x):
        return 0.95 * np.cos(x)

    fixed_point(step, np.zeros(3), method="plain", report=plain)
    fixed_point(step, np.zeros(3), method="anderson", report=mixed)
    assert mixed.iterations < plain.iterations / 3


@pytest.mark.parametrize("method", ["anderson", "plain"])
@pytest.mark.sampled(1)
def test_derivatives_of_a_function_that_is_not_holomorphic(method):
    def solution(w, b):
        return fixed_point(layer, np.zeros(4, complex), w, b, method=method, tol=1e-15)

    qad.check_grads(solution, (W, B))


def test_against_the_unrolled_iteration():
    def unrolled(w):
        x = np.zeros(4, complex)
        for _ in range(200):
            x = layer(x, w, B)
        return qad.abs2(x).sum()

    def implicit(w):
        return qad.abs2(fixed_point(layer, np.zeros(4, complex), w, B)).sum()

    v = random(4, 4, seed=5)
    assert np.allclose(qad.grad(implicit)(W), qad.grad(unrolled)(W), rtol=0, atol=1e-11)
    assert np.allclose(qad.hvp(implicit, (W,), (v,))[0], qad.hvp(unrolled, (W,), (v,))[0], rtol=0, atol=1e-10)


def test_real_parameters_and_pytrees():
    def step(x, p):
        return {"a": 0.5 * np.sin(x["a"] + p["t"]), "b": 0.2 * x["b"] * x["a"].sum() + p["u"]}

    def solution(p):
        return fixed_point(step, {"a": np.zeros(2), "b": np.zeros(3, complex)}, p, tol=1e-15)

    qad.check_grads(solution, ({"t": np.array([0.3, 0.8]), "u": random(3)},))


def test_closures_are_parameters():
    def by_closure(w):
        return fixed_point(lambda x: layer(x, w, B), np.zeros(4, complex), tol=1e-15)

    qad.check_grads(by_closure, (W,))


def test_the_start_has_zero_gradient():
    start = np.full(4, 0.1 + 0.1j)
    g = qad.grad(lambda x0: qad.abs2(fixed_point(layer, x0, W, B)).sum())(start)
    assert np.array_equal(g, np.zeros(4))


def test_a_gradient_inside_the_iteration():
    def minimum(h):
        slope = qad.grad(lambda x: np.sum(0.5 * x * x + 0.25 * x**4 - h * x))
        return fixed_point(lambda x: x - 0.2 * slope(x), np.zeros(2), tol=1e-15)

    qad.check_grads(minimum, (np.array([0.5, 1.2]),))


def test_no_fixed_point_raises_with_numbers():
    with pytest.raises(ConvergenceError, match=r"diverges: after \d+ iterations .* is [\d.e+]+"):
        fixed_point(lambda x: 3 * x + 1, np.ones(2), method="plain")
    with pytest.raises(ConvergenceError, match=r"after 50 iterations .* is 1,"):
        fixed_point(lambda x: -x + 1, np.zeros(2), method="plain", maxiter=50)
    with pytest.raises(ConvergenceError, match="diverges"):
        fixed_point(lambda x: x * np.nan, np.ones(2))


def test_a_free_gauge_raises_in_the_backward_pass():
    def loss(w):
        x = fixed_point(lambda x: (w @ x) / np.linalg.norm(w @ x), np.ones(4, complex) / 2)
        return (x * B).sum().real

    hermitian = W @ W.conj().T + np.eye(4)
    with pytest.raises(ConvergenceError, match="adjoint equation"):
        qad.grad(loss)(hermitian)


def test_bad_arguments_raise():
    with pytest.raises(ArgumentError, match="shape"):
        fixed_point(lambda x: x[:1], np.ones(2))
    with pytest.raises(ArgumentError, match="start from a complex array"):
        fixed_point(lambda x: 1j * x, np.ones(2))
    with pytest.raises(ArgumentError, match="anderson"):
        fixed_point(lambda x: x, np.ones(2), method="newton")


def test_a_given_solution_is_differentiated_where_it_stands():
    found = fixed_point(layer, np.zeros(4, complex), W, B, tol=1e-15)
    calls, report = [], Report()

    def counted(x, w, b):
        calls.append(1)
        return layer(x, w, b)

    def loss(w, b):
        x = fixed_point(counted, found, w, b, method="given", tol=1e-13, report=report)
        return qad.abs2(x).sum()

    assert fixed_point(counted, found, W, B, method="given", tol=1e-13, report=report) is not found
    assert (len(calls), report.iterations) == (2, 1)  # to compare, and to record
    assert report.residual < 1e-13
    by_given = qad.grad(loss, argnums=(0, 1))(W, B)

    def searched(w, b):
        return qad.abs2(fixed_point(layer, 0 * B, w, b)).sum()

    by_search = qad.grad(searched, argnums=(0, 1))(W, B)
    moved = [qad.hvp(f, (W, B), (B[:, None] * W, W @ B)) for f in (loss, searched)]
    for x, y in zip((*by_given, *moved[0]), (*by_search, *moved[1]), strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-11)


def test_a_given_solution_that_is_none_is_refused():
    with pytest.raises(ConvergenceError, match="the given solution is none"):
        fixed_point(np.cos, 0.739, method="given")
    assert fixed_point(np.cos, 0.739, method="given", tol=1e-3) == 0.739


@pytest.mark.parametrize("method", ["anderson", "plain"])
def test_a_norm_of_ones_own_decides_when_to_stop(method):
    """The second number moves for ever, and has no weight."""
    reports = Report(), Report()

    def step(x):
        return {"a": 0.5 * np.cos(x["a"]), "b": -x["b"]}

    def weighted(change, x):
        return abs(change["a"]) / abs(x["a"])

    start = {"a": 1.0, "b": 1.0}
    found = fixed_point(step, start, method=method, norm=weighted, report=reports[0])
    alone = fixed_point(lambda a: 0.5 * np.cos(a), 1.0, method=method, report=reports[1])
    assert found["a"] == pytest.approx(alone, abs=1e-12)
    assert reports[0].residual < 1e-12
    if method == "plain":
        assert reports[0].iterations <= reports[1].iterations + 2


@pytest.mark.slow
def test_the_norm_of_ones_own_is_that_of_the_distance_too():
    far = Report()

    def slow(x):
        return x - 1e-3 * (x - np.array([1.0, 5.0]))

    fixed_point(slow, np.zeros(2), method="plain", tol=1e-6, maxiter=10**5, norm=lambda c, x: abs(c[0]), report=far)
    assert far.residual < 1.1e-9
