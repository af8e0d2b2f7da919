"""Arithmetic in OpenQASM 2, by recursive descent: a parsed expression is a function of the names in it.

sum     = product (("+" | "-") product)*
product = signed (("*" | "/") signed)*
signed  = "-" signed | "+" signed | power
power   = atom [("^" | "**") signed]
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from typing import Any

    from qad.circuit.qasm.tokens import Reader

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "exp": math.exp, "ln": math.log, "sqrt": math.sqrt,
}  # fmt: skip
SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}  # fmt: skip

Expression: TypeAlias = Callable[[dict[str, float]], float]  # the value, from those of the parameters
Parse: TypeAlias = "Callable[[Reader, Sequence[str]], Expression]"


def expression(reader: Reader, names: Sequence[str]) -> Expression:
    """Parse a sum; `names` are the parameters that may occur.

    Returns
    -------
    callable
        From a dict of the parameters' values to a float; it raises QasmError where the value is no finite real number.
    """
    start, value = reader.next, summed(reader, names)

    def evaluated(values):
        try:
            result = value(values)
        except (ArithmeticError, ValueError) as error:
            raise start.error(f"this expression has no value: {error.args[-1]}") from None
        if isinstance(result, complex) or not math.isfinite(result):
            raise start.error(f"this expression is {result}, no finite real number")
        return float(result)

    return evaluated


def chain(part: Parse, signs: str) -> Parse:
    """The parser of parts joined by signs that bind to the left."""

    def parse(reader, names):
        value = part(reader, names)
        while reader.next.kind == "sign" and reader.next.text in signs:
            value = combined(SIGNS[reader.take().text], value, part(reader, names))
        return value

    return parse


def combined(operation: Callable[[Any, Any], Any], left: Expression, right: Expression) -> Expression:
    """The function of two functions."""
    return lambda values: operation(left(values), right(values))


def signed(reader: Reader, names: Sequence[str]) -> Expression:
    """A power with signs before it."""
    if reader.accept("-"):
        value = signed(reader, names)
        return lambda values: -value(values)
    if reader.accept("+"):
        return signed(reader, names)
    return power(reader, names)


def power(reader: Reader, names: Sequence[str]) -> Expression:
    """An atom, and what it is raised to."""
    base = atom(reader, names)
    if reader.accept("^") or reader.accept("**"):
        return combined(operator.pow, base, signed(reader, names))
    return base


def atom(reader: Reader, names: Sequence[str]) -> Expression:
    """A number, a name, a function's value, or a sum in parentheses."""
    token = reader.take()
    if token.kind in ("int", "real"):
        return lambda values: float(token.text)
    if token.text == "pi":
        return lambda values: math.pi
    if token.text in names:
        return lambda values: values[token.text]
    if token.text in FUNCTIONS:
        reader.expect("(")
        argument = summed(reader, names)
        reader.expect(")")
        return lambda values: FUNCTIONS[token.text](argument(values))
    if token.text == "(":
        value = summed(reader, names)
        reader.expect(")")
        return value
    if token.kind == "word":
        raise token.error(f"there is no parameter {token.text!r}; known are {', '.join([*names, 'pi', *FUNCTIONS])}")
    raise token.error(f"expected a number, a parameter or a parenthesis, not {token}")


summed: Parse = chain(chain(signed, "*/"), "+-")
