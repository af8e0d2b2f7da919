"""The Schur form: what it determines is right, what it leaves arbitrary is refused."""

import numpy as np
import pytest

import qad
from qad import linalg as la
from tests.cases import Case
from tests.linalg.draw import draw, unitary, with_eigenvalues

W = draw(4, 4, seed=9)


def determined(a):
    """What does not depend on the phases of the Schur vectors."""
    t, z = la.schur(a)
    n = a.shape[-1]
    chain = t[..., 0, 1] * z[..., 0, 0] * z[..., 0, 1].conj()
    space = z[..., :2] @ z[..., :2].conj().mT
    return np.abs(t) ** 2, W.real[:n, :n] * np.abs(z) ** 2, chain, space


CASES = [
    Case(determined, (draw(*shape, real=real),), name=f"schur, {shape}, {'real' if real else 'complex'}")
    for real in (False, True)
    for shape in ((4, 4), (2, 3, 3), (2, 2))
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    qad.check_grads(case.f, case.point, rtol=1e-6)


def rebuilt(a):
    t, z = la.schur(a)
    return np.sum((W.conj() * (z @ t @ z.conj().T)).real)


def test_the_matrix_itself():
    a = draw(4, 4)
    t, z = la.schur(a)
    np.testing.assert_allclose(z @ t @ z.conj().T, a, atol=1e-13)
    np.testing.assert_allclose(qad.grad(rebuilt)(a), W, atol=1e-13)
    assert la.schur(np.zeros((2, 0, 0)))[0].shape == (2, 0, 0)


def test_phases_are_refused():
    with pytest.raises(qad.QadError, match="phase of vector number 0"):
        qad.grad(lambda a: la.schur(a)[1][0, 0].real)(draw(3, 3))


def test_degenerate_eigenvalues_are_refused_where_they_matter():
    a = with_eigenvalues([1, 1, 2, 3])
    with pytest.raises(qad.QadError, match="schur: its values 1"):
        qad.grad(lambda a: np.sum(W.real * np.abs(la.schur(a)[1]) ** 2))(a)
    np.testing.assert_allclose(
        qad.grad(lambda a: np.sum(np.diagonal(la.schur(a)[0]).real ** 3))(a), 3 * a @ a, atol=1e-9
    )
    turned = unitary(4)
    with pytest.raises(qad.QadError, match="schur"):
        qad.grad(lambda a: np.sum((W @ la.schur(a)[1][:, :1]).imag ** 2))(turned @ a @ turned.conj().T)
