"""Conversion from and to PennyLane; both count qubit 0 as the most significant."""

import numpy as np
import pytest

import qad
from qad.circuit.gates.table import GATES
from qad.core.errors import ArgumentError
from tests.circuit.dense import dense_matrix, dense_state, random_circuit, random_sum

qml = pytest.importorskip("pennylane", reason="the optional package pennylane is not installed")

from qad.interop.pennylane import (  # noqa: E402
    from_pennylane,
    from_qnode,
    observable_from_pennylane,
    observable_to_pennylane,
    to_pennylane,
)


def their_matrix(operations, n):
    return qml.matrix(qml.tape.QuantumScript(operations), wire_order=range(n))


def test_order_of_qubits():
    ours = qad.Circuit(3).x(0)
    (theirs,) = qml.execute(
        [qml.tape.QuantumScript(to_pennylane(ours), [qml.state()])], qml.device("default.qubit", wires=3)
    )
    assert theirs[4] == 1
    np.testing.assert_allclose(theirs, ours.state().ravel())


@pytest.mark.parametrize("name", GATES)
def test_every_gate(name):
    gate, rng = GATES[name], np.random.default_rng(0)
    n = max(3, gate.qubits)
    c = qad.Circuit(n).gate(name, *rng.normal(size=gate.params), *(2, 0, 1, 3, 4)[: gate.qubits])
    for one in (c, c.inverse()):
        operations = to_pennylane(one)
        found = their_matrix(operations, n)
        phase = np.vdot(dense_matrix(one), found) / abs(np.vdot(dense_matrix(one), found))
        np.testing.assert_allclose(found, phase * dense_matrix(one), atol=1e-12)
        np.testing.assert_allclose(dense_matrix(from_pennylane(operations, range(n))), found, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_random_circuits_there_and_back(seed):
    c = random_circuit(np.random.default_rng(seed), 4, 15)
    operations = to_pennylane(c)
    found = their_matrix(operations, 4)[:, 0]
    assert abs(np.vdot(found, dense_state(c))) == pytest.approx(1, abs=1e-11)
    np.testing.assert_allclose(dense_matrix(from_pennylane(operations, range(4)))[:, 0], found, atol=1e-11)


def test_a_recorded_function():
    def template(x):
        qml.Hadamard("a")
        qml.BasicEntanglerLayers(x, ["a", "b", "c"])
        qml.adjoint(qml.S)("b")
        qml.QFT(["c", "a"])

    tape = qml.tape.make_qscript(template)(np.array([[0.1, 0.2, 0.3]]))
    expected = qml.matrix(tape, wire_order=["a", "b", "c"])
    np.testing.assert_allclose(dense_matrix(from_pennylane(tape)), expected, atol=1e-12)


def test_observables_and_gradients():
    """Values and gradients of one circuit in both."""
    rng = np.random.default_rng(3)
    H, theta = random_sum(rng, 3, 5), rng.normal(size=4)

    def ours(x):
        return qad.Circuit(3).ry(x[:3], range(3)).cx(0, 1).rzz(x[3], 1, 2).rx(x[0] * x[1], 2).expectation(H)

    @qml.qnode(qml.device("default.qubit", wires=3))
    def theirs(x):
        for q in range(3):
            qml.RY(x[q], q)
        qml.CNOT([0, 1])
        qml.IsingZZ(x[3], [1, 2])
        qml.RX(x[0] * x[1], 2)
        return qml.expval(observable_to_pennylane(H))

    x = qml.numpy.array(theta, requires_grad=True)
    np.testing.assert_allclose(ours(theta), theirs(x), atol=1e-12)
    np.testing.assert_allclose(qad.grad(ours)(theta), qml.grad(theirs)(x), atol=1e-12)
    np.testing.assert_allclose(observable_from_pennylane(observable_to_pennylane(H), 3).matrix(), H.matrix())


def test_refusals():
    with pytest.raises(ArgumentError, match="not among"):
        from_pennylane([qml.X(5)], wires=[0, 1])
    with pytest.raises(ArgumentError, match="no unitary gate"):
        from_pennylane([qml.ResetError(0.1, 0.1, 0)])
    with pytest.raises(ArgumentError, match="unitary"):
        to_pennylane(qad.Circuit(1).operator(np.eye(2), 0))
    with pytest.raises(ArgumentError, match="StatePrep"):
        to_pennylane(qad.Circuit(1, initial=np.ones(2)))
    with pytest.raises(ArgumentError, match="Pauli representation"):
        observable_from_pennylane(qml.Projector([1], 0), 1)


def test_qubits_of_an_observable_are_found():
    op = 0.5 * qml.X(2) @ qml.Z(0)
    assert observable_from_pennylane(op).terms == {"ZIX": 0.5} == observable_from_pennylane(op, 3).terms
    assert observable_from_pennylane(op, 4).terms == {"ZIXI": 0.5}
    assert observable_from_pennylane(op, wires=[2, 1, 0]).terms == {"XIZ": 0.5}
    named = qml.X("b") @ qml.Z("a")
    assert observable_from_pennylane(named).terms == {"XZ": 1.0}
    assert observable_from_pennylane(named, wires=["a", "b"]).terms == {"ZX": 1.0}
    for call in (lambda: observable_from_pennylane(op, 2), lambda: observable_from_pennylane(named, wires=["a"])):
        with pytest.raises(ArgumentError, match="are not among"):
            call()


def test_recorded_angles_stay_recorded():
    """Rot has no counterpart here, and is taken apart."""

    def energy(t):
        operations = [
            qml.RX(t[0], 0), qml.CNOT([0, 1]), qml.Rot(t[0], t[1], 2 * t[1], 1), qml.PauliRot(t[1], "XY", [0, 1]),
            qml.GlobalPhase(t[0]),
        ]  # fmt: skip
        return from_pennylane(operations).expectation(qad.PauliSum({"ZI": 1.0, "XZ": 0.5}))

    qad.check_grads(energy, (np.array([0.3, 0.7]),))


WIRES = [2, 0, 1]
MEASURED = {
    "expval": lambda: qml.expval(0.5 * qml.Z(0) @ qml.X(1) + qml.Y(2)),
    "var": lambda: qml.var(qml.Z(0) @ qml.Z(2)),
    "probs": lambda: qml.probs(wires=[1, 2]),
    "all probs": lambda: qml.probs(),
    "state": lambda: qml.state(),
    "tuple": lambda: (qml.expval(qml.Z(0)), qml.probs(wires=0)),
    "list": lambda: [qml.var(qml.X(1))],
}


@pytest.mark.parametrize("device", [{}, {"wires": WIRES}])
@pytest.mark.parametrize("name", MEASURED)
def test_functions_of_qnodes_are_differentiated(name, device):
    @qml.qnode(qml.device("default.qubit", **device))
    def theirs(t, u=0.2):
        qml.RX(t[0], 0)
        qml.RY(t[1] * u, 1)
        qml.CNOT([0, 1])
        qml.Rot(t[0], t[1], 2 * t[1], 2)
        qml.MultiRZ(t[0] * t[1], [0, 1, 2])
        return MEASURED[name]()

    ours, t = from_qnode(theirs), np.array([0.3, 0.7])
    found, wanted = ours(t, u=0.5), theirs(t, u=0.5)
    assert type(found) is type(wanted) or not isinstance(wanted, list | tuple)
    for one, two in zip(*((x if isinstance(x, list | tuple) else [x]) for x in (found, wanted)), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-12)
    qad.check_grads(ours, (t,), order=1)


def test_a_qnode_of_several_recorded_angles_needs_no_bridge():
    """PennyLane asks what kind of array an angle is where there is one; several count as NumPy's."""

    @qml.qnode(qml.device("default.qubit"))
    def energy(t):
        qml.RX(t[0], 0)
        qml.RY(t[1], 1)
        qml.CNOT([0, 1])
        return qml.expval(qml.Z(1))

    np.testing.assert_allclose(
        qad.grad(energy)(np.array([0.3, 0.7])), [-np.sin(0.3) * np.cos(0.7), -np.cos(0.3) * np.sin(0.7)], atol=1e-12
    )


def test_what_a_qnode_may_not_do():
    device = qml.device("default.qubit", wires=1)

    def circuit(t):
        qml.RX(t, 0)
        return qml.expval(qml.Z(0))

    with pytest.raises(ValueError, match="unknown object"):  # once PennyLane takes Tensors, the guide says too little
        qad.grad(qml.QNode(circuit, device))(0.3)
    plain = qml.QNode(circuit, device)
    for qnode in (qml.set_shots(plain, 10), qml.transforms.cancel_inverses(plain)):
        with pytest.raises(ArgumentError, match="without shots"):
            from_qnode(qnode)(0.3)
    with pytest.raises(ArgumentError, match="no expectation value"):
        from_qnode(qml.QNode(lambda t: [qml.RX(t, 0), qml.purity(0)][1], device))(0.3)


def test_conditions_are_not_dropped():
    with pytest.raises(ArgumentError, match="noisy"):
        to_pennylane(qad.circuit.NoisyCircuit(1, bits=1).if_(0, "x", 0))
