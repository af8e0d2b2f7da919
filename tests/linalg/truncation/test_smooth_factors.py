"""The two factors of `split`: near degeneracy, to third order, at every shape and scale."""

import numpy as np
import pytest

import qad
from qad.linalg import split


def random(*shape, seed=0):
    rng = np.random.default_rng(seed + 10)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def with_spectrum(s, m, n, seed=0):
    """A random complex matrix (m, n) with these singular values."""
    u, v = (np.linalg.qr(random(k, k, seed=seed + k))[0] for k in (m, n))
    return u[:, : len(s)] * s @ v[:, : len(s)].conj().T


def product(rank):
    def truncated(a):
        p, q = split(a, rank)
        return p @ q

    return truncated


@pytest.mark.parametrize("shape", [(6, 6), (8, 5), (5, 8)])
@pytest.mark.parametrize("rank", [1, 3, 5, None])
@pytest.mark.sampled(4)
def test_random_matrices(shape, rank):
    a = random(*shape)
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    p, q = split(a, rank)
    assert np.allclose(p @ q, u[:, :rank] * s[:rank] @ vh[:rank], rtol=0, atol=1e-14)
    assert np.allclose(p.conj().T @ p, q @ q.conj().T, rtol=0, atol=1e-13)
    qad.check_grads(product(rank), (a,), rtol=3e-8)
    qad.check_grads(product(rank), (a.real,), rtol=1e-6)  # its gaps are small


@pytest.mark.parametrize("gap", [0.0, 1e-12, 1e-9, 1e-6, 1e-4])
def test_multiplets_inside_of_what_is_kept_and_dropped(gap):
    s = np.array([3.0, 2.0, 2.0 - gap, 2.0 - 2 * gap, 0.5, 0.5 - gap, 0.1])
    qad.check_grads(product(4), (with_spectrum(s, 7, 8),))


def test_factors_are_balanced_to_every_order():
    a = with_spectrum(np.array([3.0, 2.0, 2.0, 1.0, 0.5]), 6, 5)

    def unbalanced(a):
        p, q = split(a, 3)
        return p.conj().mT @ p - q @ q.conj().mT

    def invariant(a):
        p, q = split(a, 3)
        square = p.conj().mT @ p
        return np.trace(square @ square @ square).real, np.trace(q @ q.conj().mT @ square).real

    w = random(6, 5, seed=1)
    assert np.allclose(qad.jvp(lambda a: qad.jvp(unbalanced, (a,), (w,))[1], (a,), (w,))[1], 0, atol=1e-12)
    qad.check_grads(invariant, (a,))


def test_unitary_matrices_are_kept_whole():
    u = np.linalg.qr(random(5, 5))[0]
    w = random(5, 5, seed=1)
    g = qad.grad(lambda a: (w.conj() * product(5)(a)).real.sum())(u)
    assert np.allclose(g, w, rtol=0, atol=1e-13)


def test_third_order():
    a, w = random(5, 4), random(5, 4, seed=1)

    def curvature(a):
        return qad.hvp(lambda a: (w * product(2)(a)).real.sum(), (a,), (w,))[0]

    qad.check_grads(curvature, (a,), order=1, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scales(scale):
    a, w = random(5, 4), random(5, 4, seed=1)
    expected = qad.grad(lambda a: (w * product(2)(a)).real.sum())(a)
    assert np.allclose(qad.grad(lambda a: (w * product(2)(a)).real.sum())(scale * a), expected, rtol=0, atol=1e-12)


def test_single_precision():
    a = random(5, 4).astype(np.complex64)
    p, q = qad.vjp(lambda a: split(a, 2), a)[0]
    assert p.dtype == q.dtype == np.complex64
    qad.check_grads(product(2), (a,), order=1)
