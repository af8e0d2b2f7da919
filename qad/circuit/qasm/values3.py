"""Names and values of OpenQASM 3: registers, numbers, expressions."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING

from qad.circuit.qasm.tokens import MOST_ELEMENTS, MOST_STEPS
from qad.core.errors import QasmError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

CONSTANTS = {"pi": math.pi, "π": math.pi, "tau": math.tau, "τ": math.tau, "euler": math.e, "ℇ": math.e}
LONGEST = 256  # bits of whole numbers
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "arcsin": math.asin, "arccos": math.acos, "arctan": math.atan,
    "exp": math.exp, "log": math.log, "sqrt": math.sqrt, "floor": math.floor, "ceiling": math.ceil, "mod": math.fmod,
    "pow": math.pow,
}  # fmt: skip


def divided(a: Any, b: Any) -> Any:
    """The quotient, of whole numbers rounded towards zero, as in C."""
    if not (isinstance(a, int) and isinstance(b, int)):
        return a / b
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def power(a: Any, b: Any) -> Any:
    """A power, of whole numbers no longer than a line."""
    if isinstance(a, int) and isinstance(b, int) and abs(a) > 1 and b * a.bit_length() > LONGEST:
        raise OverflowError("a whole number is too large")
    return a**b


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "**": power, "/": divided,
    "%": lambda a, b: a - b * divided(a, b) if isinstance(a, int) and isinstance(b, int) else math.fmod(a, b),
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": lambda a, b: a * power(2, b), ">>": operator.rshift,
    "&&": lambda a, b: bool(a) and bool(b), "||": lambda a, b: bool(a) or bool(b),
}  # fmt: skip


def refused(node: Any, message: str) -> QasmError:
    """An exception that points at a node of the tree."""
    span = getattr(node, "span", None)
    return QasmError(message, *((span.start_line, span.start_column + 1) if span else (1, 1)))


class Names:
    """What a program has declared: registers as ranges, numbers, and definitions of gates."""

    registers: dict[str, dict[str, range | list[int]]]
    numbers: dict[str, Any]
    gates: dict[str, Any]
    counts: dict[str, int]  # how many gates of the library each of these is
    size: int
    count: int
    physical: int

    def __init__(self):
        self.registers = {"qubits": {}, "bits": {}}
        self.counts = {}
        self.numbers, self.gates, self.size, self.count, self.physical = {}, {}, 0, 0, 0

    def declare(self, node: Any, name: str, kind: str, size: Any) -> None:
        """A register of qubits or bits; of one element where no size is given."""
        if any(name in found for found in (*self.registers.values(), self.numbers)):
            raise refused(node, f"there is a {name!r} already")
        length = 1 if size is None else value(size, self)
        if not isinstance(length, int) or length < 1:
            raise refused(node, f"a register has a whole number of elements, one at least, not {length}")
        start = self.size if kind == "qubits" else self.count
        if start + length > MOST_ELEMENTS:
            raise refused(node, f"all registers of {kind} have {MOST_ELEMENTS} elements at most")
        self.registers[kind][name] = range(start, start + length)
        if kind == "qubits":
            self.size += length
        else:
            self.count += length

    def set(self, node: Any, name: str, expression: Any) -> None:
        """A number that keeps its value."""
        if expression is None:
            raise refused(node, f"{name!r} has no value: numbers are set where they are declared")
        self.numbers[name] = value(expression, self)

    def qubits(self, node: Any) -> range | list[int]:
        """The qubits that a name, or a name with an index, stands for."""
        if type(node).__name__ == "Identifier" and node.name.startswith("$"):
            place = int(node.name[1:]) if len(node.name) < 8 else MOST_ELEMENTS
            if place >= MOST_ELEMENTS:
                raise refused(node, f"there are {MOST_ELEMENTS} physical qubits at most")
            self.physical = max(self.physical, place + 1)
            return range(place, place + 1)
        return self.elements(node, "qubits")

    def bits(self, node: Any) -> range | list[int]:
        """The classical bits that a name, or a name with an index, stands for."""
        return self.elements(node, "bits")

    def elements(self, node: Any, kind: str) -> range | list[int]:
        """The elements of registers of a kind."""
        if type(node).__name__ == "Concatenation":
            return [*self.elements(node.lhs, kind), *self.elements(node.rhs, kind)]
        name, index = parts_of(node)
        register = self.registers[kind].get(name)
        if register is None:
            known = ", ".join(self.registers[kind]) or "none"
            raise refused(node, f"there is no register of {kind} {name!r}; declared are: {known}")
        if index is None:
            return register
        places = self.values(index[0] if isinstance(index, list) else index)
        for place in places:
            if not isinstance(place, int) or not -len(register) <= place < len(register):
                raise refused(node, f"{name!r} has elements 0 to {len(register) - 1}, not {place}")
        return [register[place] for place in places]

    def first(self, node: Any) -> str | None:
        """The first name of registers that are put together."""
        return self.first(node.lhs) if type(node).__name__ == "Concatenation" else parts_of(node)[0]

    def values(self, node: Any) -> list[Any]:
        """The numbers of a range, of a set, or one number."""
        kind = type(node).__name__
        if kind == "RangeDefinition":
            step = 1 if node.step is None else value(node.step, self)
            if node.start is None or node.end is None or step == 0:
                raise refused(node, "a range has a first and a last element")
            first, last = value(node.start, self), value(node.end, self)
            found = range(first, last + (1 if step > 0 else -1), step)
            if abs(last - first) // abs(step) >= MOST_STEPS:
                raise refused(node, f"a range has {MOST_STEPS} elements at most")
            return list(found)
        if kind == "DiscreteSet":
            return [value(one, self) for one in node.values]
        return [value(node, self)]

    def mentioned(self, node: Any) -> list[int]:
        """The classical bits that an expression names."""
        name, _ = parts_of(node)
        if name is not None:
            return list(self.bits(node)) if name in self.registers["bits"] else []
        parts = [getattr(node, part, None) for part in ("lhs", "rhs", "expression", "argument")]
        parts += getattr(node, "arguments", None) or []
        return sorted({bit for part in parts if part is not None for bit in self.mentioned(part)})


def parts_of(node: Any) -> tuple[str | None, Any]:
    """The name of a register, and the index behind it; None where there is none."""
    kind = type(node).__name__
    if kind == "Identifier":
        return node.name, None
    if kind == "IndexedIdentifier":
        return node.name.name, node.indices[0] if len(node.indices) == 1 else None
    if kind == "IndexExpression" and type(node.collection).__name__ == "Identifier":
        return node.collection.name, node.index
    return None, None


def value(node: Any, names: Names, bits: Mapping[int, int] | None = None) -> Any:
    """The value of an expression, with these values of the classical bits."""
    try:
        found = evaluated(node, names, bits)
        finite = not isinstance(found, complex) and math.isfinite(found)
    except (ArithmeticError, ValueError, TypeError) as error:
        if isinstance(error, QasmError):
            raise
        raise refused(node, f"this expression has no value: {error}") from None
    if not finite:
        raise refused(node, f"this expression is {found}, no finite real number")
    return found


def evaluated(node: Any, names: Names, bits: Mapping[int, int] | None) -> Any:
    """`value` without its checks."""
    kind = type(node).__name__
    if kind in ("IntegerLiteral", "FloatLiteral", "BooleanLiteral", "BitstringLiteral"):
        return node.value
    if kind == "BinaryExpression":
        return BINARY[node.op.name](evaluated(node.lhs, names, bits), evaluated(node.rhs, names, bits))
    if kind == "UnaryExpression":
        a = evaluated(node.expression, names, bits)
        if node.op.name == "~" and names.mentioned(node.expression):
            if parts_of(node.expression)[0] not in names.registers["bits"]:
                raise refused(node, "~ of an expression of bits is beyond what is read: write it of bits themselves")
            return a ^ (1 << len(names.bits(node.expression))) - 1  # as many bits as there were
        return {"-": operator.neg, "!": operator.not_, "~": operator.invert}[node.op.name](a)
    if kind == "Cast":
        return {"IntType": int, "UintType": int, "BoolType": bool}.get(type(node.type).__name__, lambda x: x)(
            evaluated(node.argument, names, bits)
        )
    if kind == "FunctionCall" and node.name.name in FUNCTIONS:
        return FUNCTIONS[node.name.name](*(evaluated(a, names, bits) for a in node.arguments))
    return named(node, names, bits)


def named(node: Any, names: Names, bits: Mapping[int, int] | None) -> Any:
    """The value of a name, or of bits, whose first is the lowest."""
    name = getattr(node, "name", None)
    if isinstance(name, str):
        if name in names.numbers:
            return names.numbers[name]
        if name in CONSTANTS:
            return CONSTANTS[name]
    if bits is not None and (places := names.mentioned(node)):
        return sum(bits[place] << i for i, place in enumerate(places))
    raise refused(node, f"this expression is beyond what is read: {name or type(node).__name__}")
