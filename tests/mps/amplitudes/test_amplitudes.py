"""Amplitudes of many configurations, their logarithms and gradients, and samples, against dense states."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import MPS
from qad.mps.amplitudes.prefix_trees import Words
from tests.cases import Case

PERIODIC = pytest.mark.parametrize("periodic", [False, True], ids=["open", "periodic"])
DTYPE = pytest.mark.parametrize("dtype", [float, complex], ids=["real", "complex"])


MIXED = tuple(t * (1j if site == 2 else 1.0) for site, t in enumerate(MPS.random(4, 2, seed=1, dtype=float).tensors))


def some(count, n, phys=2, seed=0):
    return np.random.default_rng(seed).integers(0, phys, (count, n))


SMALL = some(7, 4)
CASES = [
    Case(lambda *t: MPS(t).amplitudes(SMALL), MPS.random(4, 2, seed=1, periodic=ring).tensors, name="amplitudes")
    for ring in (False, True)
] + [Case(lambda *t: MPS(t).amplitudes(SMALL), MIXED, name="amplitudes of a real chain with one complex tensor")]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    case.check()


@PERIODIC
@DTYPE
@pytest.mark.parametrize("n, phys, count", [(1, 2, 3), (6, 2, 1), (7, 2, 500), (5, 3, 200), (10, 2, 2000)])
def test_against_dense(n, phys, count, dtype, periodic):
    psi = MPS.random(n, 3, phys, dtype, seed=1, periodic=periodic)
    words = some(count, n, phys)
    expected = psi.to_dense()[tuple(words.T)]
    np.testing.assert_allclose(psi.amplitudes(words), expected, atol=1e-13)
    np.testing.assert_allclose(np.exp(psi.log_amplitudes(words)), expected, atol=1e-13)
    assert psi.amplitudes(words).dtype == np.dtype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_weights_in_double_precision_of_a_chain_in_single(dtype):
    psi, words, weights = MPS.random(6, 3, dtype=dtype, seed=3), some(40, 6), np.linspace(-1, 1, 40)
    found = qad.grad(lambda psi: (psi.amplitudes(words) * weights).sum().real)(psi)
    expected = qad.grad(lambda psi: (psi.to_dense()[tuple(words.T)] * weights).sum().real)(psi)
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == np.dtype(dtype)
        np.testing.assert_allclose(a, b, atol=1e-5)


@PERIODIC
@DTYPE
def test_gradients_against_dense(dtype, periodic):
    psi, words = MPS.random(8, 3, dtype=dtype, seed=2, periodic=periodic), some(300, 8)

    def loss(a):
        return (abs(a) ** 2 * np.arange(300)).sum()

    found = qad.grad(lambda psi: loss(psi.amplitudes(words)))(psi)
    expected = qad.grad(lambda psi: loss(psi.to_dense()[tuple(words.T)]))(psi)
    logs = qad.grad(lambda psi: psi.log_amplitudes(words).real.sum())(psi)
    logs_expected = qad.grad(lambda psi: np.log(abs(psi.to_dense()[tuple(words.T)])).sum())(psi)
    for a, b, c, d in zip(found, expected, logs, logs_expected, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
        np.testing.assert_allclose(c, d, rtol=1e-9, atol=1e-9)


@PERIODIC
def test_second_derivatives(periodic):
    psi = MPS.random(4, 2, seed=3, periodic=periodic)
    qad.check_grads(lambda psi: psi.log_amplitudes(SMALL).real.sum(), (psi,))
    qad.check_grads(lambda psi: psi.log_amplitudes(SMALL).imag.sum(), (psi,), order=1)


def test_segments_of_several_sites_are_shared():
    words = Words(some(4096, 16), [2] * 16, 8, periodic=True)
    assert words.parts[0] == slice(0, 8)
    assert len(words.whole.merges) == 1
    assert Words(some(4096, 16), [2] * 16, 32, periodic=False).parts[0] == slice(0, 5)


@PERIODIC
@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e5])
def test_long_chains_neither_overflow_nor_vanish(scale, periodic):
    n = 400
    psi = MPS([scale * t for t in MPS.random(n, 2, seed=1, periodic=periodic)])
    words = some(20, n)
    logs = psi.log_amplitudes(words)
    exact = np.array([exact_log(psi, word) for word in words])
    np.testing.assert_allclose(logs.real, exact, rtol=1e-12)
    g = qad.grad(lambda psi: psi.log_amplitudes(words).real.sum())(psi)
    total = sum(np.vdot(a, b).real for a, b in zip(psi, g, strict=True))
    assert total == pytest.approx(n * len(words))  # every amplitude is linear in every tensor


def exact_log(psi, word):
    """log |tr prod|, scaled after every site."""
    product, log = np.eye(psi[0].shape[0]), 0.0
    for tensor, letter in zip(psi, word, strict=True):
        product = product @ tensor[:, letter]
        size = np.linalg.norm(product)
        product, log = product / size, log + np.log(size)
    return np.log(abs(np.trace(product))) + log


def test_amplitudes_that_vanish():
    assert MPS.product([0, 1, 0]).log_amplitudes(np.array([[1, 1, 1]]))[0].real == -np.inf


@PERIODIC
def test_samples_follow_the_state(periodic):
    psi = 3.0 * MPS.random(4, 2, seed=4, periodic=periodic)
    p = abs(psi.to_dense().ravel()) ** 2
    p /= p.sum()
    words = psi.sample(20000, seed=1)
    counts = np.bincount(words @ 2 ** np.arange(3, -1, -1), minlength=16)
    chi2 = ((counts - 20000 * p) ** 2 / (20000 * p)).sum()
    assert chi2 < 40  # 15 degrees of freedom: exceeded with probability 5e-4
    np.testing.assert_array_equal(words, psi.sample(20000, seed=1))
    assert len(np.unique(MPS.random(200, 4, seed=1).sample(5, seed=2), axis=0)) == 5


@pytest.mark.parametrize(
    "words, error, message",
    [
        (np.zeros((3, 5), int), ShapeError, r"shape \(how many, 4\)"),
        (np.zeros(4, int), ShapeError, "one basis state for each site"),
        (np.full((1, 4), 2), ArgumentError, "configuration 0 has 2 on site 0, whose basis states are 0 to 1"),
        (np.full((1, 4), -1), ArgumentError, "has -1"),
        (np.zeros((1, 4)), ArgumentError, "whole numbers"),
    ],
)
def test_configurations_that_are_none(words, error, message):
    with pytest.raises(error, match=message):
        MPS.random(4, 2).amplitudes(words)


def test_states_that_cannot_be_drawn_from():
    with pytest.raises(ArgumentError, match="zero"):
        (0.0 * MPS.random(4, 2)).sample(1)
    with pytest.raises(ArgumentError, match="shots"):
        MPS.random(4, 2).sample(0)
