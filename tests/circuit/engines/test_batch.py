"""Batches of parameters, matrices and initial states: every entry as if it were alone, gradients included."""

import numpy as np
import pytest

import qad
from tests.cases import normal
from tests.circuit.dense import ENGINES, random_sum

H = random_sum(np.random.default_rng(0), 3, 6)


def circuit(theta, engine, psi=None):
    c = qad.Circuit(3, initial=psi, engine=engine).ry(theta[..., :3], range(3)).cx(0, 1).rz(theta[..., 3], 2)
    return c.crx(theta[..., 4], 2, 0).u2(theta[..., 5], 0.3, 1).cx(1, 2).exp_pauli(theta[..., 0], "XYX", range(3))


@pytest.mark.parametrize("engine", ENGINES)
def test_batches_of_parameters(engine):
    theta = normal(2, 4, 6)
    found = circuit(theta, engine).expectation(H)
    alone = [[circuit(t, engine).expectation(H) for t in row] for row in theta]
    np.testing.assert_allclose(found, alone, atol=1e-13)
    assert circuit(theta, engine).state().shape == (2, 4, 2, 2, 2)
    assert circuit(theta, engine).sample(7).shape == (2, 4, 7, 3)
    g = qad.grad(lambda t: (circuit(t, engine).expectation(H) ** 2).sum())(theta)
    alone = [[qad.grad(lambda t: circuit(t, engine).expectation(H) ** 2)(t) for t in row] for row in theta]
    np.testing.assert_allclose(g, alone, atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_batches_of_states(engine):
    theta, psi = normal(6), normal(5, 2, 2, 2, complex)
    g = qad.grad(lambda t, p: circuit(t, engine, p).expectation(H).sum(), (0, 1))(theta, psi)
    alone = [qad.grad(lambda t, p: circuit(t, engine, p).expectation(H), (0, 1))(theta, p) for p in psi]
    np.testing.assert_allclose(g[0], sum(a for a, _ in alone), atol=1e-12)
    np.testing.assert_allclose(g[1], [b for _, b in alone], atol=1e-12)


def test_batches_of_both_and_of_matrices():
    theta, psi = normal(3, 6), normal(2, 1, 8, complex)
    found = circuit(theta, "auto", psi).expectation(H)
    alone = [[circuit(t, "auto", p[0]).expectation(H) for t in theta] for p in psi]
    np.testing.assert_allclose(found, alone, atol=1e-12)
    u = np.linalg.qr(normal(4, 2, 2, complex))[0]
    found = qad.Circuit(2).h(0).unitary(u, 0).cx(0, 1).expectation("ZX")
    np.testing.assert_allclose(found, [qad.Circuit(2).h(0).unitary(v, 0).cx(0, 1).expectation("ZX") for v in u])


def test_second_order_of_a_batch():
    qad.check_grads(lambda t: circuit(t, "auto").expectation(H), (normal(2, 6),), order=2)


@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0)])
@pytest.mark.parametrize("engine", ENGINES)
def test_examples_of_vmap(engine, axes):
    """Parameters, initial states and coefficients, for each example or one for all; gradients of each."""
    theta, psi, weights = normal(4, 3), normal(4, 4, complex), normal(4, 2)

    def by_state(t, p):
        return qad.Circuit(2, initial=p, engine=engine).ry(t[:2], [0, 1]).cx(0, 1).rz(t[2], 1).expectation("XZ")

    def by_coefficients(t, w):
        c = qad.Circuit(2, engine=engine).u3(*t, 0).ry(t[:, None] * np.ones(2), [0, 1])
        return c.expectation(qad.PauliSum({"XI": w[0], "ZZ": w[1]})).sum()

    for f, other in ((by_state, psi), (by_coefficients, weights)):
        args = [x if axis == 0 else x[0] for x, axis in zip((theta, other), axes, strict=True)]
        found = qad.vmap(qad.grad(f, (0, 1)), in_axes=axes)(*args)
        for i in range(4):
            one = [x[i] if axis == 0 else x for x, axis in zip(args, axes, strict=True)]
            for part, expected in zip(found, qad.grad(f, (0, 1))(*one), strict=True):
                np.testing.assert_allclose(part[i], expected, atol=1e-12)
