"""Conversion from and to Qiskit; its order of qubits is the reverse of ours."""

import numpy as np
import pytest

import qad
from qad.circuit.gates.table import GATES
from qad.core.errors import ArgumentError
from tests.circuit.dense import dense_matrix, dense_state, random_circuit, random_sum, random_unitary

pytest.importorskip("qiskit", reason="the optional package qiskit is not installed")

from qiskit import QuantumCircuit
from qiskit.circuit import Parameter, ParameterVector, library
from qiskit.quantum_info import Operator, Statevector

from qad.interop.qiskit import (
    from_qiskit,
    observable_from_qiskit,
    observable_to_qiskit,
    reversed_qubits,
    to_qiskit,
)


def their_matrix(circuit):
    return reversed_qubits(Operator(circuit).data, circuit.num_qubits)


def assert_equal_up_to_phase(a, b):
    phase = np.vdot(b, a) / abs(np.vdot(b, a))
    np.testing.assert_allclose(a, phase * b, atol=1e-10)


def test_order_of_qubits():
    """X on qubit 0 of three: our state |100>, their index 1."""
    ours = qad.Circuit(3).x(0)
    theirs = Statevector(to_qiskit(ours)).data
    assert theirs[1] == 1
    np.testing.assert_allclose(reversed_qubits(theirs, 3), ours.state().ravel())


@pytest.mark.parametrize("name", GATES)
def test_every_gate(name):
    gate, rng = GATES[name], np.random.default_rng(0)
    n = max(3, gate.qubits)
    c = qad.Circuit(n).gate(name, *rng.normal(size=gate.params), *(2, 0, 1, 3, 4)[: gate.qubits])
    for one in (c, c.inverse()):
        np.testing.assert_allclose(their_matrix(to_qiskit(one)), dense_matrix(one), atol=1e-12)
        assert_equal_up_to_phase(dense_matrix(from_qiskit(to_qiskit(one))), dense_matrix(one))


@pytest.mark.parametrize("seed", range(3))
def test_random_circuits_there_and_back(seed):
    c = random_circuit(np.random.default_rng(seed), 4, 15)
    converted = to_qiskit(c)
    np.testing.assert_allclose(reversed_qubits(Statevector(converted).data, 4), dense_state(c), atol=1e-11)
    assert_equal_up_to_phase(dense_matrix(from_qiskit(converted)), dense_matrix(c))


def test_gates_that_qad_does_not_know():
    given = QuantumCircuit(4, 1)
    given.append(library.UnitaryGate(random_unitary(np.random.default_rng(1), 4)), [2, 0])
    given.h(range(4))
    given.cx(1, 3, ctrl_state=0)
    given.mcx([0, 1, 2], 3)
    given.cu(0.1, 0.2, 0.3, 0.4, 0, 2)
    given.barrier()
    given.measure(1, 0)
    assert_equal_up_to_phase(dense_matrix(from_qiskit(given)), their_matrix(given.remove_final_measurements(False)))


def test_observables():
    rng = np.random.default_rng(3)
    H, c = random_sum(rng, 3, 5), random_circuit(rng, 3, 12)
    theirs = observable_to_qiskit(H)
    np.testing.assert_allclose(Statevector(to_qiskit(c)).expectation_value(theirs), c.expectation(H), atol=1e-12)
    np.testing.assert_allclose(observable_from_qiskit(theirs).matrix(), H.matrix())


def test_refusals():
    free = QuantumCircuit(1)
    free.rx(Parameter("a"), 0)
    with pytest.raises(ArgumentError, match="assign_parameters"):
        from_qiskit(free)
    reset = QuantumCircuit(1)
    reset.reset(0)
    with pytest.raises(ArgumentError, match="reset"):
        from_qiskit(reset)
    late = QuantumCircuit(1, 1)
    late.measure(0, 0)
    late.x(0)
    with pytest.raises(ArgumentError, match="measured"):
        from_qiskit(late)
    with pytest.raises(ArgumentError, match="unitary"):
        to_qiskit(qad.Circuit(1).operator(np.eye(2), 0))
    with pytest.raises(ArgumentError, match="batches"):
        to_qiskit(qad.Circuit(1).rx(np.zeros(2), 0))
    with pytest.raises(ArgumentError, match="initial"):
        to_qiskit(qad.Circuit(1, initial=np.ones(2)))


def parametrised():
    t, v = Parameter("t"), ParameterVector("v", 2)
    given = QuantumCircuit(2)
    given.rx(2 * t, 0)
    given.cx(0, 1)
    given.ry(t * v[0] + v[1].sin(), 1)
    given.rz(v[1], 0)
    given.append(library.RZXGate(v[0]), [0, 1])  # which qad does not know
    return given, t, v


def test_parameters_are_given_values_and_differentiated():
    given, t, v = parametrised()
    z = qad.PauliSum({"ZI": 1.0, "XY": 0.5})

    def energy(x):
        return from_qiskit(given, {t: x[0], v: x[1:]}).expectation(z)

    x = np.array([0.3, 0.5, 0.7])
    theirs = from_qiskit(given.assign_parameters({t: x[0], v: x[1:]})).expectation(z)
    np.testing.assert_allclose(energy(x), theirs, atol=1e-12)
    np.testing.assert_allclose(from_qiskit(given, list(x)).expectation(z), theirs, atol=1e-12)
    qad.check_grads(energy, (x,))


def test_parameters_without_values_are_named():
    given, _, _ = parametrised()
    with pytest.raises(ArgumentError, match=r"give values for \['v\[0\]', 'v\[1\]'\]"):
        from_qiskit(given, {"t": 0.1})
    with pytest.raises(ArgumentError, match=r"no parameter s among \['t', 'v\[0\]', 'v\[1\]'\]"):
        from_qiskit(given, {"t": 0.1, "s": 0.2})
    with pytest.raises(ArgumentError, match="2 values for the parameters"):
        from_qiskit(given, [0.1, 0.2])


def test_conditions_are_not_dropped():
    with pytest.raises(ArgumentError, match="noisy"):
        to_qiskit(qad.circuit.NoisyCircuit(1, bits=1).if_(0, "x", 0))


def test_a_gate_without_qubits_is_a_global_phase():
    given = QuantumCircuit(1)
    given.ry(0.3, 0)
    given.append(library.GlobalPhaseGate(0.7), [])
    np.testing.assert_allclose(from_qiskit(given).state(), qad.Circuit(1).ry(0.3, 0).state(), atol=1e-15)
