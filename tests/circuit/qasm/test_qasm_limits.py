"""Programs that are nested too deeply, or ask for too much: errors of one line, at once, and from the command line."""

import io
import sys

import pytest

import qad
from qad.commands import main
from qad.core.errors import QadError, QasmError

HEAD = 'OPENQASM 2.0;\ninclude "qelib1.inc";\nqreg q[2];\n'
DOUBLED = "".join(f"gate g{k + 1} a {{ g{k} a; g{k} a; }}\n" for k in range(60))
CHAINED = "".join(f"gate g{k + 1} a {{ g{k} a; }}\n" for k in range(3000))
HOSTILE = {
    "parentheses": (HEAD + f"rx({'(' * 5000}1{')' * 5000}) q[0];", "nested too deeply"),
    "signs": (HEAD + f"rx({'-' * 5000}1) q[0];", "nested too deeply"),
    "powers": (HEAD + f"rx({'1^' * 5000}1) q[0];", "nested too deeply"),
    "functions": (HEAD + f"rx({'sin(' * 5000}1{')' * 5000}) q[0];", "nested too deeply"),
    "a long sum": (HEAD + f"rx({'1+' * 5000}1) q[0];", "nested too deeply"),
    "definitions": (HEAD + "gate g0 a { x a; }\n" + CHAINED + "g3000 q[0];", "nested too deeply"),
    "definitions that double": (HEAD + "gate g0 a { x a; }\n" + DOUBLED + "g60 q[0];", "more than 1000000 gates"),
    "a large register": ("OPENQASM 2.0;\nqreg q[99999999999];", "100000 at most"),
    "many registers": ("OPENQASM 2.0;\nqreg p[99999];\nqreg q[99999];", "100000 at most"),
    "many registers of one": (
        "OPENQASM 2.0;\n" + "".join(f"qreg q{k}[1];\n" for k in range(100_001)),
        "100000 at most",
    ),
    "many bits": ("OPENQASM 2.0;\nqreg q[1];\ncreg c[99999999999];", "100000 at most"),
    "a size of many digits": (f"OPENQASM 2.0;\nqreg q[{'9' * 5000}];", "no finite"),
    "an index of many digits": (HEAD + f"x q[{'9' * 5000}];", "no finite"),
    "a large index": (HEAD + "x q[99999999999];", "elements 0 to 1"),
    "a large exponent": (HEAD + "rx(1e99999) q[0];", "no finite"),
    "a large power": (HEAD + "rx(10^99999) q[0];", "no value"),
    "a condition of many digits": (
        HEAD + f"creg c[2];\nif (c == {'9' * 5000}) x q[0];",
        "never holds|need measurements",
    ),
}
HEAD3 = 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\n'
HOSTILE3 = {
    "parentheses": (HEAD3 + f"rx({'(' * 1500}1{')' * 1500}) q[0];", "nested too deeply"),
    "definitions that double": (
        HEAD3 + "gate g0 a { x a; }\n" + "".join(f"gate g{k + 1} a {{ g{k} a; g{k} a; }}\n" for k in range(60))
        + "g60 q[0];", "more than 1000000 gates"),
    "a large register": ("OPENQASM 3.0;\nqubit[99999999999] q;", "100000 at most"),
    "a large index": (HEAD3 + "x q[99999999999];", "elements 0 to 1"),
    "a physical qubit": ("OPENQASM 3.0;\ninclude \"stdgates.inc\";\nx $99999999999;", "100000 elements at most"),
    "a long loop": (HEAD3 + "for int i in [0:99999999999] { x q[0]; }", "1000000 elements"),
    "loops in loops": (
        HEAD3 + "for int i in [0:999] { for int j in [0:999] { for int k in [0:999] { } } }", "turns of loops"),
    "a power of a gate": (HEAD3 + "pow(99999999999) @ x q[0];", "not written out"),
    "controls": (HEAD3 + "ctrl(99999999999) @ x q[0];", "qubits, not 0 and 1"),
    "a power of numbers": (HEAD3 + "rx(2 ** 99999999999) q[0];", "no value"),
    "a literal": (HEAD3 + f"rx({'9' * 400}) q[0];", "no finite"),
    "digits": (HEAD3 + f"rx({'9' * 5000}) q[0];", "no finite"),
}  # fmt: skip


def refused(program, message, monkeypatch, capsys):
    for kind in (qad.Circuit, qad.circuit.NoisyCircuit):
        with pytest.raises(QasmError, match=message) as found:
            kind.from_qasm(program)
        assert "\n" not in str(found.value)
    monkeypatch.setattr(sys, "stdin", io.StringIO(program))
    assert main(["circuit", "-"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "many registers of one")) for name in HOSTILE]
)
@pytest.mark.sampled(6)
def test_hostile_programs_are_refused_in_a_line(name, monkeypatch, capsys):
    refused(*HOSTILE[name], monkeypatch, capsys)


@pytest.mark.parametrize("name", HOSTILE3)
def test_hostile_programs_in_openqasm_3_are_refused_in_a_line(name, monkeypatch, capsys):
    refused(*HOSTILE3[name], monkeypatch, capsys)


@pytest.mark.parametrize("n", [50, 2000, 100_000])
def test_more_qubits_than_any_state_are_refused_with_the_memory_that_they_take(n):
    for call in (lambda c: c.state(), lambda c: c.expectation("Z" * n), lambda c: c.sample(1)):
        with pytest.raises(QadError, match="this machine has"):
            call(qad.Circuit(n).h(0))
    with pytest.raises(QadError, match="trajectories"):
        qad.circuit.NoisyCircuit(n).density_matrix()
