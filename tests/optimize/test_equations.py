"""Roots and least squares: solutions, their Jacobians and derivatives, and what is refused."""

import numpy as np
import pytest

import qad
from qad.core.errors import ConvergenceError, GradientTypeError, ShapeError
from qad.optimize import least_squares, root

START = {"z": np.array([1 + 0.5j, 0.3 - 1j]), "x": np.array(0.7)}


def equations(tree, a):
    """Not holomorphic, with a real and a complex unknown."""
    z, x = tree["z"], tree["x"]
    return {"z": z**2 * z.conj() + x * z - a, "x": x**3 + x - qad.abs2(z).sum()}


def test_roots_and_their_derivatives():
    a = np.array([1 + 2j, 0.5 - 1j])
    found = root(lambda tree: equations(tree, a), START, tol=1e-13)
    assert all(np.abs(leaf).max() < 1e-10 for leaf in equations(found, a).values())
    qad.check_grads(lambda a: root(lambda tree: equations(tree, a), START, tol=1e-13)["z"], (a,), order=2, rtol=1e-6)


@pytest.mark.parametrize("method", ["lm", "krylov"])
def test_other_methods(method):
    assert abs(root(lambda x: x**2 - 2, np.array(1.0), method=method) - np.sqrt(2)) < 1e-5


def test_a_root_that_does_not_exist_is_refused():
    with pytest.raises(ConvergenceError, match="method 'hybr', residual"):
        root(lambda x: x**2 + 1, np.array(1.0))


@pytest.mark.parametrize("scale", [1e-250, 1e-100, 1.0, 1e3])
def test_a_root_to_rounding_is_one_though_scipy_sees_no_more_progress(scale):
    rng = np.random.default_rng(7)
    a = rng.normal(size=(6, 6))
    matrix, b = np.eye(6) - 0.5 * a / np.linalg.norm(a, 2), scale * rng.normal(size=6)
    found = qad.optimize.root(lambda x: matrix @ x - b, np.zeros(6))
    assert found / scale == pytest.approx(np.linalg.solve(matrix, b / scale), rel=1e-12, abs=1e-14)


def test_the_jacobian_that_scipy_is_given_saves_evaluations():
    """With differences, the unknowns would cost an evaluation each."""
    calls = []

    def residual(p):
        calls.append(type(p) is np.ndarray)
        return np.array([1.0, 3.0, 2.0]) * (p - np.arange(3.0))

    fit = least_squares(residual, np.full(3, 5.0))
    np.testing.assert_allclose(fit.params, np.arange(3.0), atol=1e-10)
    assert fit.success
    assert fit.history[-1] < 1e-18 < fit.history[0]
    assert sum(calls) <= fit.nfev + 1  # on plain arrays; the others are directions of the Jacobian


def test_complex_least_squares_are_those_of_both_parts():
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=s) + 1j * rng.normal(size=s) for s in ((6, 2), 6))
    fit = least_squares(lambda z: a @ z - b, np.zeros(2, complex))
    np.testing.assert_allclose(fit.params, np.linalg.lstsq(a, b)[0], atol=1e-8)


def test_least_squares_refuse_a_derivative_that_they_do_not_have():
    with pytest.raises(GradientTypeError, match="closes over"):
        qad.grad(lambda a: least_squares(lambda x: x - a, np.array([1.0])).params[0])(2.0)


def test_equations_are_as_many_as_unknowns():
    with pytest.raises(ShapeError, match="1 equations for 2 unknowns"):
        root(lambda z: np.abs(z) - 1.0, np.array(1 + 1j))
    assert root(lambda x: x, np.zeros(0)).shape == (0,)
    with pytest.raises(ShapeError, match=r"return the structure of the argument, such as np.stack"):
        root(lambda x: [x[0] - 1.0, x[1]], np.zeros(2))
