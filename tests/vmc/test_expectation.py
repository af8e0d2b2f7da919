"""Expectation values and their gradients: exact sums against the recorded quotient of the whole vector."""

import numpy as np
import pytest

import qad
from qad.vmc import Connections, Spins, expect, rbm

SPACE, RING = Spins(6, total=0), qad.mps.heisenberg(6, periodic=True)
MATRIX = Connections(RING, SPACE).matrix().toarray()


def quotient(log_psi, params):
    psi = np.exp(log_psi(params, SPACE.states().astype(int)))
    return (psi.conj() @ (MATRIX @ psi)).real / (psi.conj() @ psi).real


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("kind", ["as it is", "not holomorphic"])
def test_gradients_of_exact_sums(dtype, kind):
    log_psi, params = rbm(6, 2, dtype, seed=1, scale=0.3)
    if kind == "not holomorphic":
        plain = log_psi

        def log_psi(p, s):
            return plain(p, s) + 1j * (s**2 @ np.cos(np.arange(6)) * abs(p["b"][0]) * s[:, 0])

    value, found = qad.value_and_grad(lambda p: expect(log_psi, p, RING, SPACE, sampler="exact").mean)(params)
    exact, expected = qad.value_and_grad(lambda p: quotient(log_psi, p))(params)
    assert abs(value - exact) < 1e-12
    for name in params:
        assert np.abs(found[name] - expected[name]).max() < 1e-12
        assert found[name].dtype == params[name].dtype


def test_samples_and_their_gradient():
    log_psi, params = rbm(6, 1, seed=2, scale=0.3)
    found = expect(log_psi, params, RING, SPACE, 4000)
    assert abs(found.mean - quotient(log_psi, params)) < 4 * found.error
    g = qad.grad(lambda p: expect(log_psi, p, RING, SPACE, 4000).mean)(params)
    expected = qad.grad(lambda p: quotient(log_psi, p))(params)
    assert np.abs(g["W"] - expected["W"]).max() < 0.3 * np.abs(expected["W"]).max()  # 4000 correlated samples


def test_functions_of_expectation_values():
    log_psi, params = rbm(6, 1, float, seed=2, scale=0.3)

    def loss(value):
        return lambda p: value(p) ** 2 + np.sum(p["a"] ** 2)

    found = qad.grad(loss(lambda p: expect(log_psi, p, RING, SPACE, sampler="exact").mean))(params)
    expected = qad.grad(loss(lambda p: quotient(log_psi, p)))(params)
    assert np.allclose(found["a"], expected["a"], atol=1e-12)


def test_what_has_no_derivative_is_refused():
    log_psi, params = rbm(6, 1, float)

    def energy(p):
        return expect(log_psi, p, RING, SPACE, sampler="exact").mean

    for ask in (
        lambda: qad.hvp(energy, (params,), (params,)),
        lambda: qad.jvp(energy, (params,), (params,)),
        lambda: qad.grad(lambda p: np.sum(qad.grad(energy)(p)["a"]))(params),
    ):
        with pytest.raises(qad.errors.GradientTypeError, match="first derivatives, in reverse mode"):
            ask()
