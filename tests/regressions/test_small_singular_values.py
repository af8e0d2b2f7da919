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


def seconds(loss, a, e):
    """Along `e`, in all three modes."""
    yield qad.hvp(loss, (a,), (e,))[0]
    yield qad.grad(lambda x: np.sum(e * qad.grad(loss)(x)))(a)
    yield qad.jvp(lambda x: qad.jvp(loss, (x,), (e,))[1], (a,), (e,))[1]


@pytest.mark.parametrize("small", [1e-3, 1e-6, 1e-8, 1e-9, 1e-11])
@pytest.mark.parametrize("name", FUNCTIONS)
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

    for each in list(seconds(of_product, a, E))[:2]:
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
