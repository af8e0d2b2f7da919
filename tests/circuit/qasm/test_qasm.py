"""OpenQASM 2: round trips of random circuits, the language, and where errors point."""

import numpy as np
import pytest

import qad
from qad.circuit.gates.table import GATES
from qad.core.errors import ArgumentError, QasmError
from tests.circuit.dense import dense_matrix, random_unitary

HEAD = 'OPENQASM 2.0;\ninclude "qelib1.inc";\n'


def assert_equal_up_to_phase(a, b):
    phase = np.vdot(b, a) / abs(np.vdot(b, a))
    np.testing.assert_allclose(a, phase * b, atol=1e-12)


@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("name", GATES)
def test_every_gate_comes_back(name, adjoint):
    gate, rng = GATES[name], np.random.default_rng(1)
    n = max(3, gate.qubits)
    c = qad.Circuit(n).gate(name, *rng.normal(size=gate.params), *(2, 0, 1, 3, 4)[: gate.qubits])
    c = c.inverse() if adjoint else c
    assert_equal_up_to_phase(dense_matrix(qad.Circuit.from_qasm(c.to_qasm())), dense_matrix(c))


def test_gates_of_the_user_come_back():
    rng = np.random.default_rng(2)
    c = qad.Circuit(5).unitary(random_unitary(rng, 2), 1).controlled(3).unitary(random_unitary(rng, 2), 0)
    c.exp_pauli(0.3, "XIYZ", (0, 4, 2, 1)).controlled(3).exp_pauli(-0.7, "YX", (1, 0)).controlled(0, 2).x(1)
    c.controlled(0, 1, 2).sx(3).controlled(2).sx(3).controlled(0, 1, 2, 4).x(3).controlled(1).t(0)
    c.unitary(np.array([[0.0, 1j], [1.0, 0.0]]), 2).unitary(np.diag([1j, -1.0]), 2).controlled(2).exp_pauli(
        0.4, "I", [0]
    )
    assert_equal_up_to_phase(dense_matrix(qad.Circuit.from_qasm(c.to_qasm())), dense_matrix(c))


def test_the_language():
    c = qad.Circuit.from_qasm(
        HEAD
        + """// a comment
        gate inner(a, b) x { rz(a - b) x; barrier x; ry(-2 * (a + b) ^ 2 / 3) x; }
        gate outer(t) x, y { inner(t, sin(t)) y; cu(t, 0.1, .2, 3e-1) x, y; inner(ln(2), sqrt(2)) x; }
        qreg a[2]; qreg b[2]; creg m[2];
        h a; cx a, b; U(0.1, 0.2, pi / 4) a[1]; CX a[0], b[1];
        outer(0.7) b[0], a[1];
        barrier a, b[0];
        measure a -> m;
        x b[1]; u0(1) b[0];
        """
    )
    d = qad.Circuit(4).h([0, 1]).cx([0, 1], [2, 3]).u3(0.1, 0.2, np.pi / 4, 1).cx(0, 3)
    s = np.sin(0.7)
    d.rz(0.7 - s, 1).ry(-2 * (0.7 + s) ** 2 / 3, 1).p(0.3, 2).cu3(0.7, 0.1, 0.2, 2, 1)
    d.rz(np.log(2) - 2**0.5, 2).ry(-2 * (np.log(2) + 2**0.5) ** 2 / 3, 2).x(3)
    np.testing.assert_allclose(c.state(), d.state(), atol=1e-14)


def test_definitions_prevail_over_the_library():
    c = qad.Circuit.from_qasm(HEAD + "gate x a { h a; } qreg q[1]; x q[0];")
    np.testing.assert_allclose(c.probabilities(), 0.5)


MALFORMED = [
    ("qreg q[2];", 1, 1, "expected 'OPENQASM'"),
    ("OPENQASM 4.0;", 1, 10, "OpenQASM 2.0 and 3"),
    ("OPENQASM 2.0;\nqreg q[2]; h q[0];", 2, 12, "needs include"),
    (HEAD + "qreg q[2];\n  hh q[0];", 4, 3, "did you mean"),
    (HEAD + "qreg q[2];\ncx q[0], q[2];", 4, 12, "elements 0 to 1"),
    (HEAD + "qreg q[2];\ncx q[0], q[0];", 4, 1, "repeated"),
    (HEAD + "qreg q[2];\ncx q[0];", 4, 1, "takes 0 parameters and 2 qubits"),
    (HEAD + "qreg q[2];\nrx q[0];", 4, 1, "takes 1 parameters"),
    (HEAD + "qreg q[2];\nrx(pi/) q[0];", 4, 7, "expected a number"),
    (HEAD + "qreg q[2];\nrx(1/0) q[0];", 4, 4, "no value"),
    (HEAD + "qreg q[2];\nrx((-1)^0.5) q[0];", 4, 4, "no finite real number"),
    (HEAD + "qreg q[2];\nrx(t) q[0];", 4, 4, "no parameter 't'"),
    (HEAD + "qreg q[2];\nh q[0]", 4, 7, "expected ';', not the end of the program"),
    (HEAD + "qreg q[2];\nh r[0];", 4, 3, "declared are: q"),
    (HEAD + "qreg q[2]; qreg q[3];", 3, 17, "already"),
    (HEAD + "qreg q[0];", 3, 6, "at least one"),
    (HEAD + "qreg q[2]; qreg r[3];\ncx q, r;", 4, 1, "different sizes"),
    (HEAD + "qreg q[2]; creg c[1];\nmeasure q -> c;", 4, 9, "into 1 bits"),
    (HEAD + "qreg q[2]; creg c[2];\nmeasure q -> c; x q[1];", 4, 17, "after the measurement"),
    (HEAD + "qreg q[2]; reset q;", 3, 12, "reset"),
    (HEAD + "qreg q[1]; creg c[1];\nif (c == 1) x q[0];", 4, 1, "conditions"),
    (HEAD + "gate g a { x b; }", 3, 14, "no qubit of this gate"),
    (HEAD + "gate g(t) a, a { }", 3, 14, "repeated"),
    (HEAD + "gate g a { g a; }", 3, 12, "no gate 'g'"),
    (HEAD + "opaque g a; qreg q[1];\ng q[0];", 4, 1, "'g' is opaque"),
    (HEAD + "opaque g a; gate g a { }", 3, 18, "already"),
    (HEAD + "qreg q[1];\nx q[0]; $", 4, 9, "no meaning"),
    ('OPENQASM 2.0;\ninclude "other.inc";', 2, 9, "qelib1.inc"),
    (HEAD, 3, 1, "no qubits"),
]


@pytest.mark.parametrize("program, line, column, message", MALFORMED, ids=[m for *_, m in MALFORMED])
def test_errors_point_at_their_place(program, line, column, message):
    with pytest.raises(QasmError, match=message) as caught:
        qad.Circuit.from_qasm(program)
    assert (caught.value.line, caught.value.column) == (line, column), str(caught.value)


@pytest.mark.parametrize(
    "circuit, message",
    [
        (lambda: qad.Circuit(2).unitary(np.eye(4), 0, 1), "has no gate for unitary"),
        (lambda: qad.Circuit(1).operator(np.eye(2), 0), "only unitary gates"),
        (lambda: qad.Circuit(1, initial=np.ones(2)), "initial state"),
        (lambda: qad.Circuit(1).rx(np.zeros(2), 0), "no batches"),
        (lambda: qad.Circuit(3).controlled(0, 1).exp_pauli(0.1, "X", [2]), "2 controls"),
        (lambda: qad.Circuit(3).controlled(0, 1).rx(0.1, 2), "with 2 controls"),
    ],
)
def test_what_cannot_be_written(circuit, message):
    with pytest.raises(ArgumentError, match=message):
        circuit().to_qasm()


VERSION_3 = 'OPENQASM 3.0; include "stdgates.inc"; qubit[4] q; '


@pytest.mark.parametrize("text, flipped", [
    ("for int i in [1:0] x q[0];", ""), ("for int i in [1:0] { x q[0]; if (true) { x q[1]; } } x q[2];", "2"),
    ("const int i = 0; for int i in [1:2] { x q[i]; } x q[i];", "012"),
    ("\n#pragma braket result state_vector\nx q[3];", "3"),
])  # fmt: skip
def test_loops_and_pragmas(text, flipped):
    """Empty loops ran once, variables of loops outlived them."""
    (found,) = np.flatnonzero(qad.Circuit.from_qasm(VERSION_3 + text).probabilities().ravel() > 0.5)
    assert found == sum(1 << 3 - int(q) for q in flipped)


@pytest.mark.parametrize("text, message", [
    ("x q[3^1];", "expected"), ("\n#pragma braket noise bit_flip(0.3) q[0]\n", "no meaning"),
    ("for int i in [1:0] { x q[0];", "without an end"),
])  # fmt: skip
def test_what_would_mean_something_else_is_refused(text, message):
    with pytest.raises(qad.errors.QasmError, match=message):
        qad.Circuit.from_qasm(VERSION_3 + text)


def test_versions_that_are_no_numbers_of_ours():
    with pytest.raises(qad.errors.QasmError, match="2.0 and 3"):
        qad.Circuit.from_qasm("OPENQASM 1e400; qubit q;")


@pytest.mark.parametrize("number, flipped", [(1, True), (2, False)])
def test_conditions_on_long_registers(number, flipped):
    """Twenty bits are a number in one case only; trying all values of them would take a million."""
    text = 'OPENQASM 2.0; include "qelib1.inc"; qreg q[2]; creg c[20]; x q[0]; measure q[0] -> c[0]; '
    circuit = qad.circuit.NoisyCircuit.from_qasm(text + f"if (c == {number}) x q[1];")
    np.testing.assert_allclose(circuit.probabilities()[1], [0, 1] if flipped else [1, 0])
