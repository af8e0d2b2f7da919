"""Programs in OpenQASM 2 to circuits, by recursive descent."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from qad.circuit.gates import GATES
from qad.circuit.qasm import definitions
from qad.circuit.qasm.expressions import expression
from qad.circuit.qasm.tokens import Reader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.circuit.builder import Builder
    from qad.circuit.qasm.expressions import Expression
    from qad.circuit.qasm.tokens import Token

REFUSED = {
    "reset": "a reset is no unitary gate: a circuit measures only at its end",
    "if": "gates on conditions need measurements within the circuit, which it has not",
}


class Definition(NamedTuple):
    """A gate that the program defines: names of its parameters and qubits, and the calls in its body."""

    params: tuple[str, ...]
    qubits: tuple[str, ...]
    body: tuple[tuple[Token, list[Expression], tuple[str, ...]], ...]  # name, parameters, names of qubits


class Parser:
    """One program: its registers, its definitions, and its calls, of which a circuit is made at the end."""

    reader: Reader
    registers: dict[str, range]
    bits: dict[str, range]
    defined: dict[str, Definition]
    opaque: set[str]
    size: int
    included: bool
    measured: set[int]
    calls: list[tuple[Token, list[float], tuple[int, ...]]]

    def __init__(self, program: str):
        self.reader = Reader(program)
        self.registers, self.bits, self.defined, self.opaque, self.size = {}, {}, {}, set(), 0
        self.included, self.measured, self.calls = False, set(), []

    def program(self) -> None:
        """Read all statements."""
        self.reader.expect("OPENQASM")
        version = self.reader.next
        if version.kind not in ("real", "int") or float(version.text) != 2:
            raise version.error(f"this reads OpenQASM 2.0, not {version}")
        self.reader.take()
        self.reader.expect(";")
        while self.reader.next.kind != "end":
            self.statement()

    def statement(self) -> None:
        """Read one statement."""
        token = self.reader.expect_kind("word", "a statement")
        if token.text in REFUSED:
            raise token.error(REFUSED[token.text])
        handler = getattr(self, f"read_{token.text}", None) if token.text in STATEMENTS else None
        if handler is not None:
            handler()
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
        self.bits[name] = range(size)

    def declaration(self) -> tuple[str, int]:
        """The name and the size of a register."""
        name = self.reader.expect_kind("word", "the name of a register")
        if name.text in self.registers or name.text in self.bits:
            raise name.error(f"there is a register {name.text!r} already")
        self.reader.expect("[")
        size = self.reader.expect_kind("int", "the size of a register")
        if int(size.text) < 1:
            raise size.error("a register has at least one element")
        self.reader.expect("]")
        self.reader.expect(";")
        return name.text, int(size.text)

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
        self.defined[name] = Definition(params, qubits, tuple(body))

    def read_opaque(self) -> None:
        """``opaque name(parameters) qubits;`` declares a gate without a matrix, which only its use makes an error."""
        name, _, _ = self.signature()
        self.opaque.add(name)
        self.reader.expect(";")

    def signature(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """The name of a new gate and the names of its parameters and qubits."""
        name = self.reader.expect_kind("word", "the name of a gate")
        if name.text in self.defined or name.text in self.opaque:
            raise name.error(f"there is a definition of {name.text!r} already")
        params = ()
        if self.reader.accept("("):
            params = () if self.reader.next.text == ")" else self.names()
            self.reader.expect(")")
        return name.text, params, self.names()

    def names(self) -> tuple[str, ...]:
        """Different names with commas between them."""
        found = []
        while True:
            token = self.reader.expect_kind("word", "a name")
            if token.text in found:
                raise token.error(f"{token.text!r} is repeated")
            found.append(token.text)
            if not self.reader.accept(","):
                return tuple(found)

    def arguments(self, names: Sequence[str]) -> list[Expression]:
        """Expressions in parentheses, if there are any."""
        found = []
        if self.reader.accept("(") and not self.reader.accept(")"):
            found.append(expression(self.reader, names))
            while self.reader.accept(","):
                found.append(expression(self.reader, names))
            self.reader.expect(")")
        return found

    def operands(self, registers: dict[str, range]) -> list[range]:
        """Elements and whole registers, as ranges, with commas between them."""
        found = [self.operand(registers)]
        while self.reader.accept(","):
            found.append(self.operand(registers))
        return found

    def operand(self, registers: dict[str, range]) -> range:
        """A register, or one element of it, as a range of qubits."""
        token = self.reader.expect_kind("word", "a register")
        register = registers.get(token.text)
        if register is None:
            known = ", ".join(registers) or "none"
            raise token.error(f"there is no such register {token.text!r}; declared are: {known}")
        if not self.reader.accept("["):
            return register
        index = self.reader.expect_kind("int", "a number")
        if int(index.text) >= len(register):
            raise index.error(f"register {token.text!r} has elements 0 to {len(register) - 1}, not {index.text}")
        self.reader.expect("]")
        return register[int(index.text) : int(index.text) + 1]

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
            if reused := self.measured.intersection(qubits):
                raise token.error(f"a gate after the measurement of qubit {min(reused)}: a circuit measures at its end")
            self.calls.append((token, params, qubits))

    def find(self, token: Token) -> tuple[int, int]:
        """How many parameters and qubits a gate takes."""
        if token.text in self.defined:
            found = self.defined[token.text]
            return len(found.params), len(found.qubits)
        known = definitions.signature(token.text)
        if known is None and token.text in self.opaque:
            raise token.error(f"{token.text!r} is opaque, without a matrix: define it by qad.circuit.register_gate")
        if known is None:
            near = get_close_matches(token.text, [*GATES, *definitions.EXTRA, *self.defined, *STATEMENTS], 3, 0.5)
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


STATEMENTS = ("include", "qreg", "creg", "barrier", "measure", "gate", "opaque")


def parse(program: str, circuit_type: type[Builder]) -> Builder:
    """The circuit of a program; see `Circuit.from_qasm`."""
    parser = Parser(program)
    parser.program()
    if not parser.size:
        raise parser.reader.next.error("the program declares no qubits: write qreg q[2];")
    circuit = circuit_type(parser.size)
    for call in parser.calls:
        parser.apply(circuit, *call)
    return circuit
