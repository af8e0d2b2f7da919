"""Expectation values and their gradients against the quotient of the whole vector, local values against matrices."""

import numpy as np
import pytest

import qad
from qad.mps import OpSum
from qad.vmc import Bosons, Connections, Electrons, Metropolis, Spins, expect, rbm
from qad.vmc.expectation import LocalValues

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


def jagged(p, s):
    n = s.shape[1]
    return (
        p * (s @ np.cos(1.0 + np.arange(n)) + 0.2 * (s[:, 1:] * s[:, :-1]) @ np.sin(np.arange(1.0, n))) + 0.3j * s[:, 0]
    )


PROBLEMS = {
    "spins": (qad.mps.heisenberg(6, periodic=True), Spins(6, total=0)),
    "field": (qad.mps.ising(5, 0.7), Spins(5)),
    "bosons": (qad.mps.bose_hubbard(4, 2.0, 1.0, most=2), Bosons(4, most=2, total=3)),
    "electrons": (qad.mps.hubbard(3, 1.0, 4.0), Electrons(3, up=2, down=1)),
}


@pytest.mark.parametrize("sampler", ["exact", Metropolis(chains=8)])
@pytest.mark.parametrize("name", PROBLEMS)
def test_local_values(name, sampler):
    H, space = PROBLEMS[name]
    local = LocalValues(jagged, H, space, 16, sampler, 0)
    drawn, values = local.draw(0.4)
    psi = np.exp(jagged(0.4, space.states()))
    expected = (Connections(H, space).matrix() @ psi / psi)[space.numbers(drawn.configurations)]
    assert np.allclose(values, expected, atol=1e-12)


def test_large_spaces():
    H, space = qad.mps.ising(70, 1.0), Spins(70)
    local = LocalValues(lambda p, s: p * s.sum(1), H, space, 8, Metropolis(chains=8), 0)
    drawn, values = local.draw(0.1)
    s = drawn.configurations.astype(int)
    flips = np.exp(-0.2 * s).sum(1)
    assert np.allclose(values, -(s[:, 1:] * s[:, :-1]).sum(1) - flips)


def test_exact_sums_leave_zeros_out():
    space = Spins(4, total=0)
    local = LocalValues(
        lambda p, s: np.where(s[:, 0] > 0, 0.1j * s[:, 1], -np.inf + 0j), qad.mps.heisenberg(4), space, 1, "exact", 0
    )
    drawn, values = local.draw(0.0)
    psi = np.where(space.states()[:, 0] > 0, np.exp(0.1j * space.states()[:, 1]), 0)
    H = Connections(qad.mps.heisenberg(4), space).matrix()
    assert np.isclose(local.estimate(drawn, values).mean, (psi.conj() @ (H @ psi)).real / 3)


def test_real_functions_of_complex_hamiltonians_are_refused():
    H = OpSum(3).add(1.0, "Y", 0, "X", 1).add(0.5, "Y", 2)
    local = LocalValues(lambda p, s: p * s.sum(1), H, Spins(3), 8, "exact", 0)
    with pytest.raises(qad.errors.ArgumentError, match="log_psi is real and H is complex"):
        local.draw(0.1)


def test_operators_that_are_not_hermitian_are_refused():
    local = LocalValues(jagged, OpSum(3).add(1.0, "Sp", 0), Spins(3), 8, "exact", 0)
    with pytest.raises(qad.errors.ArgumentError, match="not Hermitian"):
        local.estimate(*local.draw(0.1))


def test_chains_that_have_not_mixed_are_told():
    H, space = qad.mps.ising(6, 0.1), Spins(6)
    sampler = Metropolis(chains=16, discard=0, sweep=1)
    local = LocalValues(lambda p, s: p * s.sum(1) ** 2.0, H, space, 16 * 40, sampler, 0)
    with pytest.warns(RuntimeWarning, match="R-hat is .* above 1.05"):
        local.measure(0.15)
