"""Losses of the Schur form where eigenvalues coincide: refused, unless they need no more than what is determined."""

import numpy as np
import pytest

import qad
from tests.linalg.draw import draw, with_eigenvalues

X = np.array([[1.0, 2.0], [3.0, 4.0]])
POINTS = [
    np.eye(2), np.zeros((2, 2)), np.array([[1.0, 1.0], [0.0, 1.0]]), np.diag([1.0, 1.0 + 1e-13]),
    np.diag([1.0, 1.0 + 5e-12]),
]  # fmt: skip


def rebuilt(a):
    t, z = qad.linalg.schur(a)
    return np.sum(X * (z @ t @ z.conj().T)).real


@pytest.mark.parametrize("a", POINTS, ids=str)
def test_the_matrix_rebuilt_from_its_form_is_refused_in_reverse_mode_as_in_forward_mode(a):
    for derivative in (
        qad.grad(rebuilt),
        lambda a: qad.jvp(rebuilt, (a,), (X,)),
        lambda a: qad.hvp(rebuilt, (a,), (X,)),
    ):
        with pytest.raises(qad.QadError, match="schur: its values"):
            derivative(a)


def test_equal_weights_of_eigenvalues_that_are_coupled_are_refused():
    """The trace of the square weighs them as the trace does, whose derivative is another."""
    a = np.array([[1.0, 1.0], [0.0, 1.0]])
    for loss in (lambda t: np.trace(t @ t), lambda t: np.sum(np.diagonal(t) ** 2)):
        with pytest.raises(qad.QadError, match="schur"):
            qad.grad(lambda a, loss=loss: loss(qad.linalg.schur(a)[0]).real)(a)


def test_one_of_two_equal_eigenvalues_is_refused():
    with pytest.raises(qad.QadError, match="schur"):
        qad.grad(lambda a: qad.linalg.schur(a)[0][0, 0].real)(np.eye(2))


def test_equal_weights_of_equal_eigenvalues_are_right():
    squares = qad.grad(lambda a: np.sum(np.diagonal(qad.linalg.schur(a)[0]) ** 2).real)
    np.testing.assert_allclose(squares(np.eye(3) * 2.0), 4 * np.eye(3))
    a = with_eigenvalues([1, 1, 2, 3])
    np.testing.assert_allclose(squares(a), 2 * a.conj().T, atol=1e-9)


def test_a_space_that_holds_both_equal_eigenvalues_is_right():
    a, x = np.diag([1.0, 1.0, 3.0]) + np.outer([1.0, 2.0, 0.0], [0.0, 0.0, 1.0]), draw(3, 3, real=True)

    def space(a):
        z = qad.linalg.schur(a)[1][:, :2]
        return np.sum((x * (z @ z.conj().T)).real)

    e = draw(3, 3, real=True, seed=2)
    steps = [(space(a + h * e) - space(a - h * e)) / (2 * h) for h in (1e-5,)]
    np.testing.assert_allclose(np.sum(e * qad.grad(space)(a)), steps[0], rtol=1e-6)
