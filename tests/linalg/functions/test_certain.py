"""Functions of matrices that are computed with cancellation: derivatives are right, or refused."""

import math

import mpmath
import numpy as np
import pytest

import qad
from qad import linalg as la
from qad.core.errors import ArgumentError

Q1 = np.linalg.qr(np.random.default_rng(0).standard_normal((2, 2)))[0]
Q2 = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 2)))[0]
E = np.random.default_rng(2).standard_normal((2, 3))
W = np.random.default_rng(3).standard_normal((2, 3))
SMALL = 1e-3, 1e-5, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-13
CANCELLING = {  # and the same function without cancellation
    "2 sinh": (lambda s: np.exp(s) - np.exp(-s), lambda s: 2 * np.sinh(s)),
    "expm1": (lambda s: np.exp(s) - 1, np.expm1),
    "root": (lambda s: np.sqrt(1 + s * s) - 1, lambda s: s * s / (1 + np.sqrt(1 + s * s))),
    "shifted": (lambda s: (s + 0.1) ** 2 - 0.01, lambda s: s * (s + 0.2)),
    "cosine": (lambda s: 1 - np.cos(s), lambda s: 2 * np.sin(s / 2) ** 2),
}
cases = pytest.mark.parametrize("f, stable", CANCELLING.values(), ids=CANCELLING)


def by_hand(f, x):
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return (u * f(s)) @ vh


def found(derivative, *args):
    """The derivative, or None where it is refused."""
    try:
        return derivative(*args)
    except ArgumentError:
        return None


def matrices(shape):
    """Those with the small singular values, a direction and weights."""
    e, w = (E, W) if shape == (2, 3) else (E.T, W.T)
    for small in SMALL:
        a = (Q1 * [1, small]) @ Q2.T
        yield small, (a if shape == (2, 3) else a.T), e, w


@pytest.mark.parametrize("function", [la.funm_svd, by_hand])
@pytest.mark.parametrize("shape", [(2, 3), (3, 2)])
@cases
@pytest.mark.sampled(1)
def test_derivatives_are_those_of_the_spelling_that_does_not_cancel(f, stable, shape, function):
    for small, a, e, w in matrices(shape):
        loss, right = lambda x, w=w: np.sum(w * function(f, x)), lambda x, w=w: np.sum(w * la.funm_svd(stable, x))
        np.testing.assert_allclose(qad.grad(loss)(a), qad.grad(right)(a), atol=1e-8)
        second = found(lambda a, e, loss=loss: qad.hvp(loss, (a,), (e,))[0], a, e)
        twice = found(lambda a, e, loss=loss: qad.jvp(lambda a: qad.jvp(loss, (a,), (e,))[1], (a,), (e,))[1], a, e)
        if small > 1e-11:
            assert second is not None and twice is not None
        if second is not None:
            expected, atol = qad.hvp(right, (a,), (e,))[0], 1e-8 if f(0.0) == 0 else 1e-4
            np.testing.assert_allclose(second, expected, atol=atol)
            np.testing.assert_allclose(twice, np.sum(e * expected), atol=atol)


SCALED = [(name, scale) for scale in (1e-4, 1e-8) for name in CANCELLING if CANCELLING[name][0](scale)]  # else rounding


@pytest.mark.parametrize("name, scale", SCALED)
@pytest.mark.parametrize("shape", [(2, 3), (3, 2)])
@pytest.mark.sampled(1)
def test_small_matrices(name, shape, scale):
    f, stable = CANCELLING[name]
    for _, a, e, w in matrices(shape):
        loss, right = lambda x, w=w: np.sum(w * la.funm_svd(f, x)), lambda x, w=w: np.sum(w * la.funm_svd(stable, x))
        slope, expected = found(qad.grad(loss), scale * a), qad.grad(right)(scale * a)
        if slope is not None:
            np.testing.assert_allclose(slope, expected, rtol=0, atol=2e-5 * np.abs(expected).max())
        slope, curvature, expected = np.abs(expected).max(), *(found(second_of(x, e), scale * a) for x in (loss, right))
        if curvature is not None and expected is not None:
            atol = 1e-4 * np.abs(expected).max() + 1e-7 * slope / scale
            np.testing.assert_allclose(curvature, expected, rtol=0, atol=atol)


def second_of(loss, e):
    return lambda a: qad.hvp(loss, (a,), (e,))[0]


EXACT = {
    "2 sinh": lambda s: 2 * mpmath.sinh(s), "expm1": mpmath.expm1, "root": lambda s: mpmath.sqrt(1 + s * s) - 1,
    "shifted": lambda s: s * (s + mpmath.mpf(0.1) * 2), "cosine": lambda s: 1 - mpmath.cos(s),
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("small", [1e-3, 1e-8, 1e-10])
def test_second_derivatives_in_many_digits(name, small):
    def loss(a):
        u, s, v = mpmath.svd(a)
        f = u * mpmath.diag([EXACT[name](x) for x in s]) * v
        return mpmath.fsum(f[i, j] * W[i, j] for i in range(2) for j in range(3))

    a = (Q1 * [1, small]) @ Q2.T
    with mpmath.workdps(110):
        h, m, e = mpmath.mpf(10) ** -30, mpmath.matrix(a.tolist()), mpmath.matrix(E.tolist())
        right = float((loss(m + h * e) - 2 * loss(m) + loss(m - h * e)) / h**2)
    for function in (la.funm_svd, by_hand):
        found = np.sum(E * qad.hvp(lambda x, g=function: np.sum(W * g(CANCELLING[name][0], x)), (a,), (E,))[0])
        np.testing.assert_allclose(found, right, rtol=2e-6)


def exponential_from_second(w):
    """``exp(w) - 1 - w``."""
    return sum(w**k / math.factorial(k) for k in range(2, 22))


@pytest.mark.parametrize("gap", [1e-3, 1e-5, 1e-7, 1e-9, 1e-11])
@pytest.mark.parametrize("f, stable", [
    (lambda w: np.exp(w) - 1, np.expm1), (lambda w: np.exp(w) - np.exp(-w), lambda w: 2 * np.sinh(w)),
    (lambda w: 1 - np.cos(w), lambda w: 2 * np.sin(w / 2) ** 2),
    (lambda w: np.exp(w) - 1 - w, exponential_from_second), (lambda w: 1e3 + w - 1e3, lambda w: w),
])  # fmt: skip
@pytest.mark.sampled(2)
def test_hermitian_matrices(f, stable, gap):
    q = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    x, e = np.random.default_rng(1).standard_normal((2, 4, 4))
    e = e + e.T
    for center in (0.0, 1e-6, -1e-3, 0.3):
        a = (q * [center - gap, center, center + gap, 1.0]) @ q.T
        a = (a + a.T) / 2
        loss, right = lambda a: np.sum(x * la.funm_herm(f, a)), lambda a: np.sum(x * la.funm_herm(stable, a))
        itself = f(0.5) == np.exp(0.5) - 1.5  # its slope cancels as well
        np.testing.assert_allclose(qad.grad(loss)(a), qad.grad(right)(a), atol=1e-5 if itself else 1e-10)
        second = found(second_of(loss, e), a)
        if second is None:
            assert itself and gap < 1e-3
        else:
            np.testing.assert_allclose(second, second_of(right, e)(a), atol=1e-4 if itself else 1e-6)


def test_derivatives_that_cancel_themselves_are_refused_or_right():
    for small in (1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10):
        a = (Q1 * [1, small]) @ Q2.T
        got = found(qad.grad(lambda x: np.sum(W * la.funm_svd(lambda s: (1 - np.cos(s)) / s, x))), a)
        if got is not None:
            right = qad.grad(lambda x: np.sum(W * la.funm_svd(lambda s: 2 * np.sin(s / 2) ** 2 / s, x)))(a)
            np.testing.assert_allclose(got, right, atol=1e-4 * np.abs(right).max())


def test_curvature_beside_a_null_space_is_refused_where_rounding_turns_the_vectors():
    for f in (lambda s: s**2, lambda s: s**1.5):
        for small in (2e-14, 6.6e-15):
            a = (Q1 * [1, small]) @ Q2.T
            with pytest.raises(ArgumentError, match="order 2"):
                qad.hvp(lambda x, f=f: np.sum(W * la.funm_svd(f, x)), (a,), (E,))
