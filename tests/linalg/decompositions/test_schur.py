"""The Schur form: what it determines is right, what it leaves arbitrary is refused."""

import numpy as np
import pytest

import qad
from qad import linalg as la
from tests.cases import Case
from tests.linalg.draw import draw, with_eigenvalues

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


LOSSES = {
    "vectors": lambda t, z: np.sum(W.real[: len(t), : len(t)] * np.abs(z) ** 2),
    "the matrix rebuilt": lambda t, z: np.sum((z @ t @ z.conj().T).real),
    "the trace of the square": lambda t, z: np.trace(t @ t).real,
    "one eigenvalue": lambda t, z: t[0, 0].real,
}
POINTS = [
    np.eye(2), np.zeros((2, 2)), np.array([[1.0, 1.0], [0.0, 1.0]]), np.diag([1.0, 1.0 + 1e-13]),
    np.diag([1.0, 1.0 + 5e-12]), with_eigenvalues([1, 1, 2, 3]),
]  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("a", POINTS, ids=lambda a: str(a.tolist())[:30])
def test_equal_eigenvalues_are_refused_in_every_mode(a, loss):
    def f(a):
        return LOSSES[loss](*la.schur(a))

    e = draw(*a.shape, real=not np.iscomplexobj(a))
    for derivative in (qad.grad(f), lambda a: qad.jvp(f, (a,), (e,)), lambda a: qad.hvp(f, (a,), (e,))):
        with pytest.raises(qad.QadError, match="schur: its values"):
            derivative(a)
