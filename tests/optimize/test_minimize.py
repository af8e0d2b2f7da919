"""Minimisation over pytrees: every method, packing, stopping, bad input."""

from functools import partial

import numpy as np
import pytest
from tqdm import tqdm

import qad
from qad.core.errors import ArgumentError, GradientTypeError
from qad.optimize import OptimizeResult, minimize
from qad.optimize.minimization import METHODS
from qad.optimize.packing import Parameters

TARGET = np.array([1 + 2j, 3 - 1j])


def quadratic(p):
    return qad.abs2(p["z"] - TARGET).sum() + (p["x"] * p["x"]).sum()


def rosenbrock(p):
    """A complex valley whose floor is the parabola b = a^2; zero at (1, 1) alone."""
    a, b = p
    return 100 * qad.abs2(b - a * a) + qad.abs2(1 - a)


@pytest.mark.parametrize("method", METHODS)
def test_quadratic(method):
    start = {"z": np.zeros(2, complex), "x": np.ones((2, 3))}
    result = minimize(quadratic, start, method)
    assert isinstance(result, OptimizeResult)
    assert result.success
    np.testing.assert_allclose(result.params["z"], TARGET, atol=1e-5)
    np.testing.assert_allclose(result.params["x"], 0, atol=1e-5)
    assert result.fun == pytest.approx(0, abs=1e-10)
    np.testing.assert_array_equal(start["z"], 0)


@pytest.mark.parametrize("method", ["L-BFGS-B", "BFGS", "CG", "trust-krylov"])
def test_complex_rosenbrock(method):
    result = minimize(rosenbrock, (np.complex128(-1.2 + 0.5j), np.array(1.0 + 0j)), method, maxiter=5000)
    np.testing.assert_allclose(result.params, 1, atol=1e-5)
    assert isinstance(result.params[0], np.complex128)
    assert isinstance(result.params[1], np.ndarray)


def test_history():
    result = minimize(rosenbrock, (np.complex128(-1.2), np.complex128(1.0)))
    assert result.history[0] == pytest.approx(float(rosenbrock((-1.2, 1.0))))
    assert len(result.history) == result.nit + 1
    assert result.history[-1] == result.fun == result.history.min()
    assert result.nfev >= result.nit


def test_callback():
    seen = []
    result = minimize(rosenbrock, (np.complex128(-1.2), np.complex128(1.0)), callback=lambda p, v: seen.append((p, v)))
    assert [v for _, v in seen] == list(result.history[1:])
    for params, value in seen:
        assert float(rosenbrock(params)) == pytest.approx(value)


def test_callback_may_stop():
    def callback(params, value):
        if value < 1:
            raise StopIteration

    result = minimize(rosenbrock, (np.complex128(-1.2), np.complex128(1.0)), callback=callback)
    assert result.fun < 1
    assert not result.success
    assert result.interrupted
    assert "callback" in result.message


def test_ctrl_c_returns_the_best_so_far():
    calls = []

    def impatient(p):
        calls.append(p)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return rosenbrock(p)

    result = minimize(impatient, (np.complex128(-1.2), np.complex128(1.0)))
    assert not result.success
    assert result.interrupted
    assert "Ctrl-C" in result.message
    assert result.fun == pytest.approx(result.history.min())
    assert float(rosenbrock(result.params)) == result.fun


def test_ctrl_c_before_anything_was_found():
    def impatient(p):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        minimize(impatient, np.zeros(2))


def test_a_loss_that_becomes_nan_returns_the_best_so_far():
    def cliff(x):
        return np.sum(x) if x.shape and np.all(qad.stop_gradient(x).numpy() > -3) else np.sum(x * np.nan)

    result = minimize(cliff, np.zeros(2))
    assert not result.success
    assert result.interrupted
    assert "nan" in result.message
    assert np.isfinite(result.fun)


def test_a_loss_that_is_nan_at_the_start():
    with pytest.raises(ArgumentError, match="nan at the starting parameters"):
        minimize(lambda x: np.sum(x * np.nan), np.ones(2))


def test_maxiter():
    result = minimize(rosenbrock, (np.complex128(-1.2), np.complex128(1.0)), maxiter=5)
    assert result.nit == 5
    assert not result.success
    assert not result.interrupted


def test_a_bar_that_is_given_goes_on():
    with tqdm(total=100, disable=False) as bar:
        first = minimize(rosenbrock, (np.complex128(-1.2), np.complex128(1.0)), progress=bar, maxiter=3)
        minimize(rosenbrock, first.params, progress=bar, maxiter=4)
        assert bar.n == 7


def test_single_precision_comes_back_single():
    result = minimize(lambda z: qad.abs2(z - 1).sum(), np.zeros(3, np.complex64), gtol=1e-3)
    assert result.params.dtype == np.complex64
    np.testing.assert_allclose(result.params, 1, atol=1e-3)


@pytest.mark.parametrize(
    "wrong, match",
    [
        ({"method": "Nelder-Mead"}, "choose one of L-BFGS-B"),
        ({"method": "BFGS", "ftol": 1e-3}, "BFGS has no option 'ftol'"),
        ({"gtol": -1.0}, "gtol must not be negative"),
        ({"maxiter": np.nan}, "maxiter must not be negative"),
        ({"method": "CG", "memory": 3}, "memory"),
    ],
)
def test_bad_options(wrong, match):
    with pytest.raises(ArgumentError, match=match):
        minimize(lambda x: np.sum(x * x), np.ones(2), **wrong)


def test_bad_parameters():
    with pytest.raises(GradientTypeError, match=r"params\['n'\].*int64"):
        minimize(lambda p: np.sum(p["x"]), {"x": np.ones(2), "n": np.array([1, 2])})
    with pytest.raises(ArgumentError, match="nothing to optimise"):
        minimize(lambda p: 0.0, {})
    with pytest.raises(GradientTypeError, match="real output"):
        minimize(np.sum, np.ones(2, complex))


def test_packing_there_and_back():
    rng = np.random.default_rng(0)
    tree = {
        "a": rng.normal(size=(2, 3)) + 1j,
        "b": [np.float32(2.5), 1.5, np.zeros((0, 2))],
        "c": np.asfortranarray(rng.normal(size=(3, 4)))[:, ::2],
    }
    packing = Parameters(tree)
    vector = packing.pack(tree)
    assert vector.dtype == np.float64
    assert vector.shape == (12 + 2 + 6,)
    back = packing.unpack(vector)
    np.testing.assert_array_equal(back["a"], tree["a"])
    np.testing.assert_array_equal(back["c"], tree["c"])
    assert back["b"][0].dtype == np.float32
    assert back["b"][2].shape == (0, 2)
    back["a"][:] = 0
    np.testing.assert_array_equal(packing.pack(tree), vector)


def test_packing_keeps_the_inner_product():
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=(2, 2)) + 1j * rng.normal(size=(2, 2)) for _ in range(2))
    packing = Parameters(a)
    assert packing.pack(a) @ packing.pack(b) == pytest.approx(np.vdot(a, b).real)


def walled(refusal):
    """A barrier: lowest at 1, flat far away, and without a value where a number is not positive."""

    def loss(p):
        return refusal() if (qad.extend.value_of(p) <= 0).any() else np.sum(p - np.log(p))

    return loss


def raises():
    raise qad.errors.RejectedPoint("beyond the wall")


def does_not_converge():
    raise qad.errors.ConvergenceError("an iteration inside")


@pytest.mark.parametrize("refusal", [raises, does_not_converge, lambda: np.inf])
@pytest.mark.parametrize("method", [*METHODS, "on"])
def test_points_without_a_value_turn_the_search_back(method, refusal):
    refused = []

    def counted():
        refused.append(1)
        return refusal()

    loss, start = walled(counted), np.array([30.0, 50.0])
    if method == "on":
        found = qad.optimize.minimize_on(loss, start, manifold=qad.optimize.Euclidean())
    else:
        found = minimize(loss, start, method, gtol=1e-7)
    assert refused
    np.testing.assert_allclose(found.params, 1, atol=1e-4)


@pytest.mark.parametrize("refusal", [raises, lambda: np.inf])
def test_a_start_without_a_value_is_refused(refusal):
    for search in (minimize, partial(qad.optimize.minimize_on, manifold=qad.optimize.Euclidean()), qad.optimize.adam):
        with pytest.raises(ArgumentError, match="at the starting parameters"):
            search(walled(refusal), np.array([0.0, 2.0]))


def test_a_start_that_does_not_converge_says_why():
    for search in (minimize, partial(qad.optimize.minimize_on, manifold=qad.optimize.Euclidean())):
        with pytest.raises(qad.errors.ConvergenceError, match="an iteration inside"):
            search(walled(does_not_converge), np.array([0.0, 2.0]))


def test_a_search_that_meets_only_refusals_ends_and_says_so():
    start = np.array([1.0, 1.0])

    def loss(p):
        return (p * p).sum() if np.array_equal(qad.extend.value_of(p), start) else np.inf

    found = minimize(loss, start)
    assert not found.success
    assert "points were rejected" in found.message
    np.testing.assert_array_equal(found.params, start)


@pytest.mark.parametrize("method", ["L-BFGS-B", "trust-krylov", "on"])
def test_accepted_hears_of_every_new_lowest_value(method):
    heard, values = [], []

    def loss(p):
        value = rosenbrock(p)
        values.append(float(qad.extend.value_of(value)))
        return value

    start = (np.complex128(-1.2), np.complex128(1.0))
    if method == "on":
        qad.optimize.minimize_on(
            loss, start, manifold=qad.optimize.Euclidean(), accepted=lambda p, v: heard.append((p, v))
        )
    else:
        minimize(loss, start, method, accepted=lambda p, v: heard.append((p, v)))
    lowest = [v for i, v in enumerate(values) if v < min(values[:i], default=np.inf)]
    assert [v for _, v in heard] == lowest
    for params, value in heard:
        assert float(rosenbrock(params)) == pytest.approx(value)


@pytest.mark.parametrize("search", [minimize, qad.optimize.adam])
def test_a_function_that_gives_value_and_gradient(search):
    """It is not differentiated; frozen, it is recorded once."""
    loss, start = qad.freeze(qad.value_and_grad(quadratic)), {"z": np.zeros(2, complex), "x": np.ones((2, 3))}
    one, two = search(loss, start, maxiter=20, jac=True), search(quadratic, start, maxiter=20)
    np.testing.assert_allclose(one.history, two.history, rtol=1e-9)
    assert loss.stats.recordings == 1 and loss.stats.eager == 0
    assert one.nfev == two.nfev


@pytest.mark.parametrize("method", ["trust-ncg", "trust-krylov"])
def test_hessians_need_the_loss_itself(method):
    with pytest.raises(qad.errors.ArgumentError, match="give the loss itself"):
        minimize(qad.value_and_grad(quadratic), {"z": np.zeros(2, complex), "x": np.ones(2)}, method, jac=True)
