"""Arithmetic in OpenQASM, by precedence climbing: a parsed expression is a function of the names and bits in it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from qad.circuit.qasm.tokens import Reader

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "exp": math.exp, "ln": math.log, "log": math.log,
    "sqrt": math.sqrt, "arcsin": math.asin, "arccos": math.acos, "arctan": math.atan,
}  # fmt: skip
CONSTANTS: dict[str, float] = {
    "pi": math.pi,
    "π": math.pi,
    "tau": math.tau,
    "τ": math.tau,
    "euler": math.e,
    "true": 1,
    "false": 0,
}
DIGITS = 18  # of whole numbers; longer ones are taken for real

Values: TypeAlias = Mapping[str | int, Any]  # of names, and of classical bits by their numbers
Expression: TypeAlias = Callable[[Values], Any]


def divided(a: Any, b: Any) -> Any:
    """The quotient, of whole numbers rounded towards zero, as in C."""
    whole = isinstance(a, int) and isinstance(b, int)
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if whole else a / b


def remainder(a: Any, b: Any) -> Any:
    """What division leaves, of the sign of `a`."""
    return a - b * divided(a, b) if isinstance(a, int) and isinstance(b, int) else math.fmod(a, b)


def power(a: Any, b: Any) -> Any:
    """A power; a whole number, if it is one that double precision holds exactly."""
    found = float(a) ** b
    whole = isinstance(a, int) and isinstance(b, int) and b >= 0 and abs(found) < 2**53
    return int(found) if whole else found


# how tightly they bind, and what they do
BINARY: dict[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "||": (1, lambda a, b: bool(a) or bool(b)), "&&": (2, lambda a, b: bool(a) and bool(b)),
    "==": (3, operator.eq), "!=": (3, operator.ne),
    "<": (4, operator.lt), ">": (4, operator.gt), "<=": (4, operator.le), ">=": (4, operator.ge),
    "+": (5, operator.add), "-": (5, operator.sub), "*": (6, operator.mul), "/": (6, divided), "%": (6, remainder),
}  # fmt: skip
UNARY: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos, "!": operator.not_}


class Arithmetic:
    """The parser of one expression.

    Attributes
    ----------
    names : collection of str
        The names that may occur.
    registers : dict of str to range
        The classical bits that may occur; the first of a register is its lowest.
    whole : bool
        Whether numbers without a point are whole numbers.
    bits : set of int
        The classical bits that did occur.
    """

    reader: Reader
    names: Collection[str]
    registers: Mapping[str, range]
    whole: bool
    bits: set[int]

    def __init__(self, reader: Reader, names: Collection[str], whole: bool, registers: Mapping[str, range]):
        self.reader, self.names, self.whole, self.registers, self.bits = reader, names, whole, registers, set()

    def expression(self) -> Expression:
        """Read it; the function raises QasmError where the value is no finite real number."""
        start, value = self.reader.next, self.binary(1)

        def evaluated(values):
            try:
                result = value(values)
                if isinstance(result, complex) or not math.isfinite(result):
                    raise start.error(f"this expression is {result}, no finite real number")
            except (ArithmeticError, ValueError) as error:
                if hasattr(error, "column"):
                    raise
                raise start.error(f"this expression has no value: {error.args[-1]}") from None
            return result

        return evaluated

    def binary(self, level: int) -> Expression:
        """Terms joined by signs that bind at least so tightly, from the left."""
        value = self.unary()
        while self.reader.next.kind == "sign" and BINARY.get(self.reader.next.text, (0,))[0] >= level:
            own, operation = BINARY[self.reader.take().text]
            value = combined(operation, value, self.binary(own + 1))
        return value

    def unary(self) -> Expression:
        """A power with signs before it."""
        if self.reader.next.kind == "sign" and (operation := UNARY.get(self.reader.next.text)) is not None:
            self.reader.take()
            value = self.unary()
            return lambda values: operation(value(values))
        base = self.atom()
        if self.reader.accept("**") or (not self.whole and self.reader.accept("^")):  # which is XOR in version 3
            return combined(power, base, self.unary())
        return base

    def atom(self) -> Expression:
        """A number, a name, a function's value, classical bits, or an expression in parentheses."""
        token = self.reader.take()
        text = token.text
        if token.kind in ("int", "real"):
            number = int(text) if token.kind == "int" and self.whole and len(text) <= DIGITS else float(text)
            return lambda values: number
        if text in self.names:
            return lambda values: values[text]
        if text in self.registers:
            return self.bits_of(self.registers[text])
        if text in CONSTANTS:
            return lambda values: CONSTANTS[text]
        if text in FUNCTIONS or text == "(":
            if text != "(":
                self.reader.expect("(")
            value = self.binary(1)
            self.reader.expect(")")
            return value if text == "(" else lambda values: FUNCTIONS[text](value(values))
        if token.kind == "word":
            known = ", ".join([*self.names, *self.registers, "pi", *FUNCTIONS])
            raise token.error(f"there is no parameter {text!r}; known are {known}")
        raise token.error(f"expected a number, a parameter or a parenthesis, not {token}")

    def bits_of(self, register: range) -> Expression:
        """The whole number that a register of bits holds, or one bit of it."""
        if self.reader.accept("["):
            token = self.reader.expect_kind("int", "a number")
            place = int(token.text[:DIGITS])
            if place >= len(register):
                raise token.error(f"there are bits 0 to {len(register) - 1}, not {token.text}")
            register = register[place : place + 1]
            self.reader.expect("]")
        self.bits |= set(register)
        return lambda values: sum(values[bit] << i for i, bit in enumerate(register))


def combined(operation: Callable[[Any, Any], Any], left: Expression, right: Expression) -> Expression:
    """The function of two functions."""
    return lambda values: operation(left(values), right(values))
