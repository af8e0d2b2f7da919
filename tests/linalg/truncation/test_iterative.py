"""Truncations without the full decomposition: values and derivatives against the closed form."""

import numpy as np
import pytest

import qad
from qad import linalg as la
from qad.linalg.krylov.block_lanczos import triples
from tests.linalg.draw import draw, herm, with_eigenvalues, with_values

DECAY = 0.7 ** np.arange(40)
SHAPES = [(60, 40), (40, 60), (40, 40)]


def svd_loss(shape, real):
    """All that a truncated SVD determines, mixed."""
    w, p = draw(*shape, real=real, seed=5), draw(shape[0], shape[0], real=real, seed=6)

    def loss(a, **how):
        u, s, vh, error = la.truncated_svd(a, 3, **how)
        mixed = np.sum((w * ((u * np.exp(-s)) @ vh)).real) + np.sum((p * (u @ u.conj().mT)).real)
        return mixed if error is None else mixed + error

    return loss


def eigh_loss(a, **how):
    w, v, error = la.truncated_eigh(a, 3, **how)
    mixed = np.sum((draw(40, 40, seed=5) * ((v * np.exp(-w)) @ v.conj().mT)).real)
    return mixed if error is None else mixed + error


def close(x, y):
    np.testing.assert_allclose(x, y, rtol=0, atol=1e-9 * np.abs(y).max())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("real", [False, True])
@pytest.mark.sampled(1)
def test_svd_agrees_with_the_closed_form(shape, real):
    a, v, loss = with_values(DECAY, *shape, real=real), draw(*shape, real=real, seed=3), svd_loss(shape, real)
    fast, full = (lambda a, m=m: loss(a, method=m) for m in ("iterative", "full"))
    assert abs(fast(a) - full(a)) < 1e-12
    close(qad.grad(fast)(a), qad.grad(full)(a))
    close(qad.jvp(fast, (a,), (v,))[1], qad.jvp(full, (a,), (v,))[1])
    close(qad.hvp(fast, (a,), (v,))[0], qad.hvp(full, (a,), (v,))[0])


def test_svd_of_a_function_agrees():
    a, loss = with_values(DECAY, 60, 40), svd_loss((60, 40), False)
    fast = qad.grad(lambda a: loss(lambda v: a @ v, v0=np.ones(40)))(a)
    close(fast, qad.grad(lambda a: loss(a, method="full") - la.truncated_svd(a, 3)[3])(a))


def test_eigh_agrees_with_the_closed_form():
    signs = (-1.0) ** np.arange(40)
    a, v = with_eigenvalues(DECAY * signs), herm(draw(40, 40, seed=3))
    fast, full = (lambda a, m=m: eigh_loss(a, method=m) for m in ("iterative", "full"))
    assert abs(fast(a) - full(a)) < 1e-12
    close(qad.grad(fast)(a), qad.grad(full)(a))
    close(qad.hvp(fast, (a,), (v,))[0], qad.hvp(full, (a,), (v,))[0])
    by_function = qad.grad(lambda t: eigh_loss(lambda x: np.cos(t) * (a @ x), v0=np.ones(40)))(0.3)
    close(by_function, qad.grad(lambda t: eigh_loss(np.cos(t) * a) - la.truncated_eigh(np.cos(t) * a, 3)[2])(0.3))


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scales(scale):
    a = with_values(DECAY)
    total = qad.grad(lambda a: np.sum(la.truncated_svd(a, 3, method="iterative")[1]))
    close(total(a * scale), total(a))


def test_single_precision():
    a = with_values(DECAY)
    gradient = qad.grad(lambda a: svd_loss((40, 40), False)(a, method="iterative"))
    single = gradient(a.astype(np.complex64))
    assert single.dtype == np.complex64
    np.testing.assert_allclose(single, gradient(a), atol=1e-3)


def test_multiplets_are_kept_whole():
    """A block finds them, whatever the gauge."""
    a = with_values(np.r_[2, 1, 1, 0.5, 0.3 * 0.5 ** np.arange(36)])

    def loss(a, method):
        _, s, _, error = la.truncated_svd(a, 3, method=method)
        return np.sum(s**3) + error

    close(qad.grad(lambda a: loss(a, "iterative"))(a), qad.grad(lambda a: loss(a, "full"))(a))
    assert la.truncated_svd(a, 2, method="iterative", multiplets="drop")[1].shape == (1,)


def test_a_large_matrix_goes_either_way():
    """Iteratively where its values decay; by the full decomposition where they are zero or do not."""
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((1024, 3)), rng.standard_normal((3, 1024))
    a = left @ right
    s = la.truncated_svd(a, 3)[1]
    np.testing.assert_allclose(s, la.truncated_svd(a, 3, method="iterative")[1], rtol=1e-12)
    np.testing.assert_allclose(np.sum(s**2), np.sum(a**2), rtol=1e-12)


A = with_values(DECAY)
ERRORS = [
    ("degenerate", lambda: la.truncated_svd(np.eye(60), 3, method="iterative", multiplets="cut"), "degenerate"),
    ("zero", lambda: la.truncated_svd(with_values(np.r_[2, 1, np.zeros(38)]), 3, method="iterative"), "zero to round"),
    ("batch", lambda: la.truncated_svd(np.stack([A, A]), 3, method="iterative"), "one matrix"),
    ("rank", lambda: la.truncated_svd(lambda x: A @ x, v0=np.ones(40)), "max_rank"),
    ("start", lambda: la.truncated_svd(lambda x: A @ x, 3), "needs v0"),
    ("zero start", lambda: la.truncated_svd(lambda x: A @ x, 3, v0=np.zeros(40)), "not zero"),
    ("method", lambda: la.truncated_svd(A, 3, method="lanczos"), "method='lanczos'"),
    ("shape", lambda: la.truncated_svd(lambda x: A @ x[:, 0], 3, v0=np.ones(40)), r"shape \(40,\)"),
    ("nan", lambda: la.truncated_svd(lambda x: np.nan * x, 3, v0=np.ones(40)), "is nan"),
    ("not Hermitian", lambda: la.truncated_eigh(lambda x: A @ x, 3, v0=np.ones(40)), "not Hermitian"),
    ("not Hermitian matrix", lambda: la.truncated_eigh(A, 3, method="iterative"), "not Hermitian"),
]


@pytest.mark.parametrize("call, words", [e[1:] for e in ERRORS], ids=[e[0] for e in ERRORS])
def test_errors(call, words):
    with pytest.raises(qad.QadError, match=words):
        call()


def test_no_convergence_is_reported():
    a = np.diag(np.linspace(2, 0, 200))
    with pytest.raises(qad.QadError, match="after 1 restarts the residual of 3"):
        triples(lambda x: a @ x, lambda x: a @ x, np.ones(200), 3, "truncated_svd", restarts=1)
