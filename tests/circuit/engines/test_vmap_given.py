"""Circuits without real numbers in their gates, matrices and complex coefficients under `qad.vmap`."""

import numpy as np
import pytest

import qad

H = qad.PauliSum({"XY": 1.0, "ZI": 0.3})
M = np.random.default_rng(0).normal(size=(3, 4, 4)) + 1j * np.random.default_rng(1).normal(size=(3, 4, 4))


def plus():
    return qad.Circuit(2).h([0, 1]).s(0)


@pytest.mark.parametrize("f, x", [
    (lambda t: plus().cp(t, 0, 1).u(t, t, t, 0).expectation(H), np.array([0.1, 0.2, 0.3])),
    (lambda psi: qad.Circuit(2, initial=psi).h(0).expectation(H), M[:, 0]),
    (lambda m: plus().operator(m, 1, 0).expectation(H), M),
    (lambda u: plus().unitary(u, 1, 0).expectation(H), np.linalg.qr(M)[0]),
    (lambda m: plus().expectation(qad.circuit.Operator(m + m.conj().T, [1, 0])), M),
    (lambda z: plus().expectation(qad.PauliSum(zip(["XY", "ZI"], z + z.conj(), strict=True))), M[:, 0, :2]),
])  # fmt: skip
def test_gradients_of_examples_are_those_one_by_one(f, x):
    np.testing.assert_allclose(qad.vmap(qad.grad(f))(x), np.stack([qad.grad(f)(one) for one in x]), atol=1e-13)
