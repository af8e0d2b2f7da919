"""Arithmetic on values, instruction by instruction."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from qad.native.values import Bits, Complex, Number, constant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.native.values import Scalar, Value

__all__ = ["Instructions"]

KNOWN: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv, "Pow": operator.pow,
    "FloorDiv": operator.floordiv, "Mod": operator.mod, "LShift": operator.lshift, "RShift": operator.rshift,
    "BitAnd": operator.and_, "BitOr": operator.or_, "BitXor": operator.xor, "Eq": operator.eq, "NotEq": operator.ne,
    "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge,
}  # fmt: skip
FLOATING = {"Add": "fadd", "Sub": "fsub", "Mult": "fmul", "Div": "fdiv"}
WHOLE = {
    "Add": "add nsw", "Sub": "sub nsw", "Mult": "mul nsw", "LShift": "shl", "RShift": "ashr", "BitAnd": "and",
    "BitOr": "or", "BitXor": "xor",
}  # fmt: skip
ORDER = {"Eq": "eq", "NotEq": "ne", "Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge"}
RANK = ("i1", "i32", "i64", "float", "double")


class Instructions:
    """Emits the instructions of one function.

    Parameters
    ----------
    fast : bool
        Whether products and sums may be contracted and put in another order.
    """

    lines: list[str]
    allocations: list[str]
    declared: dict[str, None]
    count: int
    flags: str

    def __init__(self, fast: bool):
        self.lines, self.allocations, self.declared, self.count = [], [], {}, 0
        self.flags = "reassoc nsz arcp contract " if fast else ""

    def fresh(self) -> str:
        """A new name of a register or a block."""
        self.count += 1
        return f"%v{self.count}"

    def emit(self, type: str, text: str) -> Number:
        """One instruction that makes a number."""
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return Number(type, name)

    def declare(self, text: str) -> None:
        """Declare a function from elsewhere."""
        self.declared[text] = None

    def emit_bits(self, type: str, text: str) -> Bits:
        """One instruction that makes a vector."""
        return Bits(*self.emit(type, text))

    def say(self, text: str) -> None:
        """One instruction that makes nothing."""
        self.lines.append("  " + text)

    # -- types

    def cast(self, x: Scalar, type: str) -> Number:
        """A number as one of another type."""
        if not isinstance(x, Number):
            return Number(type, constant(x, type))
        if x.type == type:
            return x
        if x.type not in RANK or type not in RANK or type == "i1":
            raise TypeError(f"{x.type} where {type} is needed")
        if type in ("float", "double"):
            how = {"float": "fpext", "double": "fptrunc", "i1": "uitofp"}.get(x.type, "sitofp")
        elif x.type in ("float", "double"):
            raise TypeError("a real number where an integer is needed")
        else:
            how = "zext" if x.type == "i1" else "sext" if RANK.index(x.type) < RANK.index(type) else "trunc"
        return self.emit(type, f"{how} {x.type} {x.name} to {type}")

    def common(self, x: Scalar, y: Scalar) -> tuple[Number, Number]:
        """Two numbers as ones of one type."""
        types = [v.type for v in (x, y) if isinstance(v, Number)]
        found = max([t if t != "i1" else "i64" for t in types], key=RANK.index)
        if found.startswith("i") and any(isinstance(v, float) for v in (x, y)):
            found = "double"
        return self.cast(x, found), self.cast(y, found)

    def whole(self, x: Scalar) -> Number:
        """An integer of 64 bits."""
        return self.cast(x, "i64")

    # -- operations

    def binary(self, op: str, x: Value, y: Value) -> Value:
        """``x op y``; `op` is named as in Python's `ast`."""
        if not isinstance(x, tuple) and not isinstance(y, tuple):
            return KNOWN[op](x, y)
        if isinstance(x, Complex) or isinstance(y, Complex):
            return self.complex(op, x, y)
        if isinstance(x, Bits) or isinstance(y, Bits):
            x, y = self.spread(x, y), self.spread(y, x)
            return self.emit_bits(x.type, f"{FLOATING[op]} {self.flags}{x.type} {x.name}, {y.name}")
        if op == "Pow":
            if not isinstance(x, float) or x != 2.0:
                raise TypeError("only powers of 2.0 are known")
            return self.emit("double", f"call double @ldexp(double 1.0, i32 {self.cast(y, 'i32').name})")
        x, y = self.common(x, y)
        if op == "Div" and x.type.startswith("i"):
            x, y = self.cast(x, "double"), self.cast(y, "double")
        if op in ORDER:
            return self.compare(ORDER[op], x, y)
        if x.type in ("float", "double"):
            return self.emit(x.type, f"{FLOATING[op]} {self.flags}{x.type} {x.name}, {y.name}")
        if op in WHOLE:
            return self.emit(x.type, f"{WHOLE[op]} {x.type} {x.name}, {y.name}")
        return self.floored(op, x, y)

    def compare(self, order: str, x: Number, y: Number) -> Number:
        """A comparison of two numbers of one type."""
        if x.type in ("float", "double"):
            return self.emit(
                "i1", f"fcmp {self.flags}{'une' if order == 'ne' else 'o' + order} {x.type} {x.name}, {y.name}"
            )
        sign = "" if order in ("eq", "ne") else "s"
        return self.emit("i1", f"icmp {sign}{order} {x.type} {x.name}, {y.name}")

    def floored(self, op: str, x: Number, y: Number) -> Number:
        """Quotient or remainder as in Python, by a divisor that is not 0."""
        if op not in ("FloorDiv", "Mod") or y.name == "0":
            raise TypeError(f"integers have no {op} by {y.name}")
        if y.name.isdigit() and (size := int(y.name)) & (size - 1) == 0:
            how, by = ("ashr", size.bit_length() - 1) if op == "FloorDiv" else ("and", size - 1)
            return self.emit("i64", f"{how} i64 {x.name}, {by}")
        rest = self.emit("i64", f"srem i64 {x.name}, {y.name}")
        turned = self.binary("Lt", self.binary("BitXor", rest, y), 0)  # the rest has the sign of the divisor
        below = self.emit("i1", f"and i1 {turned.name}, {self.truth(rest).name}")
        if op == "Mod":
            return self.binary("Add", rest, self.emit("i64", f"select i1 {below.name}, i64 {y.name}, i64 0"))
        return self.binary("Sub", self.emit("i64", f"sdiv i64 {x.name}, {y.name}"), below)

    def complex(self, op: str, x: Value, y: Value) -> Complex | Number:
        """Arithmetic of complex numbers, and of these with real ones."""
        if op == "Mult" and not isinstance(x, Complex):
            return Complex(self.binary(op, x, y.real), self.binary(op, x, y.imag))
        if op in ("Mult", "Div") and not isinstance(y, Complex):
            return Complex(self.binary(op, x.real, y), self.binary(op, x.imag, y))
        (a, b), (c, d) = (v if isinstance(v, Complex) else (v, 0) for v in (x, y))
        if op in ("Add", "Sub"):
            return Complex(self.binary(op, a, c), self.binary(op, b, d) if d != 0 else b)
        if op == "Mult":
            real = self.binary("Sub", self.binary("Mult", a, c), self.binary("Mult", b, d))
            return Complex(real, self.binary("Add", self.binary("Mult", a, d), self.binary("Mult", b, c)))
        if op in ("Eq", "NotEq"):
            parts = self.binary(op, a, c), self.binary(op, b, d)
            return self.emit("i1", f"{'and' if op == 'Eq' else 'or'} i1 {parts[0].name}, {parts[1].name}")
        raise TypeError(f"complex numbers have no {op}")

    def negative(self, x: Value) -> Value:
        """``-x``."""
        if isinstance(x, Complex):
            return Complex(self.negative(x.real), self.negative(x.imag))
        if not isinstance(x, Number):
            return -x
        if x.type in ("float", "double"):
            return self.emit(x.type, f"fneg {self.flags}{x.type} {x.name}")
        return self.binary("Sub", 0, x)

    def truth(self, x: Value) -> Number | bool:
        """Whether a value is true: of Python's if that is known, else a number i1."""
        if isinstance(x, Number):
            return x if x.type == "i1" else self.binary("NotEq", x, 0)
        if isinstance(x, tuple):
            raise TypeError(f"a condition that is a {type(x).__name__}")
        return bool(x)

    def spread(self, x: Scalar | Bits, like: Bits) -> Bits:
        """A vector all of whose numbers are x."""
        if isinstance(x, Bits):
            return x
        one = self.cast(x, like.single)
        first = self.emit(like.type, f"insertelement {like.type} poison, {like.single} {one.name}, i32 0")
        return self.shuffled(first, [0] * like.count)

    def shuffled(self, x: Number | Bits, lanes: Sequence[int]) -> Bits:
        """The numbers of a vector at these places."""
        type = f"<{len(lanes)} x {Bits(*x).single}>"
        mask = f"<{len(lanes)} x i32> <{', '.join(f'i32 {lane}' for lane in lanes)}>"
        return self.emit_bits(type, f"shufflevector {x.type} {x.name}, {x.type} poison, {mask}")
