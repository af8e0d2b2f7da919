"""Infinite chains: states that are sums of several, other dtypes, Hamiltonians that are none."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import uniform
from qad.mps.uniform import UniformMPO, UniformMPS, UniformOpSum

X, Y, Z, ONE = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[0, -1j], [1j, 0]]), np.diag([1.0, -1.0]), np.eye(2)
FIELD = (np.kron(Z, ONE) + np.kron(ONE, Z)).reshape(2, 2, 2, 2)
TURNED = (np.kron(Z, Z) + 0.25 * (np.kron(Y, ONE) + np.kron(ONE, Y))).reshape(2, 2, 2, 2)
EXACT = -1.0635444099732  # per site, of the transverse Ising chain at half the critical field


def product(*amplitudes):
    return UniformMPS([np.array(amplitudes).reshape(1, -1, 1)])


@pytest.mark.parametrize("result", [
    lambda psi: uniform.energy_density(psi, FIELD), uniform.uniform_schmidt_form, uniform.entanglement_entropy,
    lambda psi: uniform.evolve(psi, FIELD, 1.0, 2), lambda psi: uniform.local_expectations(psi, Z),
])  # fmt: skip
def test_a_sum_of_states_has_no_values(result):
    """All spins up and all spins down: the result was that of one of them, or of any mixture."""
    both = UniformMPS([np.stack([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])], axis=1)])
    with pytest.raises(ArgumentError, match="sum of several"):
        result(both)


def test_the_energy_of_a_state_of_single_precision():
    H = UniformOpSum().add(0.7, "X", 0, "Z", 2).add(0.3, "Y", 0, "Y", 1)
    psi = UniformMPS.random(3, 2, cell=2, seed=1)
    small = UniformMPS([t.astype(np.complex64) for t in psi])
    assert uniform.energy_density(small, H) == pytest.approx(uniform.energy_density(psi, H), abs=1e-6)


@pytest.mark.parametrize("method", ["vumps", "riemannian"])
def test_a_real_start_for_a_complex_hamiltonian(method):
    """The search stayed among real states, and said that it had converged."""
    found = uniform.ground_state(TURNED, 2, start=UniformMPS.random(2, 2, 2, float), method=method)
    assert found.state.dtype == complex
    assert EXACT < found.energy < EXACT + 1e-6


@pytest.mark.slow
def test_gradients_in_single_precision():
    """The metric was not positive."""
    found = uniform.ground_state(TURNED, 4, dtype=np.complex64, method="riemannian", starts=1)
    assert found.energy == pytest.approx(EXACT, abs=1e-8)


@pytest.mark.parametrize("dtype", [int, float, object, np.float16])
def test_dtypes_that_cannot_hold_the_state(dtype):
    with pytest.raises(ArgumentError, match="cannot hold"):
        uniform.ground_state(TURNED, dtype=dtype)


def test_hamiltonians_of_infinite_chains_only():
    psi = UniformMPS.random(2)
    for H in (qad.mps.heisenberg(4), qad.mps.OpSum(4).add(1.0, "Z", 0), None):
        for function in (uniform.ground_state, lambda H: uniform.energy_density(psi, H)):
            with pytest.raises(ArgumentError, match="UniformOpSum"):
                function(H)
    with pytest.raises(ArgumentError, match="evolve takes terms of neighbours"):
        uniform.evolve(psi, UniformOpSum().add(1.0, "Z", 0, "Z", 2), 1.0, 2)
    with pytest.raises(ArgumentError, match="Evolution is a result: give its .state"):
        uniform.local_expectations(uniform.evolve(psi, uniform.ising(1.0), 1.0, 2), "Z")
    with pytest.raises(ShapeError, match="two-site term"):
        uniform.ground_state(np.kron(Z, Z))
    for function in (uniform.ground_state, lambda h: uniform.energy_density(psi, h)):
        with pytest.raises(ArgumentError, match="not finite"):
            function(np.full((2, 2, 2, 2), np.nan))
    w = UniformOpSum().add(1.0, "Z", 0, "Z", 1).mpo()[0].copy()
    w[0, 1] = np.nan
    with pytest.raises(ArgumentError, match="inf or nan"):
        UniformMPO([w])
    with pytest.raises(ArgumentError, match="tol must not be negative"):
        uniform.ground_state(FIELD, tol=np.nan)
    assert uniform.energy_density(product(1.0, 0.0), FIELD.tolist()) == 2.0


def test_orthogonal_product_states():
    assert uniform.fidelity(product(1.0, 0.0), product(0.0, 1.0)) == 0.0
    assert uniform.fidelity(product(1.0, 0.0), product(0.6, 0.8)) == pytest.approx(0.6)
