"""Channels at their rates, zero and one included: density matrices by hand."""

import numpy as np
import pytest

import qad
from qad import circuit
from tests.fuzz.physics_circuits import PAULI, channel, rotation
from tests.physics import exact

START = rotation("Y", 0.4) @ np.array([1.0, 0.0])
RHO = np.outer(START, START.conj())


@pytest.mark.parametrize("name", ["depolarizing", "flip", "amplitude_damping"])
@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_slopes_by_a_rate(name, p):
    make = getattr(circuit, name)
    for letter in "XZ":
        value = lambda p: qad.circuit.NoisyCircuit(1).ry(0.4, 0).channel(make(p), 0).expectation(letter)  # noqa: B023
        wanted = lambda p: float(np.trace(PAULI[letter] @ channel(name, p, RHO, 1, 0)).real)  # noqa: B023
        assert value(p) == pytest.approx(wanted(p), abs=1e-12)
        if name != "amplitude_damping" or p < 1:  # there the root of 1 - p has no slope, and none is taken
            assert qad.grad(value)(p) == pytest.approx(exact.difference(wanted, p), abs=1e-8)


def test_named_channels():
    """The issue's own number, -4/3 cos 0.4; and the same of two qubits."""
    c = lambda p: circuit.NoisyCircuit(1).ry(0.4, 0).channel(circuit.depolarizing(p), 0).expectation("Z")
    assert qad.grad(c)(0.0) == pytest.approx(-4 / 3 * np.cos(0.4), abs=1e-10)
    flip = lambda p: circuit.NoisyCircuit(1).ry(0.4, 0).channel(circuit.flip(p), 0).expectation("Z")
    assert qad.grad(flip)(0.0) == pytest.approx(-2 * np.cos(0.4), abs=1e-10)
    damped = lambda p: circuit.NoisyCircuit(1).x(0).channel(circuit.amplitude_damping(p), 0).expectation("Z")
    assert qad.grad(damped)(0.0) == pytest.approx(2.0, abs=1e-10)


def test_mixtures():
    swap = np.eye(4)[[0, 2, 1, 3]]

    def value(p):
        kraus = circuit.mixed_unitary(qad.array([1 - p, p]), [np.eye(4), swap])
        return circuit.NoisyCircuit(2).x(0).channel(kraus, 0, 1).expectation("ZI")

    for p in (0.0, 0.25, 1.0):
        assert value(p) == pytest.approx(2 * p - 1, abs=1e-12)
        assert qad.grad(value)(p) == pytest.approx(2.0, abs=1e-9)


def test_density_matrix_purity_and_probabilities():
    c = circuit.NoisyCircuit(1).ry(0.4, 0).channel(circuit.depolarizing(0.2), 0)
    rho = channel("depolarizing", 0.2, RHO, 1, 0)
    assert np.asarray(c.density_matrix()).reshape(2, 2) == pytest.approx(rho, abs=1e-12)
    assert c.purity() == pytest.approx(np.trace(rho @ rho).real, abs=1e-12)
    assert c.probabilities() == pytest.approx(rho.diagonal().real, abs=1e-12)


def test_trajectories():
    for p in (0.0, 0.3, 1.0):
        c = circuit.NoisyCircuit(1).ry(0.4, 0).channel(circuit.flip(p), 0)
        values = c.trajectories(2000).expectation("Z")
        assert np.mean(values) == pytest.approx((1 - 2 * p) * np.cos(0.4), abs=5 / np.sqrt(2000) + 1e-12)
