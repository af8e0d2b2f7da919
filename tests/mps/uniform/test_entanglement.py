"""Schmidt values, spectra and entropies of infinite chains, by sector too, and values on several neighbours."""

import numpy as np
import pytest

import qad
from qad.core.errors import ArgumentError, ShapeError
from qad.mps import uniform
from qad.mps.charges.quantities import quantities
from qad.mps.uniform import UniformMPS
from qad.symmetric.legs import Leg


def turned_pairs(p):
    """Pairs ``sqrt(p) |0 1> + sqrt(1 - p) |1 0>`` side by side."""
    first = np.diag([p**0.5, (1 - p) ** 0.5]).reshape(1, 2, 2)
    return UniformMPS([first, np.eye(2)[::-1].reshape(2, 2, 1)])


def test_pairs():
    psi, levels = turned_pairs(0.2), [0.8, 0.2]
    whole, inner = uniform.schmidt_values(psi)
    np.testing.assert_allclose(whole, [1.0])
    np.testing.assert_allclose(inner**2, levels)
    np.testing.assert_allclose(uniform.entanglement_spectrum(psi)[1], -np.log(levels))
    entropies = {1: -np.dot(levels, np.log(levels)), 2: -np.log(0.68), np.inf: -np.log(0.8)}
    for order, entropy in entropies.items():
        np.testing.assert_allclose(uniform.entanglement_entropy(psi, order=order), [0, entropy], atol=1e-12)
        np.testing.assert_allclose(psi.entanglement_entropy(order=order), [0, entropy], atol=1e-12)


def test_by_sector():
    """The two states of the spin 1/2 at the end of the AKLT chain, the cell repeated with charges of its own."""
    conserved = quantities("Sz", ["spin-1"] * 2)
    bond = Leg({(-1,): 1, (1,): 1}, 1, conserved.symmetry)
    site = np.stack([np.array([[0, 2**0.5], [0, 0]]), np.diag([-1.0, 1.0]), np.array([[0, 0], [-(2**0.5), 0]])], axis=1)
    tensors = [qad.symmetric.from_dense(site, (bond, leg, bond.conj())) for leg in conserved.legs]
    state = UniformMPS(tensors, conserved)
    values = {q: pytest.approx(0.5**0.5) for q in (-1, 1)}
    assert uniform.schmidt_values(state, by_sector=True) == [values, values]
    assert uniform.entanglement_spectrum(state, by_sector=True)[0] == {q: pytest.approx(np.log(2)) for q in (-1, 1)}
    np.testing.assert_allclose(uniform.schmidt_values(state), 0.5**0.5)
    np.testing.assert_allclose(uniform.entanglement_spectrum(state), np.log(2))
    for own in uniform.entanglement_entropy(state, by_sector=True):
        assert own == {q: (pytest.approx(0.5), pytest.approx(0, abs=1e-12)) for q in (-1, 1)}


@pytest.mark.slow
def test_sectors_beside_a_long_open_chain():
    """The weights of the charges, beside those in the middle of a finite chain, and the whole entropy from all."""
    state = uniform.ground_state(uniform.xxz(4.0), 16, conserve="Sz", starts=1).state
    parts = uniform.entanglement_entropy(state, by_sector=True)
    sums = [sum(x.weight * (x.entropy - np.log(x.weight)) for x in own.values()) for own in parts]
    np.testing.assert_allclose(sums, uniform.entanglement_entropy(state))
    long = qad.mps.ground_state(qad.mps.xxz(40, 4.0), 16, "dmrg2", conserve="Sz").state
    middle = qad.mps.entanglement_entropy(long, 20, by_sector=True)
    weights = sorted(float(x.weight) for x in middle.values())[::-1][:3]
    found = [sorted(float(x.weight) for x in own.values())[::-1][:3] for own in parts]
    assert min(np.abs(np.subtract(own, weights)).max() for own in found) < 1e-5


@pytest.mark.parametrize("function", [
    uniform.entanglement_entropy, uniform.schmidt_values, uniform.entanglement_spectrum,
])  # fmt: skip
def test_sectors_of_states_that_conserve_only(function):
    with pytest.raises(ArgumentError, match="states that conserve"):
        function(turned_pairs(0.2), by_sector=True)


def test_orders():
    with pytest.raises(ArgumentError, match="order 1 only"):
        uniform.entanglement_entropy(turned_pairs(0.2), order=2, by_sector=True)
    with pytest.raises(ArgumentError, match="order of an entropy"):
        uniform.entanglement_entropy(turned_pairs(0.2), order=0)


# -- values on several neighbours --------------------------------------------------------------------------------------


def test_values_on_neighbours():
    psi, counts = turned_pairs(0.2), np.diag(np.arange(8.0))
    np.testing.assert_allclose(uniform.expectation(psi, np.diag([0, 1.0, 0, 0])), [0.2, 0.8 * 0.8])  # of 0 1
    np.testing.assert_allclose(psi.measure(counts), uniform.expectation(psi, counts.reshape([2] * 6)))
    # words of three sites: (01|0), (10|0), (01|1), (10|1), and (0|01), ...
    first = 0.2 * (0.2 * 2 + 0.8 * 3) + 0.8 * (0.2 * 4 + 0.8 * 5)
    second = 0.8 * (0.2 * 1 + 0.8 * 2) + 0.2 * (0.2 * 5 + 0.8 * 6)
    np.testing.assert_allclose(psi.measure(counts), [first, second])
    np.testing.assert_allclose(psi.measure("Sz"), [-0.3, 0.3])
    np.testing.assert_allclose(psi.measure(np.diag([0.5, -0.5])), [-0.3, 0.3])


def test_terms_of_the_energy():
    psi = UniformMPS.random(3, cell=2, seed=1)
    h = np.random.default_rng(2).normal(size=(2, 2, 2, 2))
    h = h + h.transpose(2, 3, 0, 1)
    assert uniform.expectation(psi, h).mean() == pytest.approx(uniform.energy_density(psi, h))


@pytest.mark.sampled(1)
def test_derivatives_of_values_on_neighbours():
    psi, h = UniformMPS.random(2, cell=2, seed=3), np.random.default_rng(2).normal(size=(4, 4))
    qad.check_grads(lambda psi, h: uniform.expectation(psi, h), (psi, h), order=1)


@pytest.mark.parametrize("wrong, match", [
    (np.eye(3), "does not fit"), (np.ones((2, 2, 2)), "does not fit"), (uniform.ising(1.0), "energy_density"),
    (np.eye(2**12), "does not fit"), (3.0, "does not fit"),
])  # fmt: skip
def test_operators_that_do_not_fit(wrong, match):
    with pytest.raises((ArgumentError, ShapeError), match=match):
        uniform.expectation(turned_pairs(0.2), wrong)
