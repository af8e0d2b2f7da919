"""Programs in OpenQASM 2, and in what is written of OpenQASM 3, to circuits, by recursive descent.

OpenQASM 2: A. W. Cross et al., arXiv:1707.03429; 3: A. W. Cross et al., ACM Trans. Quantum Comput. 3, 12 (2022).  Loops
are written out, conditions on bits are found by trying all values of the bits that they name.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from qad.circuit.gates.checks import check_program
from qad.circuit.qasm.gate_statements import DECLARATIONS, NOISY, STATEMENTS, GateStatements
from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.circuit.program.builder import Builder
    from qad.circuit.qasm.tokens import Token

LIBRARIES = ('"qelib1.inc"', '"stdgates.inc"')
NUMBERS = ("const", "int", "uint", "float", "angle", "bool")
BEYOND = ("while", "def", "let", "switch", "input", "output", "array", "complex", "duration", "delay", "box", "extern")
MOST_BITS = 16  # in a condition: all their values are tried


class Parser(GateStatements):
    """One program: its registers, its definitions, and what it does to a circuit, in order.

    Measurements within the program, resets and conditions are refused unless it is `noisy`.
    """

    version: int
    measured: set[int]
    actions: list[Callable[[Any], Any]]
    numbers: dict[str, Any]

    def program(self) -> None:
        """Read all statements."""
        self.reader.expect("OPENQASM")
        version = self.reader.next
        if version.text.partition(".")[0] not in ("2", "3"):
            raise version.error(f"this reads OpenQASM 2.0 and 3, not {version}")
        self.version = int(self.reader.take().text[0])
        self.reader.expect(";")
        while self.reader.next.kind != "end":
            self.statement()

    def statement(self) -> None:
        """Read one statement."""
        token = self.reader.expect_kind("word", "a statement")
        if token.text in NOISY and not self.noisy:
            raise token.error(NOISY[token.text])
        if token.text in BEYOND:
            raise token.error(f"{token.text!r} is beyond what is read of OpenQASM 3: bind parameters, write loops out")
        if token.text in STATEMENTS or token.text in NOISY:
            getattr(self, f"read_{token.text}")(token)
        elif token.text in NUMBERS:
            self.read_const(token)
        elif token.text in self.bits:
            self.reader.at -= 1
            bits = self.operand(self.bits)
            self.reader.expect("=")
            self.reader.expect("measure")
            self.measure(token, self.operand(self.registers), bits)
        else:
            self.gate(token)

    # -- declarations ----------------------------------------------------------------------------

    def read_include(self, token: Token) -> None:
        """``include "qelib1.inc";``"""
        name = self.reader.expect_kind("string", "the name of a file")
        if name.text not in LIBRARIES:
            raise name.error(f"only {LIBRARIES[self.version - 2]} can be included, not {name}: copy its definitions in")
        self.included = True
        self.reader.expect(";")

    def read_qreg(self, token: Token) -> None:
        """``qreg name[size];`` or ``creg name[size];``"""
        name, size = self.reader.expect_kind("word", "the name of a register"), self.bracketed()
        self.declare(name, size, "qubits" if token.text == "qreg" else "bits")
        self.reader.expect(";")

    read_creg = read_qreg

    def read_qubit(self, token: Token) -> None:
        """``qubit[size] name;``"""
        size = self.bracketed()
        self.declare(self.reader.expect_kind("word", "the name of a register"), size, "qubits")
        self.reader.expect(";")

    def read_bit(self, token: Token) -> None:
        """``bit[size] name;``, or ``bit name = measure q;``"""
        size = self.bracketed()
        name = self.reader.expect_kind("word", "the name of a register")
        self.declare(name, size, "bits")
        if self.reader.accept("="):
            self.reader.expect("measure")
            self.measure(token, self.operand(self.registers), self.bits[name.text])
        else:
            self.reader.expect(";")

    def read_const(self, token: Token) -> None:
        """``const float name = value;`` or ``int[8] name = value;``, a number that keeps its value."""
        if token.text == "const":
            self.reader.expect_kind("word", "a type")
        self.bracketed()
        name = self.reader.expect_kind("word", "a name")
        self.reader.expect("=")
        self.numbers[name.text] = self.number()
        self.reader.expect(";")

    # -- what is no gate -------------------------------------------------------------------------

    def read_barrier(self, token: Token) -> None:
        """``barrier a, b[0];`` has no effect."""
        self.operands(self.registers)
        self.reader.expect(";")

    def read_measure(self, token: Token) -> None:
        """``measure a -> b;``, or, of OpenQASM 3, ``measure a;``, ends the use of its qubits."""
        start, qubits, bits = self.reader.next, self.operand(self.registers), None
        if self.version == 2 or self.reader.next.text == "->":
            self.reader.expect("->")
            bits = self.operand(self.bits)
        self.measure(start, qubits, bits)

    def measure(self, token: Token, qubits: Sequence[int], bits: Sequence[int] | None) -> None:
        """Qubits into bits, or into nothing."""
        if bits is not None and len(bits) != len(qubits):
            raise token.error(f"{len(qubits)} qubits cannot be measured into {len(bits)} bits")
        self.reader.expect(";")
        self.measured |= set(qubits)
        if self.noisy:
            self.actions.append(lambda c: c.measure(qubits, into=bits))

    def read_reset(self, token: Token) -> None:
        """``reset a;``"""
        for qubits in self.operands(self.registers):
            self.actions.append(lambda c, qubits=qubits: c.reset(*qubits))
        self.reader.expect(";")

    def read_for(self, token: Token) -> None:
        """``for int i in [0:3] { ... }`` is written out: the block is read again for each value."""
        self.reader.expect_kind("word", "a type")
        name = self.reader.expect_kind("word", "a name").text
        self.reader.expect("in")
        self.reader.expect("[")
        values = self.whole_numbers()
        self.reader.expect("]")
        start, outer = self.reader.at, self.numbers
        if not values:
            self.pass_over(token)
        for value in values:
            self.count_steps(token, 1)
            self.reader.at, self.numbers = start, {**outer, name: value}
            self.block()
        self.numbers = outer

    def pass_over(self, token: Token) -> None:
        """Leave a block unread."""
        depth = 0
        while (found := self.reader.take()).kind != "end":
            depth += (found.text == "{") - (found.text == "}")
            if not depth and found.text in (";", "}"):
                return
        raise token.error("a block without an end")

    def block(self) -> None:
        """Statements in braces, or one without them."""
        if not self.reader.accept("{"):
            self.statement()
            return
        while not self.reader.accept("}"):
            self.statement()

    def read_if(self, token: Token) -> None:
        """``if (c == 3) block else block``; each for all values of the bits of the condition for which it is taken."""
        self.reader.expect("(")
        parser, start = self.arithmetic(conditional=True), self.reader.at
        condition = parser.expression()
        self.reader.expect(")")
        bits, cases = sorted(parser.bits), {True: [], False: []}
        if len(bits) > MOST_BITS:
            cases[True] = self.equal(token, self.reader.tokens[start : start + 4], len(bits))
        else:
            for values in product((0, 1), repeat=len(bits)):
                cases[bool(condition({**self.numbers, **dict(zip(bits, values, strict=True))}))].append(values)
        if bits and not cases[True]:
            raise token.error("this condition never holds")
        self.branch(token, bits, cases[True])
        if self.reader.accept("else"):
            if len(bits) > MOST_BITS:
                raise token.error(f"there are too many cases in which {len(bits)} bits are no number")
            self.branch(token, bits, cases[False])

    def equal(self, token: Token, condition: Sequence[Token], count: int) -> list[tuple[int, ...]]:
        """The one case, or none, in which so many bits are a number: too many to be tried, all of one register."""
        register, sign, number, end = condition
        if register.text not in self.bits or (sign.text, number.kind, end.text) != ("==", "int", ")"):
            raise token.error(f"a condition on {count} bits; on more than {MOST_BITS} it is `register == number`")
        value = int(number.text)
        return [tuple([value >> k & 1 for k in range(count)])] if value < 2**count else []

    def branch(self, token: Token, bits: Sequence[int], cases: Sequence[Sequence[int]]) -> None:
        """One branch, where bits have one of some values."""
        if self.reader.next.text in DECLARATIONS:
            raise self.reader.next.error("a condition is followed by a gate, a measurement or a reset")
        outer, self.actions = self.actions, []
        self.block()
        inner, self.actions = self.actions, outer
        self.count_steps(token, len(inner) * len(cases))

        def add(c):
            for values in cases:
                try:
                    c.if_(bits, lambda block: [action(block) for action in inner], equals=values)
                except ArgumentError as error:
                    raise token.error(str(error)) from None

        self.actions += [add] if bits else inner * len(cases)


def parse(program: str, circuit_type: type[Builder]) -> Builder:
    """The circuit of a program; see `Circuit.from_qasm`."""
    check_program(program)
    parser = Parser(program, circuit_type.noisy)
    try:
        parser.program()
        if not parser.size:
            raise parser.reader.next.error("the program declares no qubits: write qreg q[2]; or qubit[2] q;")
        circuit = circuit_type(parser.size, bits=parser.count) if parser.noisy else circuit_type(parser.size)
        for action in parser.actions:
            action(circuit)
        return circuit
    except RecursionError:
        raise parser.reader.next.error("an expression or a definition before this is nested too deeply") from None
