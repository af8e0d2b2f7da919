"""Losses that are stationary in the vectors: their cotangents are rounding, and are no dependence on a gauge."""

import numpy as np
import pytest

import qad
from tests.linalg.draw import apart, draw, herm, unitary, with_eigenvalues, with_values

LOSS_SCALES = [1e-12, 1e-6, 1.0, 1e6, 1e12]


def quotient(x, m):
    return ((x.conj() @ (m @ x)) / (x.conj() @ x)).real


def projector(a, i):
    """Of eigenvector number `i`."""
    v = np.linalg.eigh(a)[1][:, i]
    return np.outer(v, v.conj())


@pytest.mark.parametrize("scale", LOSS_SCALES)
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
def test_rayleigh_quotients(scale, size):
    """An eigenvector in the quotient of its own matrix: the gradient is that of the eigenvalue."""
    for seed in range(10):
        n = 2 + seed
        a = size * herm(draw(n, n, seed=seed))
        g = qad.grad(lambda m, n=n: scale * quotient(np.linalg.eigh(m)[1][:, n // 2], m))(a)
        np.testing.assert_allclose(g, scale * projector(a, n // 2), atol=1e-9 * scale)


@pytest.mark.parametrize("scale", LOSS_SCALES)
def test_fixed_operators(scale):
    """The whole gradient vanishes, and is rounding."""
    for seed in range(10):
        h = herm(draw(6, 6, seed=seed))
        g = qad.grad(lambda m, h=h: scale * quotient(np.linalg.eigh(m)[1][:, 0], h))(h)
        np.testing.assert_allclose(g, 0, atol=1e-11 * scale)


def variance(m, h):
    """``<H^2> - <H>^2`` in an eigenvector, which vanishes like its derivative."""
    x = np.linalg.eigh(m)[1][:, 1]
    y = h @ x
    return (y.conj() @ y).real - (x.conj() @ y).real ** 2


@pytest.mark.parametrize("size", [1e-2, 1.0, 10.0])
def test_converged_states(size):
    h = size * herm(draw(6, 6))
    np.testing.assert_allclose(qad.grad(lambda m: variance(m, h))(h), 0, atol=1e-11 * size)
    energy = quotient(np.linalg.eigh(h)[1][:, 0], h)
    for power in (1, 2):

        def f(m, p=power):
            return (quotient(np.linalg.eigh(m)[1][:, 0], h) - energy) ** p

        np.testing.assert_allclose(qad.grad(f)(h), 0, atol=1e-11 * size)


def test_zero_modes():
    """An eigenvalue that is zero says nothing of the size of its rounding."""
    for size in (1.0, 1e6):
        a = size * with_eigenvalues([-2, -1, 0, 1, 2])
        g = qad.grad(lambda m: quotient(np.linalg.eigh(m)[1][:, 2], m))(a)
        np.testing.assert_allclose(g, projector(a, 2), atol=1e-9)


def test_tapes_and_pullbacks_know_the_loss_too():
    a = 1e3 * herm(draw(5, 5))
    x = qad.tensor(a, requires_grad=True)
    (1e9 * quotient(np.linalg.eigh(x)[1][:, 0], x)).backward()
    np.testing.assert_allclose(x.grad / 1e9, projector(a, 0), atol=1e-9)
    pull = qad.vjp(lambda m: quotient(np.linalg.eigh(m)[1][:, 0], m), a)[1]
    np.testing.assert_allclose(pull(1e9)[0] / 1e9, projector(a, 0), atol=1e-9)


def test_second_order():
    """Hellmann and Feynman, differentiated: the product of the Hessian of an eigenvalue."""
    a, v = herm(draw(5, 5)), herm(draw(5, 5, seed=1))
    (by_vector,) = qad.hvp(lambda m: quotient(np.linalg.eigh(m)[1][:, 0], m), (a,), (v,))
    (by_value,) = qad.hvp(lambda m: np.linalg.eigvalsh(m)[0], (a,), (v,))
    np.testing.assert_allclose(herm(by_vector), by_value, atol=1e-10)


@pytest.mark.parametrize("scale", LOSS_SCALES)
def test_other_decompositions(scale):
    a = draw(5, 5)

    def largest(m):
        u, _, vh = np.linalg.svd(m)
        return scale * (u[:, 0].conj() @ m @ vh[0].conj()).real

    u, _, vh = np.linalg.svd(a)
    np.testing.assert_allclose(qad.grad(largest)(a), scale * np.outer(u[:, 0], vh[0]), atol=1e-9 * scale)

    def first(m):
        x = np.linalg.eig(m)[1][:, 0]
        return scale * quotient(x, m)

    h = herm(a)
    v = np.linalg.eig(h)[1][:, 0]
    np.testing.assert_allclose(qad.grad(first)(h), scale * np.outer(v, v.conj()), atol=1e-9 * scale)


@pytest.mark.parametrize("scale", LOSS_SCALES)
def test_degenerate_blocks(scale):
    """Every vector of a multiplet gives the energy of all."""
    h = with_eigenvalues([1, 1, 2, 3])
    g = qad.grad(lambda m: scale * quotient(np.linalg.eigh(m)[1][:, 0], h))(h)
    np.testing.assert_allclose(g, 0, atol=1e-11 * scale)
    a = with_values([2, 2, 1, 0])
    if scale <= 1:  # a loss that has vanished counts as one, whatever it was multiplied with
        g = qad.grad(lambda m: scale * np.sum((np.linalg.svdvals(m) - np.array([2, 2, 1, 0])) ** 2))(a)
        np.testing.assert_allclose(g, 0, atol=1e-11 * scale)


GAUGE = {
    "eigh": lambda a: np.linalg.eigh(herm(a))[1][1, 1].imag,
    "eigh, one overlap": lambda a: (draw(4) @ np.linalg.eigh(herm(a))[1][:, 0]).real,
    "svd": lambda a: np.linalg.svd(a)[0][1, 1].real,
    "eig": lambda a: np.linalg.eig(a)[1][1, 1].imag,
}


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("loss", GAUGE.values(), ids=GAUGE.keys())
def test_dependence_on_phases_still_raises(loss, size, scale):
    with pytest.raises(qad.QadError, match="phase"):
        qad.grad(lambda a: scale * loss(a))(size * draw(4, 4))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_dependence_on_multiplets_still_raises(size, scale):
    a = size * unitary(4)

    def rebuilt(a):
        u, s, vh = np.linalg.svd(a)
        return scale * np.sum((draw(4, 4) * ((apart(u) * s) @ vh)).real) / size

    with pytest.raises(qad.QadError, match="funm_svd"):
        qad.grad(rebuilt)(a)
    with pytest.raises(qad.QadError, match="degenerate"):
        qad.grad(lambda a: scale * np.linalg.svdvals(a)[0])(a)
