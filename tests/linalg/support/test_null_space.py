"""Matrices with a small singular value: functions that do not vanish there, and products that hide it."""

import numpy as np
import pytest

import qad
from qad import linalg as la

RNG = np.random.default_rng(1)
Q = np.linalg.qr(RNG.standard_normal((3, 3)))[0]
P = np.linalg.qr(RNG.standard_normal((3, 3)))[0]
W, E = RNG.standard_normal((2, 3, 3))
FUNCTIONS = {
    "polar": lambda s: 1.0 + 0 * s, "exp": lambda s: np.exp(-s), "cos": np.cos, "shifted": lambda s: s + 0.1,
}  # fmt: skip


MODES = (
    lambda loss, a, e: qad.hvp(loss, (a,), (e,))[0],
    lambda loss, a, e: qad.grad(lambda x: np.sum(e * qad.grad(loss)(x)))(a),
    lambda loss, a, e: qad.jvp(lambda x: qad.jvp(loss, (x,), (e,))[1], (a,), (e,))[1],
)


def seconds(loss, a, e):
    """Along `e`, in all three modes."""
    return [mode(loss, a, e) for mode in MODES]


@pytest.mark.parametrize("small", [1e-3, 1e-6, 1e-8, 1e-9, 1e-10])
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.sampled(10)
def test_square_matrices(name, small):
    """``U f(S) V^H`` is smooth in a real square matrix where one value is small, whatever f(0)."""
    f, a = FUNCTIONS[name], (Q * [1.0, 0.5, small]) @ P.T

    def by_factors(x):
        u, s, vh = np.linalg.svd(x)
        return np.sum(W * ((u * f(s)) @ vh))

    right = qad.hvp(by_factors, (a,), (E,))[0]
    *found, along = seconds(lambda x: np.sum(W * la.funm_svd(f, x)), a, E)
    for each in found:
        np.testing.assert_allclose(each, right, atol=1e-10)
    np.testing.assert_allclose(along, np.sum(E * right), atol=1e-10)


@pytest.mark.parametrize("small", [1e-3, 1e-6, 1e-9, 1e-11])
def test_losses_of_the_polar_factor(small):
    a = (Q * [1.0, 0.5, small]) @ P.T

    def of_product(x):  # U^T x is P, and U P is x
        u, p = la.polar(x)
        return np.sum(W * (u @ p))

    for each in seconds(of_product, a, E)[:2]:
        np.testing.assert_allclose(each, 0.0, atol=1e-6)


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4), (1, 3), (2, 2)])
@pytest.mark.parametrize("dtype", [float, complex])
def test_second_derivatives_of_every_shape(shape, dtype):
    rng = np.random.default_rng(3)

    def draw():
        x = rng.standard_normal(shape)
        return x + 1j * rng.standard_normal(shape) if dtype is complex else x

    a, w, e = draw(), draw(), draw()
    for f in (np.sinh, lambda s: s**2, lambda s: s + 0.1, lambda s: 1.0 + 0 * s):

        def by_factors(x, f=f):
            u, s, vh = np.linalg.svd(x, full_matrices=False)
            return np.sum((w * ((u * f(s)) @ vh)).real)

        def loss(x, f=f):
            return np.sum((w * la.funm_svd(f, x)).real)

        np.testing.assert_allclose(qad.hvp(loss, (a,), (e,))[0], qad.hvp(by_factors, (a,), (e,))[0], atol=1e-9)


B = RNG.standard_normal((3, 2))


def tall(small):
    return (Q[:, :2] * [1.0, small]) @ P[:2, :2]


def by_u(a):  # W.a, for u spans the columns
    u = np.linalg.svd(a, full_matrices=False)[0]
    return np.sum(B * (u @ (u.T @ a)))


def by_v(a):
    vh = np.linalg.svd(a.T, full_matrices=False)[2]
    return np.sum(B.T * ((a.T @ vh.T) @ vh))


def of_full(a):
    u = np.linalg.svd(a)[0][:, :2]
    return np.sum(B * (u @ (u.T @ a)))


def of_truncated(a):
    u = la.truncated_svd(a, 2)[0]
    return np.sum(B * (u @ (u.T @ a)))


@pytest.mark.parametrize("loss", [by_u, by_v, of_full, of_truncated])
@pytest.mark.parametrize("way", [qad.grad, lambda f: qad.grad(qad.freeze(f)), lambda f: qad.freeze(qad.grad(f))])
def test_the_space_of_a_matrix_of_lower_rank_has_no_derivative(loss, way):
    """The cotangent of the second vector has no part outside, but would have beside this matrix."""
    for a in (np.outer([1.0, 2, 3], [1, 1]), np.array([[1.0, 0], [0, 0], [0, 0]])):
        with pytest.raises(qad.errors.ArgumentError, match="degenerate"):
            way(loss)(a)
    np.testing.assert_allclose(way(loss)(tall(0.1)), B, atol=1e-12)


@pytest.mark.parametrize("small", [1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-11])
def test_vectors_that_rounding_turns(small):
    a, e = tall(small), E[:, :2]
    try:
        np.testing.assert_allclose(qad.grad(by_u)(a), B, atol=1e-5)
    except qad.errors.ArgumentError:
        assert small < 1e-10
    for mode in MODES:
        try:
            found = mode(by_u, a, e)
        except qad.errors.ArgumentError:
            assert small < 1e-5
        else:
            assert small > 1e-7
            np.testing.assert_allclose(found, 0.0, atol=1e-4)


@pytest.mark.parametrize("small", [1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9])
def test_functions_of_the_left_vectors(small):
    """``U f(S) U^H`` with f that vanishes like s**2: right, or refused where terms of f cancel."""
    a, e = tall(small), E[:, :2]
    for f, of_matrix in (
        (lambda s: np.exp(-s * s) - 1, lambda x: la.expm(-x @ x.T)),
        (lambda s: np.expm1(-s * s), lambda x: la.expm(-x @ x.T)),
        (lambda s: s**2, lambda x: x @ x.T),
        (lambda s: 1 / (1 + s * s) - 1, lambda x: np.linalg.inv(np.eye(3) + x @ x.T)),
        (lambda s: s * s / (1 + s * s), lambda x: -np.linalg.inv(np.eye(3) + x @ x.T)),
    ):

        def loss(x, f=f):
            u, s, _ = np.linalg.svd(x, full_matrices=False)
            return np.sum(W * ((u * f(s)) @ u.T))

        right = qad.hvp(lambda x, g=of_matrix: np.sum(W * g(x)), (a,), (e,))[0]
        try:
            found = qad.hvp(loss, (a,), (e,))[0]
        except qad.errors.ArgumentError:
            assert small < 1e-5
        else:
            np.testing.assert_allclose(found, right, atol=1e-5)


def energy_of_one(h):
    x = np.linalg.eigh(h)[1][:, 0]
    return x @ h @ x


def of_three(h):
    v = np.linalg.eigh(h)[1][:, :3]
    return np.sum(W4 * (v @ (v.T @ h)))


def of_three_left(h):
    u = np.linalg.svd(h)[0][:, :3]
    return np.sum(W4 * (u @ (u.T @ h)))


Q4 = np.linalg.qr(RNG.standard_normal((4, 4)))[0]
W4 = RNG.standard_normal((4, 4))


@pytest.mark.parametrize("loss, values", [
    (energy_of_one, [1, 1, 2, 3]), (of_three, [1, 1, 1, 1]), (of_three, [0, 0, 2, 2]), (of_three_left, [0, 0, 0, 2]),
])  # fmt: skip
def test_some_vectors_of_a_multiplet(loss, values):
    """The loss is alike for all of them at this matrix, and not beside it."""
    h = (Q4 * np.array(values, float)) @ Q4.T
    h = (h + h.T) / 2
    for way in (qad.grad, lambda f: qad.grad(qad.freeze(f))):
        with pytest.raises(qad.errors.ArgumentError, match="degenerate"):
            way(loss)(h)


def test_all_vectors_of_a_multiplet():
    h = (Q4 * np.array([1.0, 1, 2, 3])) @ Q4.T
    h = (h + h.T) / 2

    def energy(h):
        v = np.linalg.eigh(h)[1][:, :2]
        return np.trace(v.T @ h @ v)

    right = qad.grad(lambda h: np.linalg.eigvalsh(h)[:2].sum())(h)
    np.testing.assert_allclose(qad.grad(energy)(h), right, atol=1e-12)
