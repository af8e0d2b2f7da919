"""Ground states of infinite chains by VUMPS, against exact energies; and what is said of them."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, GradientTypeError
from qad.mps import uniform
from qad.mps.uniform import UniformMPS, UniformOpSum


def spins(total, coupling, i, j):
    total.add(coupling / 2, "Sp", i, "Sm", j).add(coupling / 2, "Sm", i, "Sp", j)
    return total.add(coupling, "Sz", i, "Sz", j)


def ising(g):
    return UniformOpSum().add(-1.0, "Z", 0, "Z", 1).add(-g, "X", 0)


def j1j2(j2):
    return spins(spins(UniformOpSum(), 1.0, 0, 1), j2, 0, 2)


@pytest.mark.parametrize("g, bond, cell, exact, above", [
    (0.5, 8, 1, -1.0635444099733717, 1e-13), (1.5, 12, 1, -1.671926221536195, 1e-12), (1.0, 16, 2, -4 / np.pi, 2e-7),
])  # fmt: skip
@pytest.mark.sampled(1)
def test_ising(g, bond, cell, exact, above):
    found = uniform.ground_state(ising(g), bond, cell)
    assert -1e-14 < found.energy - exact < above
    assert found.converged
    assert found.gradient < 1e-7
    assert found.energy == pytest.approx(uniform.energy_density(found.state, ising(g)), abs=1e-14)
    for tensor in found.state:
        rows = tensor.reshape(len(tensor), -1)
        np.testing.assert_allclose(rows @ rows.conj().T, np.eye(len(rows)), atol=1e-14)


@pytest.mark.slow
def test_the_product_of_singlets():
    """C. K. Majumdar and D. K. Ghosh 1969; a cell of one site holds the sum of both products, and says so."""
    found = uniform.ground_state(j1j2(0.5), 4)
    assert found.energy == pytest.approx(-0.375, abs=1e-13)
    assert found.converged
    assert "several" not in found.message
    assert uniform.entanglement_entropy(found.state) == pytest.approx([0, np.log(2)], abs=1e-6) or (
        uniform.entanglement_entropy(found.state) == pytest.approx([np.log(2), 0], abs=1e-6)
    )
    both = uniform.ground_state(j1j2(0.5), 4, cell=1)
    assert both.energy == pytest.approx(-0.375, abs=1e-9)
    assert "sum of several" in both.message
    with pytest.raises(ArgumentError, match="sum of several"):
        uniform.local_expectations(both.state, np.diag([1.0, -1.0]))


@pytest.mark.slow
def test_three_sites_and_a_staggered_cell():
    cluster = uniform.ground_state(UniformOpSum().add(-1.0, "Z", 0, "X", 1, "Z", 2), 4, cell=1)
    assert cluster.energy == pytest.approx(-1.0, abs=1e-12)
    chain = UniformOpSum(2).add(-1.0, "X", 0, "X", 1).add(-1.0, "Y", 0, "Y", 1)
    chain.add(-0.5, "X", 1, "X", 2).add(-0.5, "Y", 1, "Y", 2)  # free fermions that hop 2 and 1
    k = (np.arange(4000) + 0.5) * np.pi / 2000
    exact = -np.abs(2 + np.exp(1j * k)).mean() / 2
    found = uniform.ground_state(chain, 16, starts=1)
    assert len(found.state) == 2
    assert 0 < found.energy - exact < 1e-7


def test_free_fermions_with_a_phase():
    """A band insulator of complex hopping to neighbours and, past a string, to second neighbours."""
    hop = UniformOpSum(2, "fermion")
    for i in range(2):
        hop.add(-np.exp(0.3j), "Cdag", i, "C", i + 1).add(-0.2 * np.exp(0.6j), "Cdag", i, "C", i + 2)
        hop.add((-1.0) ** i, "N", i)  # the adjoint adds as much
    k = (np.arange(20000) + 0.5) * np.pi / 20000
    levels = -0.4 * np.cos(2 * k) - np.sqrt(4 * np.cos(k) ** 2 + 4)
    found = uniform.ground_state(hop + hop.dagger(), 16, starts=1)
    assert found.state.dtype == complex
    assert -1e-13 < found.energy - levels.mean() / 2 < 1e-10


@pytest.mark.slow
def test_couplings_that_decay():
    """Haldane and Shastry 1988: 1/r**2 between spins gives -pi**2 / 24; and an exponential against a long ring's."""
    shastry = UniformOpSum()
    for weight, *pair in ((0.5, "Sp", "Sm"), (0.5, "Sm", "Sp"), (1.0, "Sz", "Sz")):
        shastry.add_power_law(weight, 2.0, *pair, error=1e-3)
    found = uniform.ground_state(shastry, 8, starts=1, tol=1e-7)
    assert abs(found.energy - -(np.pi**2) / 24) < 1e-3 + 3e-4
    H = ising(0.0).add_exponential(-0.8, 0.4, "Z", "Z").add(-4.0, "X", 0)
    finite = qad.mps.OpSum(24).add_exponential(-0.8, 0.4, "Z", "Z")
    for i in range(24):
        finite.add(-4.0, "X", i)
        if i:
            finite.add(-1.0, "Z", i - 1, "Z", i)
    middle = qad.mps.ground_state(finite.mpo(), 16).state
    found = uniform.ground_state(H, 16, cell=1)
    x = uniform.local_expectations(found.state, np.array([[0.0, 1.0], [1.0, 0.0]]))[0]
    assert x == pytest.approx(qad.mps.local_expectations(middle, np.array([[0.0, 1.0], [1.0, 0.0]]))[12], abs=1e-6)


def test_slopes_by_couplings_are_those_of_the_minimum():
    """Hellmann-Feynman, against a difference of two searches."""
    found = {g: uniform.ground_state(ising(g), 10, cell=1, tol=1e-13) for g in (1.5, 1.5 - 1e-3, 1.5 + 1e-3)}
    slope = qad.grad(lambda g: uniform.energy_density(found[1.5].state, ising(g)))(1.5)
    assert slope == pytest.approx((found[1.5 + 1e-3].energy - found[1.5 - 1e-3].energy) / 2e-3, abs=1e-6)
    with pytest.raises(GradientTypeError, match="ground_energy"):
        qad.grad(lambda g: uniform.ground_state(ising(g), 4).energy)(1.5)


def test_energies_have_no_unit():
    small = uniform.ground_state(1e-9 * ising(1.3), 6, cell=1)
    assert small.energy / 1e-9 == pytest.approx(uniform.ground_state(ising(1.3), 6, cell=1).energy, rel=1e-9)
    assert small.converged


@pytest.mark.slow
def test_where_steps_go_round_gradients_go_on():
    """A cell of three sites, which holds no state of the period that the chain would have."""
    found = uniform.ground_state(j1j2(0.5), 4, cell=3, starts=1)
    assert found.energy == pytest.approx(-0.375, abs=1e-6)


def test_broken_symmetry_is_said_and_starts_are_grown():
    found = uniform.ground_state(ising(0.5), 4, cell=1, starts=6)
    assert "other states of nearly this energy" in found.message
    grown = uniform.ground_state(ising(0.5), 8, start=found.state)
    assert 4 < grown.state.bond <= 8  # as many as have weight
    assert grown.energy < found.energy
    assert not uniform.ground_state(ising(1.0), 8, cell=1, maxiter=3, starts=1).converged
    with pytest.raises(ArgumentError, match="give a multiple"):
        uniform.ground_state(spins(UniformOpSum(2), 1.0, 0, 1), cell=3)
    up = UniformMPS([np.array([1.0, 0.0]).reshape(1, 2, 1)])
    assert uniform.ground_state(UniformOpSum().add(-1.0, "Z", 0), 3, start=up).energy == pytest.approx(-1.0, abs=1e-14)


@pytest.mark.parametrize("g, length", [(0.0, 0.0), (20.0, 1 / np.log(20.0))])
def test_directions_without_weight_carry_no_correlations(g, length):
    """Their own eigenvalues of the transfer operator are noise: 15 sites for a product state."""
    H = uniform.ising(g)
    state = uniform.ground_state(H).state
    assert uniform.correlation_length(state) == pytest.approx(length, abs=0.02)
    assert uniform.excitations(H, state, 0.0)[0] == pytest.approx(38.0 if g else 4.0, abs=1e-6)


def test_gradients_end_where_vumps_does_by_default():
    """They stopped where gains were small and the gradient was not, and said that they had not converged."""
    model = uniform.ising(1.5)
    found = uniform.ground_state(model, 8, method="riemannian")
    assert found.converged is True
    assert found.energy == pytest.approx(uniform.ground_state(model, 8).energy, abs=1e-10)
