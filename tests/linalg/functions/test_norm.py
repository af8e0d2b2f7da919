"""Norms at kinks and at tiny sizes: both modes agree, second derivatives of what is shared are refused."""

import numpy as np
import pytest

import qad
from tests.linalg.draw import draw

E = np.array([[1.0, 2.0], [3.0, 5.0]])

NORMS = {
    "largest": lambda a: np.linalg.norm(a, 2),
    "matrix_norm": lambda a: np.linalg.matrix_norm(a, ord=2),
    "smallest": lambda a: np.linalg.norm(a, -2),
    "cond": np.linalg.cond,
}


@pytest.mark.parametrize("f", NORMS.values(), ids=NORMS)
@pytest.mark.parametrize("a", [np.eye(2), np.diag([2.0, 1.0]), np.diag([1.0, 1.0 + 1e-15])], ids=str)
def test_equal_singular_values_share_in_both_modes(f, a):
    np.testing.assert_allclose(qad.jvp(f, (a,), (E,))[1], np.sum(E * qad.grad(f)(a)), atol=1e-12)


@pytest.mark.parametrize("f", NORMS.values(), ids=NORMS)
def test_second_derivatives_of_shared_norms_are_refused(f):
    for second in (
        lambda: qad.hvp(f, (np.eye(2),), (E,)),
        lambda: qad.jvp(lambda a: qad.jvp(f, (a,), (E,))[1], (np.eye(2),), (E,)),
        lambda: qad.grad(lambda a: qad.jvp(f, (a,), (E,))[1])(np.eye(2)),
    ):
        with pytest.raises(qad.QadError):
            second()


def test_a_frozen_norm_has_the_same_second_derivative():
    f, a = qad.freeze(lambda a: np.linalg.norm(a, 2)), np.diag([2.0, 1.0, 0.5])
    e = draw(3, 3, real=True)

    def second(f):
        return qad.jvp(lambda a: qad.jvp(f, (a,), (e,))[1], (a,), (e,))[1]

    f(a)
    np.testing.assert_allclose(second(f), second(lambda a: np.linalg.norm(a, 2)), rtol=1e-12)


@pytest.mark.parametrize("size", [1e-310, 1e-308, 3e-308, 1e-300])
def test_norms_of_subnormal_complex_vectors_have_derivatives(size):
    def f(x):
        return np.linalg.norm(x + 1j * x)

    x = np.array([3.0, 4.0, 0.0]) * size
    np.testing.assert_allclose(qad.grad(f)(x), np.sqrt(2) * np.array([0.6, 0.8, 0.0]), rtol=1e-12)
    np.testing.assert_allclose(qad.jvp(f, (x,), (np.ones(3),))[1], np.sqrt(2) * 1.4, rtol=1e-12)
