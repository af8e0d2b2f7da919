"""Riemannian minimisation: manifolds, methods, bad input."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError
from qad.optimize import Euclidean, Grassmann, Product, Sphere, Stiefel, Unitary, minimize, minimize_on

RNG = np.random.default_rng(0)


def random(*shape, dtype=complex):
    x = RNG.standard_normal(shape)
    return x + 1j * RNG.standard_normal(shape) if dtype is complex else x


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize(
    "manifold, shape",
    [(Stiefel(), (2, 5, 3)), (Unitary(), (4, 4)), (Grassmann(), (5, 2)), (Sphere(), (6,)), (Euclidean(), (3, 2))],
)
def test_geometry(manifold, shape, dtype):
    x = manifold.point(manifold.nearest(random(*shape, dtype=dtype)))
    g = random(*shape, dtype=dtype)
    tangent = manifold.project(x, g)
    np.testing.assert_allclose(manifold.project(x, tangent), tangent, atol=1e-13)
    assert np.vdot(g - tangent, tangent).real == pytest.approx(0, abs=1e-12)
    vector = manifold.gradient(x, g)
    new, velocity = manifold.retract(x, 1e-5 * vector)
    np.testing.assert_allclose(new, x + 1e-5 * tangent, atol=1e-9)
    np.testing.assert_allclose(manifold.nearest(new), new, atol=1e-14)
    np.testing.assert_allclose(velocity, 1e-5 * vector, atol=1e-9)
    np.testing.assert_allclose(manifold.transport(x, 1e-5 * vector, new, vector[None])[0], vector, atol=1e-4)


@pytest.mark.parametrize("method", ["L-BFGS", "CG", "gradient"])
def test_lowest_subspace(method):
    a = random(8, 8)
    a = a + a.conj().T
    exact = np.linalg.eigvalsh(a)[:3].sum()
    start = Grassmann().nearest(random(8, 3))
    found = minimize_on(
        lambda x: qad.tr(x.conj().mT, a, x).real, start, method, manifold=Grassmann(), maxiter=3000, gtol=1e-5
    )
    assert found.fun == pytest.approx(exact, abs=1e-8)
    assert found.success
    assert found.history[-1] == found.fun
    assert np.all(np.diff(found.history) <= 1e-12)


def test_procrustes_on_stiefel():
    """The nearest isometry is the polar factor."""
    target = random(6, 3)
    found = minimize_on(
        lambda x: qad.abs2(x - target).sum(), Stiefel().nearest(random(6, 3)), manifold=Stiefel(), gtol=1e-9
    )
    np.testing.assert_allclose(found.params, Stiefel().nearest(target), atol=1e-7)


def test_products_and_trees():
    u = Unitary().nearest(random(3, 3))
    both = Product({"u": Unitary(), "rest": (Euclidean(), Sphere())})
    start = {"u": np.eye(3) + 0j, "rest": (np.zeros(2), np.array([1.0, 0.0, 0.0]))}

    def loss(p):
        a, b = p["rest"]
        return qad.abs2(p["u"] - u).sum() + ((a - 3.0) ** 2).sum() + (b - np.array([0.0, 0.6, 0.8])) @ (b - 1.0)

    found = minimize_on(loss, start, manifold=both, gtol=1e-8)
    np.testing.assert_allclose(found.params["u"], u, atol=1e-6)
    np.testing.assert_allclose(found.params["rest"][0], 3.0, atol=1e-6)
    assert np.linalg.norm(found.params["rest"][1]) == pytest.approx(1)


def test_without_a_constraint_it_agrees_with_minimize():
    def rosenbrock(x):
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    found = minimize_on(rosenbrock, np.zeros(4), manifold=Euclidean(), gtol=1e-8)
    np.testing.assert_allclose(found.params, minimize(rosenbrock, np.zeros(4)).params, atol=1e-5)


def test_a_metric_preconditions():
    scales = np.logspace(0, 6, 30)

    def loss(x):
        return (scales * (x - 1.0) ** 2).sum()

    plain = minimize_on(loss, np.zeros(30), "gradient", manifold=Euclidean(), maxiter=50)
    scaled = minimize_on(
        loss, np.zeros(30), "gradient", manifold=Euclidean(), maxiter=50, metric=lambda x, v, norm: v / scales
    )
    assert scaled.fun < 1e-12 < plain.fun


def test_no_first_step_is_longer_than_asked_for():
    """But an iteration may go further where the loss goes on falling."""
    seen = []

    def loss(x):
        seen.append(np.array(qad.stop_gradient(x)))
        return ((x - 5.0) ** 2).sum()

    found = minimize_on(loss, np.zeros(1), "gradient", manifold=Euclidean(), longest=0.25)
    assert found.fun < 1e-12
    np.testing.assert_allclose(np.concatenate(seen[:3]), [0.0, 0.25, 0.5])
    with pytest.raises(ArgumentError, match="longest"):
        minimize_on(loss, np.zeros(1), manifold=Euclidean(), longest=0.0)


@pytest.mark.parametrize("beyond", [-np.inf, np.nan])
def test_a_loss_that_is_no_number_turns_the_search_back(beyond):
    """Minus infinity was once the lowest loss of a search that said that it had converged."""

    def loss(x):
        inside = (qad.extend.value_of(x) > -3).all()
        return ((x + 3.5) ** 2).sum() if inside else beyond * np.sum(qad.abs2(x))

    found = minimize_on(loss, np.full(1, 10.0), manifold=Euclidean())
    assert found.fun == pytest.approx(0.25, abs=1e-4)
    np.testing.assert_allclose(found.params, -3, atol=1e-4)
    assert "points were rejected" in found.message


def test_callback_and_bad_input():
    def callback(params, value):
        raise StopIteration

    found = minimize_on(lambda x: x[0], np.array([0.6, 0.8]), manifold=Sphere(), callback=callback)
    assert found.interrupted
    assert found.nit == 1
    for manifold, start, match in [
        (Stiefel(), np.ones((2, 3)), "n >= p"),
        (Stiefel(), np.ones((3, 2)), "nearest"),
        (Unitary(), np.ones((3, 2)), "Stiefel"),
        (Sphere(), np.array([1, 0]), "astype"),
        (Product([Sphere()]), {"x": np.ones(1)}, "nested"),
    ]:
        with pytest.raises(ArgumentError, match=match):
            minimize_on(lambda x: x.sum(), start, manifold=manifold)
    with pytest.raises(ArgumentError, match="L-BFGS"):
        minimize_on(lambda x: x[0], np.array([0.6, 0.8]), "newton", manifold=Sphere())
    with pytest.raises(ArgumentError, match="starting"), np.errstate(invalid="ignore"):
        minimize_on(lambda x: np.log(-x[1]), np.array([0.6, 0.8]), manifold=Sphere())


def test_the_manifold_is_a_keyword():
    with pytest.raises(ArgumentError, match=r"Sphere\(\) is no function: write minimize_on\(fun, params, manifold="):
        minimize_on(Sphere(), lambda x: x[0], np.array([0.6, 0.8]), manifold=Sphere())
    with pytest.raises(TypeError, match="required keyword-only argument: 'manifold'"):
        minimize_on(Sphere(), lambda x: x[0], np.array([0.6, 0.8]))
