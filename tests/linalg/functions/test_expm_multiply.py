"""The action of the exponential of an operator."""

import numpy as np
import pytest
import scipy.linalg

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.linalg.functions.expm import expm
from qad.linalg.functions.expm_multiply import expm_multiply


def random(*shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


A, V = random(6, 6), random(6, seed=1)


@pytest.mark.parametrize("norm", [0.0, 1e-8, 0.3, 4.0, 60.0])
def test_against_the_dense_exponential(norm):
    a = norm * A / np.linalg.norm(A, 2)
    expected = scipy.linalg.expm(a) @ V
    found = expm_multiply(lambda v: a @ v, V)
    assert np.allclose(found, expected, rtol=0, atol=1e-14 * max(1, norm) * np.linalg.norm(expected))


def test_unitary_evolution_keeps_the_norm():
    h = A + A.conj().T
    state = expm_multiply(h, V, -10j)
    assert np.isclose(np.linalg.norm(state), np.linalg.norm(V), rtol=1e-12)
    assert np.allclose(state, scipy.linalg.expm(-10j * h) @ V, rtol=0, atol=1e-10)


def test_derivatives_by_operator_vector_and_time():
    qad.check_grads(lambda a, v, t: expm_multiply(lambda x: a @ x, v, t), (0.3 * A, V, np.array(0.7)))
    qad.check_grads(lambda a, v, t: expm_multiply(a, v, t), (0.3 * A, V, np.array(0.7 - 0.4j)))
    qad.check_grads(lambda a, v, t: expm_multiply(a, v, t), (0.3 * A.real, V.real, np.array(0.7)))


def test_gradient_by_time_is_the_operator():
    _, moved = qad.jvp(lambda t: expm_multiply(A, V, t), (0.4,), (1.0,))
    assert np.allclose(moved, A @ expm_multiply(A, V, 0.4), rtol=0, atol=1e-12)


def test_derivatives_where_the_series_ends_early():
    null = A - np.outer(A @ V, V.conj()) / np.vdot(V, V)
    assert np.allclose(null @ V, 0)
    expected = qad.jvp(lambda a: expm(a) @ V, (null,), (A,))[1]
    assert np.allclose(qad.jvp(lambda a: expm_multiply(a, V), (null,), (A,))[1], expected, rtol=0, atol=1e-11)
    assert np.allclose(expm_multiply(np.zeros((6, 6)), V), V)
    qad.check_grads(lambda a, v: expm_multiply(a, v), (np.zeros((3, 3), complex), np.zeros(3, complex)))


def test_pytrees():
    def evolved(a, v):
        return expm_multiply(lambda x: {"u": a @ x["u"] - x["v"], "v": x["u"]}, v, 0.5)

    qad.check_grads(evolved, (0.3 * A, {"u": V, "v": random(6, seed=2)}))


def test_real_vectors_become_complex():
    assert expm_multiply(A, V.real).dtype == complex
    assert expm_multiply(A.real, V.real).dtype == float


def test_bad_arguments_raise_with_numbers():
    with pytest.raises(ArgumentError, match=r"norm of t A is \d\.\d+e\+06"):
        expm_multiply(A, V, 1e6)
    with pytest.raises(ShapeError, match=r"\(2,\)"):
        expm_multiply(A, V, np.ones(2))
