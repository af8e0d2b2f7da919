"""What statements are about: registers, numbers, names, and the gates that are defined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.circuit.qasm.calls import Definition
from qad.circuit.qasm.expressions import Arithmetic
from qad.circuit.qasm.tokens import MOST_ELEMENTS, MOST_STEPS, Reader

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from qad.circuit.qasm.expressions import Expression
    from qad.circuit.qasm.tokens import Token


class Operands:
    """Registers of qubits and of bits, the numbers and gates that are defined, and the reading of what names them.

    Attributes
    ----------
    version : int
        2 or 3.
    size, count : int
        How many qubits and classical bits there are so far.
    numbers : dict of str to number
        Constants, and variables of loops.
    """

    registers: dict[str, range]
    bits: dict[str, range]
    numbers: dict[str, Any]
    defined: dict[str, Definition]
    opaque: set[str]
    size: int
    count: int

    def __init__(self, program: str):
        self.reader: Reader = Reader(program)
        self.version: int = 2
        self.registers, self.bits, self.numbers, self.opaque = {}, {}, {}, set()
        self.defined = {"u0": Definition(("cycles",), ("a",), (), 0)}  # it waits
        self.size = self.count = 0

    # -- declarations ----------------------------------------------------------------------------

    def declare(self, name: Token, size: int, kind: str) -> None:
        """A new register of "qubits" or "bits"."""
        if name.text in self.registers or name.text in self.bits or name.text in self.numbers:
            raise name.error(f"there is a register {name.text!r} already")
        if not 1 <= size <= MOST_ELEMENTS - self.size - self.count:
            raise name.error(f"a register has at least one element, and all have {MOST_ELEMENTS} at most")
        if kind == "qubits":
            self.registers[name.text] = range(self.size, self.size + size)
            self.size += size
        else:
            self.bits[name.text] = range(self.count, self.count + size)
            self.count += size

    def bracketed(self) -> int:
        """A size in brackets; 1 where there is none."""
        if not self.reader.accept("["):
            return 1
        size = self.whole()
        self.reader.expect("]")
        return size

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

    # -- numbers ---------------------------------------------------------------------------------

    def arithmetic(self, names: Collection[str] | None = None, conditional: bool = False) -> Arithmetic:
        """The parser of an expression of these names, and, in a condition, of classical bits."""
        names = self.numbers if names is None else names
        return Arithmetic(self.reader, names, self.version == 3, self.bits if conditional else {})

    def number(self) -> Any:
        """The value of an expression of numbers that are known."""
        return self.arithmetic().expression()(self.numbers)

    def whole(self) -> int:
        """A whole number."""
        start, found = self.reader.next, self.number()
        if found != int(found):
            raise start.error(f"a whole number is needed here, not {found}")
        return int(found)

    def whole_numbers(self) -> range:
        """One whole number, or ``first:last`` or ``first:step:last``, the last included."""
        start, bounds = self.reader.next, [self.whole()]
        while self.reader.accept(":"):
            bounds.append(self.whole())
        first, last, step = bounds[0], bounds[-1], bounds[1] if len(bounds) == 3 else 1
        if len(bounds) > 3 or not step or abs(last - first) // abs(step) >= MOST_STEPS:
            raise start.error(f"a range is first:last or first:step:last, of {MOST_STEPS} elements at most")
        return range(first, last + (1 if step > 0 else -1), step)

    def arguments(self, names: Collection[str] | None) -> list[Expression]:
        """Expressions in parentheses, if there are any."""
        found = []
        if self.reader.accept("(") and not self.reader.accept(")"):
            found.append(self.arithmetic(names).expression())
            while self.reader.accept(","):
                found.append(self.arithmetic(names).expression())
            self.reader.expect(")")
        return found

    # -- elements of registers -------------------------------------------------------------------

    def operands(self, registers: dict[str, range]) -> list[Sequence[int]]:
        """Elements and whole registers with commas between them; none before the end of a statement."""
        found = [] if self.reader.next.text == ";" else [self.operand(registers)]
        while self.reader.accept(","):
            found.append(self.operand(registers))
        return found

    def operand(self, registers: dict[str, range]) -> Sequence[int]:
        """A register, some elements of it, or a qubit that a program names by its place."""
        if self.reader.next.kind == "physical":
            return self.physical(self.reader.take())
        token = self.reader.expect_kind("word", "a register")
        register = registers.get(token.text)
        if register is None:
            known = ", ".join(registers) or "none"
            raise token.error(f"there is no such register {token.text!r}; declared are: {known}")
        if not self.reader.accept("["):
            return register
        start, places = self.reader.next, self.whole_numbers()
        for place in (places[0], places[-1]) if places else ():
            if not 0 <= place < len(register):
                raise start.error(f"register {token.text!r} has elements 0 to {len(register) - 1}, not {place}")
        self.reader.expect("]")
        return [register[place] for place in places]

    def physical(self, token: Token) -> range:
        """The qubit ``$k``."""
        if len(token.text) > 6 or int(token.text[1:]) >= MOST_ELEMENTS:
            raise token.error(f"all registers have {MOST_ELEMENTS} elements at most")
        place = int(token.text[1:])
        self.size = max(self.size, place + 1)
        return range(place, place + 1)
