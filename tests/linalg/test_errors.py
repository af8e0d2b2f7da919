"""Bad input and points without derivative."""

import numpy as np
import pytest

import qad
from tests.linalg.draw import draw

# name, function, argument, words of the message
POINTS = [
    ("deficient qr", lambda a: np.linalg.qr(a).R.sum(), np.array([[1.0, 2.0], [2.0, 4.0]]), r"column 1 .*R\[1, 1\]"),
    ("batched qr", lambda a: np.linalg.qr(a).R.sum(), np.stack([np.eye(2), np.ones((2, 2))]), r"batch entry \(1,\)"),
    ("complete qr", lambda a: np.linalg.qr(a, "complete").Q.sum(), draw(4, 2, real=True), "complement.*reduced"),
    ("raw qr", lambda a: np.linalg.qr(a, "raw")[0].sum(), np.ones((3, 2)), "reduced"),
    ("eigh of any matrix", lambda a: np.linalg.eigh(a)[0].sum(), draw(3, 3, real=True), "not Hermitian"),
    ("cholesky of any", lambda a: np.linalg.cholesky(a).sum(), np.array([[2.0, 1.0], [0.0, 2.0]]), "not Hermitian"),
    ("slogdet singular", lambda a: np.linalg.slogdet(a)[1], np.ones((2, 2)), "singular"),
    ("norm order", lambda a: np.linalg.norm(a, 3), np.eye(2), "no norm 3"),
    ("vector norm order", lambda a: np.linalg.norm(a, "fro", axis=0).sum(), np.eye(2), "no norm 'fro'"),
    ("norm axis", lambda a: np.linalg.norm(a, axis=2), np.eye(2), "axis 2"),
    ("norm axes", lambda a: np.linalg.norm(a, 2), np.ones((2, 2, 2)), "3 axes"),
]  # fmt: skip


@pytest.mark.parametrize("f, a, words", [c[1:] for c in POINTS], ids=[c[0] for c in POINTS])
def test_errors(f, a, words):
    with pytest.raises(qad.QadError, match=words):
        qad.grad(f)(a)


def test_numpys_own_errors_stay():
    for f in (np.linalg.inv, np.linalg.cholesky):
        with pytest.raises(np.linalg.LinAlgError):
            qad.grad(lambda a, f=f: f(a).sum())(np.zeros((2, 2)))


@pytest.mark.parametrize("order", [None, 1, 2, 3, np.inf])
def test_vectors_of_zeros_have_subgradient_zero(order):
    z = np.zeros((2, 3), complex)
    z[1] = 1.0
    g = qad.grad(lambda z: np.sum(np.linalg.norm(z, order, axis=1)))(z)
    np.testing.assert_array_equal(g[0], 0)
    assert np.abs(g[1]).sum() > 0.9


@pytest.mark.parametrize("order", [None, "fro", "nuc", 1, 2, -2, np.inf])
def test_matrices_of_zeros_have_subgradient_zero(order):
    np.testing.assert_array_equal(qad.grad(lambda a: np.linalg.norm(a, order))(np.zeros((3, 2))), 0)


def test_largest_singular_value_of_a_multiplet():
    np.testing.assert_allclose(
        qad.grad(lambda a: np.linalg.norm(a, 2))(np.diag([1.0, 1.0, 0.5])), np.diag([0.5, 0.5, 0])
    )


def test_second_derivative_of_a_norm_at_zero():
    with pytest.raises(qad.QadError, match="no second derivative"):
        qad.hvp(np.linalg.norm, (np.zeros(2),), (np.ones(2),))


def test_counting_norm_is_a_constant():
    np.testing.assert_array_equal(qad.grad(lambda a: np.linalg.norm(a, 0) * np.sum(a))(np.array([1.0, 0.0])), 1)
