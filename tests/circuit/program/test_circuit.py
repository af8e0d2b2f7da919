"""States and expectation values against Kronecker products, with both engines; what is refused, and how."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import qad
from qad.circuit.gates.table import GATES
from qad.core.errors import ArgumentError, GradientTypeError, ShapeError
from tests.circuit.dense import ENGINES, dense_matrix, dense_state, random_circuit, random_sum, random_unitary


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", GATES)
def test_every_gate(name, engine):
    gate, rng = GATES[name], np.random.default_rng(3)
    n = max(3, gate.qubits)
    psi = rng.normal(size=2**n) + 1j * rng.normal(size=2**n)
    for qubits in [tuple(range(n)), (2, 0, 1, *range(3, n)), (*range(3, n), 1, 2, 0)]:
        c = qad.Circuit(n, initial=psi, engine=engine).gate(name, *rng.normal(size=gate.params), *qubits[: gate.qubits])
        np.testing.assert_allclose(c.state().ravel(), dense_matrix(c) @ psi, atol=1e-13)


@given(st.integers(1, 5), st.integers(0, 25), st.integers(0, 10**6), st.sampled_from(ENGINES))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_random_circuits(n, gates, seed, engine):
    rng = np.random.default_rng(seed)
    c = random_circuit(rng, n, gates, engine, nonunitary=True)
    np.testing.assert_allclose(c.state().ravel(), dense_state(c), atol=1e-11, rtol=1e-11)


@pytest.mark.parametrize("engine", ENGINES)
def test_single_precision(engine):
    c = random_circuit(np.random.default_rng(1), 4, 30, engine, dtype=np.complex64)
    assert c.state().dtype == np.complex64
    np.testing.assert_allclose(c.state().ravel(), dense_state(c), atol=1e-5)


def test_conventions():
    half = np.pi / 2
    np.testing.assert_allclose(qad.Circuit(2).x(1).state()[0, 1], 1.0)  # qubit 0 is the leftmost axis
    np.testing.assert_allclose(qad.Circuit(1).rx(half, 0).state(), np.array([1, -1j]) / np.sqrt(2), atol=1e-15)
    np.testing.assert_allclose(qad.Circuit(1).ry(half, 0).state(), np.array([1, 1]) / np.sqrt(2), atol=1e-15)
    np.testing.assert_allclose(
        qad.Circuit(1).h(0).rz(half, 0).state(), np.exp([-0.25j * np.pi, 0.25j * np.pi]) / 2**0.5
    )
    assert qad.PauliSum({"ZI": 1.0}).matrix()[1, 1] == 1  # character 0 acts on qubit 0
    assert list(GATES)[:3] == ["id", "x", "y"]


def test_sequences_of_qubits():
    theta = np.arange(1.0, 7.0)
    several = qad.Circuit(3).ry(theta[:3], range(3)).cx([0, 1], [1, 2]).u3(*theta.reshape(3, 2), [0, 2]).rz(0.5, [0, 1])
    one = qad.Circuit(3)
    for q in range(3):
        one.ry(theta[q], q)
    one.cx(0, 1).cx(1, 2).u3(1.0, 3.0, 5.0, 0).u3(2.0, 4.0, 6.0, 2).rz(0.5, 0).rz(0.5, 1)
    np.testing.assert_allclose(several.state(), one.state())
    np.testing.assert_array_equal(several.parameters, [1, 2, 3, 1, 2, 3, 4, 5, 6, 0.5, 0.5])


def test_inverse_sum_and_copies():
    rng = np.random.default_rng(0)
    a, b = random_circuit(rng, 4, 20), random_circuit(rng, 4, 20)
    before = dense_matrix(a)
    np.testing.assert_allclose((a + b).state().ravel(), (dense_matrix(b) @ before)[:, 0], atol=1e-12)
    np.testing.assert_allclose((a + b + (a + b).inverse()).state().ravel(), np.eye(16)[0], atol=1e-12)
    np.testing.assert_allclose(a.inverse().inverse().state(), a.state())
    a.copy().h(0)
    np.testing.assert_allclose(dense_matrix(a), before)
    again = a.with_parameters(2 * a.parameters)
    np.testing.assert_allclose(again.state().ravel(), dense_state(a, 2 * np.asarray(a.parameters)), atol=1e-12)


def test_registered_gates_are_called_as_they_are_written():
    def stacked(t, s):
        return qad.circuit.matrix([[np.cos(t), -np.exp(1j * s) * np.sin(t)], [np.sin(t), np.exp(1j * s) * np.cos(t)]])

    def scalar(t, s):
        z = np.exp(1j * s)
        return np.stack([np.stack([np.cos(t), -z * np.sin(t)]), np.stack([np.sin(t), z * np.cos(t)])])

    qad.circuit.register_gate("stacked", 1, stacked)
    qad.circuit.register_gate("scalarly", 1, scalar)
    try:
        theta = np.linspace(0.1, 1.0, 6)

        def run(name):
            return lambda x: qad.Circuit(3).gate(name, x[:3], x[3:], range(3)).cx(0, 1).expectation("ZXZ")

        values = [qad.value_and_grad(run(name))(theta) for name in ("stacked", "scalarly")]
        np.testing.assert_allclose(values[0][0], values[1][0])
        np.testing.assert_allclose(values[0][1], values[1][1])
        qad.check_grads(run("scalarly"), (theta,), order=1)
    finally:
        del GATES["stacked"], GATES["scalarly"]


@pytest.mark.parametrize("engine", ENGINES)
def test_expectation_values(engine):
    rng = np.random.default_rng(5)
    c, H = random_circuit(rng, 4, 20, engine), random_sum(rng, 4, 30)
    psi, m = dense_state(c), H.matrix()
    small = random_unitary(rng, 4)
    small = small + small.conj().T
    expected = [(psi.conj() @ m @ psi).real, abs(psi.reshape(4, 4)[:, 1]) ** 2 @ np.ones(4)]
    parts = [qad.circuit.Operator(u, [2, 0]) for u in (small, scipy.sparse.csr_array(small))]
    found = c.expectation([H, qad.circuit.Projector("01", [2, 3]), *parts])
    np.testing.assert_allclose(found[:2], expected, atol=1e-12)
    np.testing.assert_allclose(found[3], found[2], atol=1e-12)
    rho = np.einsum("abcd,ebfd->cafe", psi.reshape((2,) * 4), psi.conj().reshape((2,) * 4)).reshape(4, 4)
    np.testing.assert_allclose(found[2], np.trace(small @ rho).real, atol=1e-12)
    np.testing.assert_allclose(c.variance(H), (psi.conj() @ m @ m @ psi).real - expected[0] ** 2, atol=1e-11)
    p = abs(psi.reshape((2,) * 4)) ** 2
    np.testing.assert_allclose(c.probabilities([3, 1]), p.sum((0, 2)).T, atol=1e-13)
    np.testing.assert_allclose(c.amplitude("0110"), psi[6])


def test_samples_follow_the_distribution():
    c = random_circuit(np.random.default_rng(7), 3, 20)
    shots = c.sample(20000, seed=2)
    assert shots.shape == (20000, 3)
    found = np.bincount(shots @ [4, 2, 1], minlength=8) / 20000
    np.testing.assert_allclose(found, c.probabilities().ravel(), atol=0.015)
    np.testing.assert_array_equal(shots, c.sample(20000, seed=2))
    assert sum(c.counts(100).values()) == 100
    assert qad.Circuit(2).x(0).counts(5) == {"10": 5}


REFUSED = [
    (lambda c: c.h(3), "no qubit 3 among 3"),
    (lambda c: c.cx(1, 1), "repeated"),
    (lambda c: c.h(-1), "no qubit -1"),
    (lambda c: c.h(0.5), "whole number"),
    (lambda c: c.rx(0), "takes 1 angle and then 1 qubit"),
    (lambda c: c.rx(0, 0.3), "angles come first"),
    (lambda c: c.gate("cnto", 0, 1), "cnot"),
    (lambda c: c.unitary(np.ones((2, 2)), 0), "not unitary"),
    (lambda c: c.unitary(np.eye(2), 0, 1), r"shape \(4, 4\)"),
    (lambda c: c.unitary(np.full((2, 2), np.nan), 0), "not finite"),
    (lambda c: c.exp_pauli(0.1, "XQ", (0, 1)), "IXYZ"),
    (lambda c: c.expectation("XX"), "2 qubits is no observable of 3"),
    (lambda c: c.expectation(np.array([[0, 1], [0, 0]])), "Hermitian"),
    (lambda c: c.expectation(qad.PauliSum({"XII": 1j})), "not Hermitian"),
    (lambda c: c.expectation(3), "no observable"),
    (lambda c: c.with_parameters(np.zeros(3)), "has 0 parameters"),
    (lambda c: c.ry(np.zeros(2), range(3)), "takes 3 angles"),
    (lambda c: c.cx([0, 1], [1]), "equally long"),
    (lambda c: c.operator(np.eye(2), 0).inverse(), "no inverse"),
    (lambda c: c.sample(0), "shots"),
    (lambda c: c.amplitude("01"), "3 bits"),
    (lambda c: c + qad.Circuit(2), "cannot be joined"),
    (lambda c: qad.Circuit(0), "positive whole number"),
    (lambda c: qad.Circuit(60).state(), r"2\*\*60 x 16 bytes"),
    (lambda c: qad.grad(lambda t: qad.Circuit(50).ry(t, 0).expectation("Z" * 50))(0.1), "the gradient of a state"),
    (lambda c: qad.Circuit(30).ry(np.zeros((2**20, 1)), [0]).state(), r"1048576 x 2\*\*30"),
    (lambda c: qad.Circuit(2, initial=np.ones(3)), "initial state"),
    (lambda c: qad.Circuit(2, dtype=float), "complex128 or complex64"),
    (lambda c: qad.Circuit.from_qasm("programs/bell.qasm"), r"read_text\(\)"),
    (lambda c: qad.PauliSum({"XX": 1.0, "X": 1.0}), "number of qubits"),
    (lambda c: qad.PauliSum({"XA": 1.0}), "letters"),
]


@pytest.mark.parametrize("wrong, message", REFUSED, ids=[message for _, message in REFUSED])
def test_what_is_refused(wrong, message):
    with pytest.raises((ArgumentError, ShapeError), match=message):
        wrong(qad.Circuit(3))


def test_other_refusals():
    with pytest.raises(GradientTypeError, match="real"):
        qad.Circuit(1).rx(1j, 0)
    with pytest.raises(GradientTypeError, match=r"no named parameters.*c\.ry\(theta, qubit\)"):
        qad.Circuit(1).ry("a", 0)
    with pytest.raises(AttributeError, match="swap"):
        qad.Circuit(1).swpa(0, 1)


def test_controls_on_zero():

    for add in (
        lambda c: c.ry(0.3, 1), lambda c: c.gate("swap", 1, 3), lambda c: c.unitary(np.diag([1, 1j]), 3),
        lambda c: c.operator(np.diag([1, 0.5]), 3), lambda c: c.exp_pauli(0.3, "XY", (1, 3)),
        lambda c: c.rx([0.1, 0.2], [1, 3]),
    ):  # fmt: skip
        start = qad.Circuit(4).ry([0.3, 0.5, 0.7, 1.1], range(4)).cx([0, 1, 2], [1, 2, 3])
        found, wanted = add(start.copy().controlled(2, 0, values=(1, 0))).state(), start.state().copy()
        wanted[0, :, 1] = add(start.copy()).state()[0, :, 1]
        np.testing.assert_allclose(found, wanted, atol=1e-14)
    c = qad.Circuit(2)
    assert len(c.controlled(0, values=0).x(1)) == 3
    for call in (lambda: c.controlled(0, values=2), lambda: c.controlled(0, values=(0, 1))):
        with pytest.raises(qad.errors.ArgumentError, match="are given by 1 bits"):
            call()
    with pytest.raises(qad.errors.ArgumentError, match="repeated"):
        c.controlled(0, values=0).x(0)
    assert len(c) == 3


@pytest.mark.parametrize("name", ["unitary", "operator"])
def test_a_matrix_without_qubits_is_refused(name):
    with pytest.raises(ArgumentError, match="name the qubits"):
        getattr(qad.Circuit(1), name)(np.ones((1, 1)))
