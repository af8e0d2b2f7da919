"""Products of manifolds: factors of one kind move as a stack, and nothing else changes."""

import numpy as np
import pytest

from qad.optimize import Euclidean, Grassmann, Product, Sphere, Stiefel, Unitary, minimize_on

RNG = np.random.default_rng(0)


class Own(Stiefel):
    """A manifold of somebody else, of which nobody knows that leading axes are batches."""


def isometry(n, p, dtype=float):
    x = RNG.normal(size=(n, p)) + (1j * RNG.normal(size=(n, p)) if dtype is complex else 0)
    return np.linalg.qr(x)[0]


SHAPES = [(4, 2), (6, 3), (4, 2), (4, 2), (5, 1), (6, 3)]  # of neighbours, and of those that are not
TOGETHER = [0, 2, 3, 1, 5, 4]  # those of one shape beside each other


@pytest.mark.parametrize("dtype", [float, complex])
def test_stacks_are_their_factors(dtype):
    params = [isometry(*SHAPES[i], dtype) for i in TOGETHER]  # in this order vectors of both products are the same
    single = Product([Own()] * len(params))
    stacked, order = Product([Stiefel()] * len(params)), np.argsort(TOGETHER)
    mixed = [params[i] for i in order]
    points, singles = stacked.point(mixed), single.point(params)
    gradient = [RNG.normal(size=x.shape).astype(dtype) for x in params]
    one, two = stacked.gradient(points, [gradient[i] for i in order]), single.gradient(singles, gradient)
    np.testing.assert_allclose(one, two, atol=1e-14)
    (new, velocity), (other, same) = stacked.retract(points, 0.3 * one), single.retract(singles, 0.3 * one)
    np.testing.assert_allclose(velocity, same, atol=1e-14)
    for i, own, x in zip(order, stacked.params(new), mixed, strict=True):
        np.testing.assert_allclose(own, single.params(other)[i], atol=1e-14)
        assert own.shape == x.shape
        np.testing.assert_allclose(own.conj().T @ own, np.eye(x.shape[1]), atol=1e-14)
    rows = RNG.normal(size=(3, one.size))
    moved = stacked.transport(points, one, new, rows)
    np.testing.assert_allclose(moved, single.transport(singles, one, other, rows), atol=1e-13)
    np.testing.assert_allclose(stacked.transport(points, one, new, rows[1:2])[0], moved[1], atol=1e-14)


def test_a_product_of_all_kinds():
    """Of several manifolds, real and complex; each row of vectors is projected for itself on spheres, too."""
    both = Product([Sphere(), Unitary(), Sphere(), Euclidean(), Grassmann(), Euclidean()])
    point = both.point([np.array([0.6, 0.8]), isometry(2, 2, complex), np.array([0, 1j, 0]), np.ones(2),
                        isometry(3, 1), np.zeros(2)])  # fmt: skip
    order, sizes = [0, 1, 2, 3, 5, 4], [2, 8, 6, 2, 2, 3]  # those of one kind beside each other
    rows = RNG.normal(size=(4, sum(sizes)))
    new, _ = both.retract(point, 0.1 * rows[0])
    moved = both.transport(point, 0.1 * rows[0], new, rows)
    for i, part, its in zip(order, np.split(rows, np.cumsum(sizes)[:-1], axis=1),
                            np.split(moved, np.cumsum(sizes)[:-1], axis=1), strict=True):  # fmt: skip
        manifold, x = both.factors[i], both.params(new)[i]
        for vector, own in zip(part, its, strict=True):
            array = (vector.view(complex) if x.dtype == complex else vector).reshape(x.shape)
            expected = manifold.project(x, array)
            np.testing.assert_allclose(own, np.ravel(expected).view(float), atol=1e-14)


def test_numbers_beside_isometries():
    """A number is an array without axes: alone, and twice in a product."""
    alone = minimize_on(lambda x: (x - 2) ** 2, np.array(1.0), manifold=Euclidean())
    assert alone.params == pytest.approx(2.0)

    def loss(x):
        return x["line"][:, 0] @ np.diag([3.0, 1.0, 2.0]) @ x["line"][:, 0] + (x["a"] - 2) ** 2 + (x["b"] + 3) ** 2

    kinds = Product({"line": Grassmann(), "a": Euclidean(), "b": Euclidean()})
    found = minimize_on(loss, {"line": np.full((3, 1), 3**-0.5), "a": 0.5, "b": 1.0}, manifold=kinds)
    assert (found.success, found.fun) == (True, pytest.approx(1.0))
    assert (found.params["a"], found.params["b"]) == (pytest.approx(2.0), pytest.approx(-3.0))


def test_thirty_one_small_isometries():
    """The sum of ``-tr(a^T x)`` has its minimum at the polar factors: minus the sum of all singular values."""
    targets = [RNG.normal(size=(8, 4) if k % 3 else (5, 4)) for k in range(31)]
    exact = -sum(np.linalg.svd(a, compute_uv=False).sum() for a in targets)
    start = [np.linalg.qr(a + RNG.normal(size=a.shape))[0] for a in targets]
    calls = []

    def loss(xs):
        calls.append(1)
        return -sum((a * x).sum() for a, x in zip(targets, xs, strict=True))

    found = minimize_on(loss, start, manifold=Product([Stiefel()] * 31))
    assert found.fun == pytest.approx(exact, abs=1e-8)
    assert len(calls) == found.nfev <= 1.5 * found.nit


def test_kinds_move_together(monkeypatch):
    """What it costs to move does not grow with the number of factors, but with that of their shapes."""
    calls = []
    project = Stiefel.project
    monkeypatch.setattr(Stiefel, "project", lambda self, x, a: calls.append(x.shape) or project(self, x, a))
    points = [isometry(4, 2) for _ in range(31)]
    minimize_on(lambda xs: sum(x.sum() for x in xs), points, manifold=Product([Stiefel()] * 31), maxiter=5)
    assert set(calls) == {(31, 4, 2)}


def test_without_a_reach_the_steps_are_the_same():
    """What L-BFGS remembers is carried along at each step there, and seldom where a projection carries it."""

    class Carried(Own):
        reach = 0.0

    matrix = RNG.normal(size=(12, 12))
    matrix, start = matrix @ matrix.T, isometry(12, 3)
    seldom, always = (
        minimize_on(lambda x: (x * (matrix @ x) * np.arange(1.0, 4.0)).sum(), start, manifold=manifold, memory=3)
        for manifold in (Stiefel(), Carried())
    )
    exact = np.linalg.eigvalsh(matrix)[:3] @ [3.0, 2.0, 1.0]
    assert seldom.fun == pytest.approx(exact, rel=1e-9)
    assert always.fun == pytest.approx(exact, rel=1e-9)
    np.testing.assert_array_equal(seldom.history[:4], always.history[:4])  # the first steps are long
    assert abs(seldom.nit - always.nit) < 0.2 * always.nit


def test_a_flat_start_takes_few_evaluations():
    """Steps grow from 1e-9 by 2, 4, 8, ...; by doubling the first iteration gave up after 5e-4 of the way."""
    goal = np.array([0.0, 0.6, 0.8])
    found = minimize_on(lambda x: -1e-9 * (x @ goal), np.array([1.0, 0.0, 0.0]), manifold=Sphere(), gtol=1e-15,
                        ftol=0.0, maxiter=1)  # fmt: skip
    assert found.nfev <= 10
    assert found.params @ goal > 0.99


def test_polar_factors_far_from_isometries():
    """Singular values from 1 to 1e-6: the polar factor is right to the precision of these."""
    u, v = isometry(6, 3), isometry(3, 3)
    for values in ([1.0, 0.9, 0.8], [1.0, 1e-3, 1e-6], [2.0, 2.0, 1e-9]):
        np.testing.assert_allclose(Stiefel().nearest((u * values) @ v.T), u @ v.T, atol=1e-6)
    near = Stiefel().nearest((u * [1.5, 1.0, 0.6]) @ v.T)
    np.testing.assert_allclose(near, u @ v.T, atol=1e-14)
