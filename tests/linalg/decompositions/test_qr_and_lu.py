"""Derivatives of QR, LQ and LU of nearly dependent columns: right, or refused."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError


def orthogonal(rng, n, kind="f"):
    noise = rng.standard_normal((2, n, n))
    return np.linalg.qr(noise[0] + (1j * noise[1] if kind == "c" else 0.0))[0]


def with_values(rng, m, n, least, kind="f"):
    """A matrix of singular values from 1 to `least`."""
    k = min(m, n)
    return (orthogonal(rng, m, kind)[:, :k] * np.geomspace(1, least, k)) @ orthogonal(rng, n, kind)[:k]


def right_or_refused(compute, right, size=1.0):
    """Whether a result is right; False where it is refused."""
    try:
        found = compute()
    except ArgumentError:
        return False
    assert np.abs(found - right).max() < 1e-4 * size
    return True


def qr_product(a):
    q, r = np.linalg.qr(a)
    return q @ r


def lq_product(a):
    low, q = qad.linalg.lq(a)
    return low @ q


def lu_product(a):
    p, low, up = qad.linalg.lu(a)
    return p @ (low @ up)


LEAST = [1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12]


@pytest.mark.parametrize("least", LEAST)
@pytest.mark.parametrize("product", [qr_product, lq_product, lu_product])
@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 5), (3, 3), (4, 3), (5, 2)])
@pytest.mark.parametrize("kind", "fc")
@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.sampled(20)
def test_products_of_factors_have_no_second_derivative_or_are_refused(least, product, shape, kind, graded):
    rng = np.random.default_rng(0)
    (w, e), a = rng.standard_normal((2, *shape)), with_values(rng, *shape, least, kind)
    if graded:
        a = rng.standard_normal(shape) * np.geomspace(least, 1, shape[1])
        a = a + (1j * a[::-1] if kind == "c" else 0.0)

    def loss(x):
        return np.sum(w * product(x)).real

    def slope(x):
        return qad.jvp(loss, (x,), (e,))[1]

    first = right_or_refused(lambda: qad.grad(loss)(a), w)
    assert first or least < 1e-8
    right_or_refused(lambda: slope(a), np.sum(w * e))
    done = [
        right_or_refused(lambda: qad.hvp(loss, (a,), (e,))[0], 0.0),
        right_or_refused(lambda: qad.grad(lambda x: np.sum(e * qad.grad(loss)(x)).real)(a), 0.0),
        right_or_refused(lambda: qad.jvp(slope, (a,), (e,))[1], 0.0),
        right_or_refused(lambda: qad.grad(slope)(a), 0.0),
    ]
    assert all(done) or least < 1e-3


@pytest.mark.parametrize("least", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("shape", [(2, 2), (2, 4)])
def test_the_last_pivot_is_not_divided_by(least, shape):
    rng = np.random.default_rng(1)
    a, w, e = with_values(rng, *shape, least), *rng.standard_normal((2, *shape))

    def loss(x):
        return np.sum(w * lu_product(x))

    np.testing.assert_allclose(qad.grad(loss)(a), w, atol=1e-12)
    np.testing.assert_allclose(qad.hvp(loss, (a,), (e,))[0], 0.0, atol=1e-9)
    assert abs(qad.jvp(lambda x: qad.jvp(loss, (x,), (e,))[1], (a,), (e,))[1]) < 1e-9


@pytest.mark.parametrize("least", [1e-6, 1e-8])
def test_tall_matrices_of_full_rank_keep_their_first_derivatives(least):
    rng = np.random.default_rng(2)
    a, w, v = with_values(rng, 8, 4, least), *rng.standard_normal((2, 8, 4))

    def loss(x):
        q, r = np.linalg.qr(x)
        return np.sum(v * (q @ r)) + np.sum(w * (q @ (q.T @ v)))

    assert np.isfinite(qad.grad(loss)(a)).all()
    assert np.isfinite(qad.jvp(loss, (a,), (w,))[1])


def test_columns_of_other_sizes_are_no_reason_to_refuse_a_determinant():
    rng = np.random.default_rng(3)
    a = rng.standard_normal((3, 3)) * [1e-3, 1e-2, 1.0]
    e = rng.standard_normal((3, 3)) * [1e-3, 1e-2, 1.0]
    inverse = np.linalg.inv(a)
    for factor in (lambda x: np.linalg.qr(x)[1], lambda x: qad.linalg.lu(x)[2]):

        def loss(x, factor=factor):
            return np.sum(np.log(np.abs(np.diagonal(factor(x)))))

        np.testing.assert_allclose(qad.grad(loss)(a), inverse.T, rtol=1e-6)
        second = qad.hvp(loss, (a,), (e,))[0]
        right = -(inverse @ e @ inverse).T
        assert np.abs(second - right).max() < 1e-6 * np.abs(right).max()


def test_single_precision_refuses_earlier():
    rng = np.random.default_rng(4)
    a = with_values(rng, 5, 3, 1e-2).astype(np.float32)
    w, e = rng.standard_normal((2, 5, 3)).astype(np.float32)
    a[:, 0] *= np.float32(3e-2)
    with pytest.raises(ArgumentError, match="derivative of order 2"):
        qad.hvp(lambda x: np.sum(w * qr_product(x)), (a,), (e,))
