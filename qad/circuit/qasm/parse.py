"""Programs in OpenQASM 2 to circuits, by recursive descent."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from qad.circuit.gates.table import GATES
from qad.circuit.qasm import definitions
from qad.circuit.qasm.operands import Definition, Operands
from qad.circuit.qasm.tokens import MOST_STEPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.circuit.program.builder import Builder
    from qad.circuit.qasm.tokens import Token

REFUSED = {
    "reset": "a reset is no unitary gate: qad.circuit.NoisyCircuit.from_qasm runs it",
    "if": "gates on conditions need measurements within the circuit: qad.circuit.NoisyCircuit.from_qasm runs them",
}


class Call(NamedTuple):
    """A gate, a measurement into bits, or a reset, on a condition."""

    token: Token
    params: list[float]
    qubits: tuple[int, ...]
    bits: tuple[int, ...] = ()
    when: tuple[tuple[int, ...], tuple[int, ...]] | None = None  # bits, and their values


class Parser(Operands):
    """One program: its registers, its definitions, and its calls, of which a circuit is made at the end.

    Measurements within the program, resets and conditions are refused unless it is `noisy`.
    """

    size: int
    included: bool
    measured: set[int]
    calls: list[Call]
    count: int  # of classical bits
    steps: int  # gates of the library so far
    noisy: bool
    when: tuple[tuple[int, ...], tuple[int, ...]] | None  # the condition that is being read

    def __init__(self, program: str, noisy: bool = False):
        super().__init__(program)
        self.size, self.included, self.measured, self.calls = 0, False, set(), []
        self.count, self.steps, self.noisy, self.when = 0, 0, noisy, None

    def program(self) -> None:
        """Read all statements."""
        self.reader.expect("OPENQASM")
        version = self.reader.next
        if version.kind not in ("real", "int") or float(version.text) != 2:
            raise version.error(f"this reads OpenQASM 2.0 and 3, not {version}")
        self.reader.take()
        self.reader.expect(";")
        while self.reader.next.kind != "end":
            self.statement()

    def statement(self) -> None:
        """Read one statement."""
        token = self.reader.expect_kind("word", "a statement")
        if token.text in REFUSED and not self.noisy:
            raise token.error(REFUSED[token.text])
        if token.text in STATEMENTS:
            getattr(self, f"read_{token.text}")()
        elif token.text in REFUSED:
            getattr(self, f"read_{token.text}")(token)
        else:
            self.call(token)

    def read_include(self) -> None:
        """``include "qelib1.inc";``"""
        token = self.reader.expect_kind("string", "the name of a file")
        if token.text != '"qelib1.inc"':
            raise token.error(f'only "qelib1.inc" can be included, not {token.text}: copy its definitions in')
        self.included = True
        self.reader.expect(";")

    def read_qreg(self) -> None:
        """``qreg name[size];``"""
        name, size = self.declaration()
        self.registers[name] = range(self.size, self.size + size)
        self.size += size

    def read_creg(self) -> None:
        """``creg name[size];``"""
        name, size = self.declaration()
        self.bits[name] = range(self.count, self.count + size)
        self.count += size

    def read_barrier(self) -> None:
        """``barrier a, b[0];`` has no effect."""
        self.operands(self.registers)
        self.reader.expect(";")

    def read_measure(self) -> None:
        """``measure a -> b;`` ends the use of its qubits."""
        start = self.reader.next
        qubits = self.operand(self.registers)
        self.reader.expect("->")
        bits = self.operand(self.bits)
        if len(bits) != len(qubits):
            raise start.error(f"{len(qubits)} qubits cannot be measured into {len(bits)} bits")
        self.reader.expect(";")
        self.measured |= set(qubits)
        if self.noisy:
            if self.when is not None and set(bits) & set(self.when[0]):
                raise start.error("a measurement on a condition writes the bits of this condition: use another creg")
            self.calls.append(Call(start, [], tuple(qubits), tuple(bits), self.when))

    def read_reset(self, token: Token) -> None:
        """``reset a;``"""
        for qubits in self.operands(self.registers):
            self.calls += [Call(token, [], (q,), (), self.when) for q in qubits]
        self.reader.expect(";")

    def read_if(self, token: Token) -> None:
        """``if (c == 3) statement``, a gate, a measurement or a reset; bit 0 of the register is the lowest."""
        self.reader.expect("(")
        bits = self.operand(self.bits)
        self.reader.expect("==")
        value = self.reader.expect_kind("int", "a whole number")
        self.reader.expect(")")
        if value.whole() >> len(bits):
            raise value.error(f"a register of {len(bits)} bits is never {value.text}")
        if self.reader.next.text in ("barrier", "if", *DECLARATIONS):
            raise self.reader.next.error("a condition is followed by a gate, a measurement or a reset")
        self.when = tuple(bits), tuple(value.whole() >> i & 1 for i in range(len(bits)))
        self.statement()
        self.when = None

    def read_gate(self) -> None:
        """``gate name(parameters) qubits { body }``"""
        name, params, qubits = self.signature()
        self.reader.expect("{")
        body = []
        while not self.reader.accept("}"):
            token = self.reader.expect_kind("word", "a gate or '}'")
            if token.text == "barrier":
                self.names()
            else:
                self.find(token)
                expressions = self.arguments(params)
                start, operands = self.reader.next, self.names()
                for operand in operands:
                    if operand not in qubits:
                        raise start.error(f"{operand!r} is no qubit of this gate; its qubits are {', '.join(qubits)}")
                self.check_call(token, len(expressions), operands)
                body.append((token, expressions, operands))
            self.reader.expect(";")
        count = sum(self.unfolded(token) for token, _, _ in body)
        self.defined[name] = Definition(params, qubits, tuple(body), count)

    def read_opaque(self) -> None:
        """``opaque name(parameters) qubits;`` declares a gate without a matrix, which only its use makes an error."""
        name, _, _ = self.signature()
        self.opaque.add(name)
        self.reader.expect(";")

    def call(self, token: Token) -> None:
        """``name(parameters) operands;``, for every element where an operand is a register."""
        self.find(token)
        params = [value({}) for value in self.arguments(())]
        operands = self.operands(self.registers)
        self.reader.expect(";")
        sizes = {len(operand) for operand in operands} - {1}
        if len(sizes) > 1:
            raise token.error(f"registers of different sizes {sorted(sizes)} cannot be used together")
        for i in range(sizes.pop() if sizes else 1):
            qubits = tuple(operand[i if len(operand) > 1 else 0] for operand in operands)
            self.check_call(token, len(params), qubits)
            reused = set() if self.noisy else self.measured.intersection(qubits)
            if reused:
                raise token.error(
                    f"a gate after the measurement of qubit {min(reused)}: a circuit measures at its end; "
                    "qad.circuit.NoisyCircuit.from_qasm runs it"
                )
            self.steps += self.unfolded(token)
            if self.steps > MOST_STEPS:
                raise token.error(f"the program unfolds to more than {MOST_STEPS} gates")
            self.calls.append(Call(token, params, qubits, (), self.when))

    def unfolded(self, token: Token) -> int:
        """How many gates of the library a gate is."""
        return self.defined[token.text].count if token.text in self.defined else 1

    def find(self, token: Token) -> tuple[int, int]:
        """How many parameters and qubits a gate takes."""
        if token.text in self.defined:
            found = self.defined[token.text]
            return len(found.params), len(found.qubits)
        known = definitions.signature(token.text)
        if known is None and token.text in self.opaque:
            raise token.error(f"{token.text!r} is opaque, without a matrix: define it by qad.circuit.register_gate")
        if known is None:
            near = get_close_matches(
                token.text, [*GATES, *definitions.EXTRA, *self.defined, *STATEMENTS, *REFUSED], 3, 0.5
            )
            hint = f": did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise token.error(f"there is no gate {token.text!r}{hint}")
        if not self.included and token.text not in definitions.WITHOUT_INCLUDE:
            raise token.error(f'gate {token.text!r} needs include "qelib1.inc"; before the first gate')
        return known

    def check_call(self, token: Token, params: int, qubits: Sequence[object]) -> None:
        """Raise unless a gate fits its parameters and qubits."""
        wanted = self.find(token)
        if wanted != (params, len(qubits)):
            raise token.error(
                f"{token.text} takes {wanted[0]} parameters and {wanted[1]} qubits, not {params} and {len(qubits)}"
            )
        if len(set(qubits)) < len(qubits):
            raise token.error(f"a qubit is repeated in the operands of {token.text}")

    def apply(self, circuit: Builder, token: Token, params: Sequence[float], qubits: Sequence[int]) -> None:
        """Add a gate to the circuit, a defined one by its body."""
        found = self.defined.get(token.text)
        if found is None:
            definitions.apply(circuit, token.text, params, qubits)
            return
        values = dict(zip(found.params, params, strict=True))
        bound = dict(zip(found.qubits, qubits, strict=True))
        for inner, expressions, names in found.body:
            self.apply(circuit, inner, [value(values) for value in expressions], tuple(bound[n] for n in names))


DECLARATIONS = ("include", "qreg", "creg", "gate", "opaque")
STATEMENTS = (*DECLARATIONS, "barrier", "measure")


def parse(program: str, circuit_type: type[Builder]) -> Builder:
    """The circuit of a program; see `Circuit.from_qasm`."""
    if is_version_3(program):
        from qad.circuit.qasm.version3 import parse3

        return parse3(program, circuit_type)
    parser = Parser(program, circuit_type.noisy)
    try:
        parser.program()
        return circuit_of(parser, circuit_type)
    except RecursionError:
        raise parser.reader.next.error("an expression or a definition before this is nested too deeply") from None


def circuit_of(parser: Parser, circuit_type: type[Builder]) -> Builder:
    """The circuit of a program that was read."""
    if not parser.size:
        raise parser.reader.next.error("the program declares no qubits: write qreg q[2];")
    circuit = circuit_type(parser.size, bits=parser.count) if parser.noisy else circuit_type(parser.size)
    for call in parser.calls:
        if call.when is None:
            run(parser, circuit, call)
        else:
            circuit.if_(call.when[0], lambda c, call=call: run(parser, c, call), equals=call.when[1])
    return circuit


def is_version_3(program: str) -> bool:
    """Whether a program says that it is in OpenQASM 3."""
    return re.match(r"(\s|//[^\n]*|/\*.*?\*/)*OPENQASM\s+3\b", program, re.DOTALL) is not None


def run(parser: Parser, circuit: Builder, call: Call) -> None:
    """Add one call to the circuit."""
    if call.bits:
        circuit.measure(call.qubits, into=call.bits)
    elif call.token.text == "reset":
        circuit.reset(*call.qubits)
    else:
        parser.apply(circuit, call.token, call.params, call.qubits)
