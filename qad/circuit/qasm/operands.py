"""What statements of OpenQASM 2 are about: registers, names, expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qad.circuit.qasm.expressions import expression
from qad.circuit.qasm.tokens import MOST_ELEMENTS, Reader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.circuit.qasm.expressions import Expression
    from qad.circuit.qasm.tokens import Token


class Definition(NamedTuple):
    """A gate that the program defines: names of its parameters and qubits, and the calls in its body."""

    params: tuple[str, ...]
    qubits: tuple[str, ...]
    body: tuple[tuple[Token, list[Expression], tuple[str, ...]], ...]  # name, parameters, names of qubits
    count: int  # gates of the library that it unfolds to


class Operands:
    """Registers of qubits and of bits, the gates that are defined, and the reading of what names them."""

    reader: Reader
    registers: dict[str, range]
    bits: dict[str, range]
    defined: dict[str, Definition]
    opaque: set[str]
    elements: int  # of all registers so far

    def __init__(self, program: str):
        self.reader = Reader(program)
        self.registers, self.bits, self.defined, self.opaque = {}, {}, {}, set()
        self.elements = 0

    def declaration(self) -> tuple[str, int]:
        """The name and the size of a register."""
        name = self.reader.expect_kind("word", "the name of a register")
        if name.text in self.registers or name.text in self.bits:
            raise name.error(f"there is a register {name.text!r} already")
        self.reader.expect("[")
        size = self.reader.expect_kind("int", "the size of a register")
        if not 1 <= size.whole() <= MOST_ELEMENTS - self.elements:
            raise size.error(f"a register has at least one element, and all have {MOST_ELEMENTS} at most")
        self.elements += size.whole()
        self.reader.expect("]")
        self.reader.expect(";")
        return name.text, size.whole()

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
        if index.whole() >= len(register):
            raise index.error(f"register {token.text!r} has elements 0 to {len(register) - 1}, not {index.text}")
        self.reader.expect("]")
        return register[index.whole() : index.whole() + 1]
