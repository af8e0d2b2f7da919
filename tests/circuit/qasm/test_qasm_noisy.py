"""Programs that measure within themselves, in OpenQASM 2 and 3."""

from itertools import product

import numpy as np
import pytest

import qad
from qad.circuit import NoisyCircuit
from qad.core.errors import QasmError
from tests.circuit.qasm.test_qasm import HEAD, assert_equal_up_to_phase

HEAD3 = 'OPENQASM 3.0;\ninclude "stdgates.inc";\n'
REGISTERS = "qubit[3] q; bit[2] c;\n"


def same(program, circuit):
    """Whether a program is this circuit: equal density matrices, for each value of the bits."""
    found = NoisyCircuit.from_qasm(program)
    assert (found.n, found.bits) == (circuit.n, circuit.bits)
    np.testing.assert_allclose(found.bit_probabilities(), circuit.bit_probabilities(), atol=1e-14)
    np.testing.assert_allclose(found.density_matrix(), circuit.density_matrix(), atol=1e-14)


def test_version_2_with_measurements():
    program = """qreg q[2]; qreg r[1]; creg c[2]; creg d[1];
    h q; ry(0.4) r[0]; measure q -> c; if (c == 2) rx(0.3) r[0]; if (c == 1) reset q[0];
    cx r[0], q[0]; if (c == 3) measure r[0] -> d[0]; if (d == 1) cx q[0], q[1]; reset r; barrier q;
    """
    c = NoisyCircuit(3, bits=3).h([0, 1]).ry(0.4, 2).measure([0, 1], into=[0, 1])
    c.if_([0, 1], "rx", 0.3, 2, equals=[0, 1]).if_([0, 1], "reset", 0, equals=[1, 0]).cx(2, 0)
    c.if_([0, 1], lambda c: c.measure(2, into=2)).if_(2, "cx", 0, 1).reset(2)
    same(HEAD + program, c)


@pytest.mark.parametrize("program, column, message", [
    ("if (c == 4) x q[0];", 1, "never holds"),
    ("if (c == 1) qreg r[1];", 13, "a gate, a measurement or a reset"),
    ("if (c == 1) measure q -> c;", 1, "bit of its own condition"),
    ("reset r;", 7, "declared are: q"),
])  # fmt: skip
def test_errors_of_version_2(program, column, message):
    with pytest.raises(QasmError, match=message) as caught:
        NoisyCircuit.from_qasm(HEAD + "qreg q[2]; creg c[2];\n" + program)
    assert (caught.value.line, caught.value.column) == (4, column), str(caught.value)


def test_gates_of_version_3():
    program = """
    gate turn(a, b) x, y { rz(a - b) x; ctrl @ gphase(a) y; cx x, y; gphase(b); }
    const float t = pi / 4; int k = 2;
    turn(t, 0.1) q[0], q[2]; inv @ turn(0.2, 0.3) q[1], q[0]; pow(k) @ s q[1]; pow(-1) @ t q[2]; sx q[0];
    ctrl @ U(0.1, 0.2, 0.3) q[2], q[0]; negctrl(2) @ ry(0.4) q[0], q[1], q[2]; ctrl @ negctrl @ x q[2], q[0], q[1];
    ctrl(2) @ inv @ pow(2) @ gphase(0.7) q[0], q[1]; gphase(1.0); cu(0.1, 0.2, 0.3, 0.4) q[0], q[2];
    for int i in [0:2:2] { p(i * t) q[i]; } for int i in [1:2] h q[i]; cnot q[0:1], q[2]; barrier q;
    phaseshift(2 ** -1) q[1]; xx(0.3) q[1], q[4 - 2];
    """
    c = qad.Circuit(3)
    c.rz(np.pi / 4 - 0.1, 0).p(np.pi / 4, 2).cx(0, 2).cx(1, 0).p(-0.2, 0).rz(0.1, 1).s(1).s(1).tdg(2).sx(0)
    c.cu(0.1, 0.2, 0.3, 0.05, 2, 0).x([0, 1]).controlled(0, 1).ry(0.4, 2).x([0, 1])
    c.x(0).ccx(2, 0, 1).x(0).cp(-1.4, 0, 1).cu(0.1, 0.2, 0.3, 0.4, 0, 2).p(np.pi / 2, 2).h([1, 2]).cx([0, 1], 2)
    c.p(0.5, 1).rxx(0.3, 1, 2)
    start = qad.Circuit(3).ry([0.3, 0.7, 1.1], range(3)).cx([0, 1], [1, 2])
    text = "ry(0.3) q[0]; ry(0.7) q[1]; ry(1.1) q[2]; cx q[0], q[1]; cx q[1], q[2];"
    found = qad.Circuit.from_qasm(HEAD3 + REGISTERS + text + program + "c = measure q[0:1];")
    assert_equal_up_to_phase(found.state().ravel(), (start + c).state().ravel())


def test_gates_of_the_library_have_its_phases_where_they_are_controlled():
    """``gate u3(a, b, c) q { gphase(-(a + b + c) / 2); U(a, b, c) q; }``"""
    for gate, angles in ("u3(0.3, 0.7, 0.2)", "0.3, 0.7, 0.2"), ("u2(0.7, 0.2)", "pi / 2, 0.7, 0.2"):
        a, b, c = angles.split(", ")
        program = f"gate su2 x {{ gphase(-({a} + {b} + {c}) / 2); U({angles}) x; }} h q[0]; ctrl @ NAME q[0], q[1];"
        wanted, found = (program.replace("NAME", name) for name in ("su2", gate))
        wanted, found = (qad.Circuit.from_qasm(HEAD3 + REGISTERS + text).state() for text in (wanted, found))
        assert_equal_up_to_phase(found.ravel(), wanted.ravel())


def test_whole_numbers_of_version_3():
    """Division and remainder go towards zero."""
    found = qad.Circuit.from_qasm(HEAD3 + REGISTERS + "rx(-7 / 2) q[0]; ry(-7 % 3) q[0]; rx(7 % 3 + 1.0 / 2) q[0];")
    np.testing.assert_allclose(found.state(), qad.Circuit(3).rx(-3, 0).ry(-1, 0).rx(1.5, 0).state(), atol=1e-14)


def test_physical_qubits_and_comments():
    found = qad.Circuit.from_qasm("OPENQASM 3.1; /* nothing\n here */ h $1; cx $1, $3; // the end")
    np.testing.assert_allclose(found.state(), qad.Circuit(4).h(1).cx(1, 3).state(), atol=1e-14)


def test_conditions_of_version_3():
    program = """h q; c[0] = measure q[0]; c[1] = measure q[1]; bit d = measure q[2];
    if (c == 2) { rx(0.3) q[2]; reset q[0]; } else { ry(0.2) q[1]; }
    if (!c[0] && d) { if (c[1] == true) x q[0]; }
    reset q[1]; measure q[0];
    """
    c = NoisyCircuit(3, bits=3).h(range(3)).measure(range(3), into=range(3))
    for bits in product((0, 1), repeat=2):
        c.if_([0, 1], lambda c, b=bits: c.rx(0.3, 2).reset(0) if b == (0, 1) else c.ry(0.2, 1), equals=bits)
    c.if_([0, 1, 2], "x", 0, equals=[0, 1, 1]).reset(1).measure(0)
    same(HEAD3 + REGISTERS + program, c)


QISKIT = """OPENQASM 3.0;
include "stdgates.inc";
gate rzx(_gate_p_0) _gate_q_0, _gate_q_1 {
  h _gate_q_1;
  cx _gate_q_0, _gate_q_1;
  rz(_gate_p_0) _gate_q_1;
  cx _gate_q_0, _gate_q_1;
  h _gate_q_1;
}
bit[2] c;
qubit[3] q;
h q[0];
rzx(0.3) q[0], q[1];
ctrl(2) @ ry(pi/3) q[0], q[1], q[2];
barrier q[0], q[1];
c[0] = measure q[0];
c[1] = measure q[1];
if (c == 2) {
  x q[2];
}
if (c[0]) {
  x q[1];
} else {
  U(0.1, 0.2, 0.3) q[1];
}
reset q[0];
"""


def test_a_program_as_qiskit_writes_it():
    c = NoisyCircuit(3, bits=2).h(0).h(1).cx(0, 1).rz(0.3, 1).cx(0, 1).h(1).controlled(0, 1).ry(np.pi / 3, 2)
    c.measure([0, 1], into=[0, 1]).if_([0, 1], "x", 2, equals=[0, 1]).if_(0, "x", 1)
    same(QISKIT, c.if_(0, "u3", 0.1, 0.2, 0.3, 1, equals=0).reset(0))


def test_what_qiskit_writes():
    qiskit = pytest.importorskip("qiskit", reason="the optional package qiskit is not installed")
    from qiskit import qasm3
    from qiskit.circuit.random import random_circuit

    from qad.interop.qiskit import reversed_qubits

    for seed in range(3):
        given = random_circuit(4, 6, max_operands=3, seed=seed)
        exact = reversed_qubits(qiskit.quantum_info.Statevector(given).data, 4)
        assert_equal_up_to_phase(qad.Circuit.from_qasm(qasm3.dumps(given)).state().ravel(), exact)
    given = qiskit.QuantumCircuit(2, 2)
    given.h(0)
    given.measure(0, 0)
    with given.if_test((given.clbits[0], 1)) as otherwise:
        given.x(1)
    with otherwise:
        given.h(1)
    given.reset(0)
    c = NoisyCircuit(2, bits=2).h(0).measure(0, into=0).if_(0, "x", 1).if_(0, "h", 1, equals=0).reset(0)
    same(qasm3.dumps(given), c)


def test_what_braket_writes():
    program = """OPENQASM 3.0;
    bit[2] b;
    qubit[2] q;
    h q[0];
    cnot q[0], q[1];
    cphaseshift(0.3) q[0], q[1];
    vi q[1];
    #pragma braket result state_vector
    b[0] = measure q[0];
    b[1] = measure q[1];"""
    wanted = qad.Circuit(2).h(0).cx(0, 1).cp(0.3, 0, 1).sxdg(1)
    np.testing.assert_allclose(qad.Circuit.from_qasm(program).state(), wanted.state(), atol=1e-14)


@pytest.mark.parametrize("program, column, message", [
    ("hh q[0];", 1, "did you mean"),
    ("rx q[0];", 1, "takes 1 parameters and 1 qubits"),
    ("h q[3];", 5, "elements 0 to 2"),
    ("h r;", 3, "declared are: q"),
    ("cx q[0], q[0];", 1, "repeated"),
    ("rx(1 / 0) q[0];", 4, "no value"),
    ("rx(a) q[0];", 4, "no parameter 'a'"),
    ("input float a;", 1, "bind parameters"),
    ("while (true) { h q[0]; }", 1, "beyond what is read"),
    ("ctrl(0) @ x q[0];", 11, "number of controls"),
    ("ctrl(3) @ x q[0], q[1], q[2];", 11, "takes 0 parameters and 4 qubits"),
    ("qubit q;", 7, "already"),
    ("gate g a { inv @ g a; }", 18, "no gate 'g'"),
    ("reset q;", 1, "NoisyCircuit.from_qasm"),
    ("if (c[0]) { x q[0]; }", 1, "NoisyCircuit.from_qasm"),
    ("c[0] = measure q[0]; x q[0];", 22, "NoisyCircuit.from_qasm"),
    ("c = measure q;", 1, "3 qubits cannot be measured into 2 bits"),
])  # fmt: skip
def test_errors_of_version_3(program, column, message):
    with pytest.raises(QasmError, match=message) as caught:
        qad.Circuit.from_qasm(HEAD3 + REGISTERS + program)
    assert (caught.value.line, caught.value.column) == (4, column), str(caught.value)


def test_conditions_that_write_their_bits_are_refused():
    with pytest.raises(QasmError, match="bit of its own condition"):
        NoisyCircuit.from_qasm(HEAD3 + REGISTERS + "if (c[0]) { c[0] = measure q[0]; }")
    with pytest.raises(QasmError, match="no parameter 'q'"):
        NoisyCircuit.from_qasm(HEAD3 + "qubit[ q;")
