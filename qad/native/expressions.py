"""Expressions of kernels as instructions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from qad.native.arithmetic import Instructions
from qad.native.values import TAGS, Array, Bits, Complex, Kind, Number, Range, Record, join, plain, split, width

if TYPE_CHECKING:
    from qad.native.values import Condition, Element, Scalar, Slot, Value

__all__ = ["Expressions"]


class Expressions(Instructions):
    """Emits the expressions of one function.

    Parameters
    ----------
    fast : bool
        See `Instructions`.
    names : dict
        What the function's names stand for that it does not assign: modules, functions, constants.
    """

    names: dict[str, Value]
    slots: dict[str, Slot]
    bound: dict[str, Value]
    defined: set[str]

    def __init__(self, fast: bool, names: dict[str, Value]):
        super().__init__(fast)
        self.names, self.slots, self.bound = names, {}, {}
        self.defined = set()  # the variables that have a value whatever way was taken

    def value(self, node: ast.AST) -> Value:
        """The value of an expression."""
        return getattr(self, "_" + type(node).__name__.lower())(node)

    def _constant(self, node):
        return node.value

    def _name(self, node):
        if node.id in self.bound:
            return self.bound[node.id]
        if node.id in self.slots:
            if node.id not in self.defined:
                raise TypeError(f"{node.id} may have no value here")
            return self.read(self.slots[node.id])
        return self.names[node.id]

    def _tuple(self, node):
        return tuple([self.value(x) for x in node.elts])

    def _listcomp(self, node):
        """A tuple: what it runs over is known."""
        (loop,), found, before = node.generators, [], dict(self.bound)
        over = self.value(loop.iter)
        if loop.ifs:
            raise TypeError("a condition in a comprehension")
        for x in range(*over) if isinstance(over, Range) else plain(over):
            names, values = (loop.target.elts, x) if isinstance(loop.target, ast.Tuple) else ((loop.target,), (x,))
            self.bound |= {name.id: value for name, value in zip(names, values, strict=True)}
            found.append(self.value(node.elt))
        self.bound = before
        return tuple(found)

    def _binop(self, node):
        return self.binary(type(node.op).__name__, self.value(node.left), self.value(node.right))

    def _unaryop(self, node):
        if is_not(node):
            x = self.condition(node.operand)
            return self.emit("i1", f"xor i1 {x.name}, true") if isinstance(x, Number) else not x
        x = self.value(node.operand)
        if isinstance(node.op, ast.USub):
            return self.negative(x)
        if isinstance(node.op, ast.UAdd):
            return +x if not isinstance(x, tuple) else self.binary("Add", x, 0) if isinstance(x, Number) else x
        return self.binary("BitXor", x, -1)

    def _compare(self, node):
        found, left = True, self.value(node.left)
        for op, right in zip(node.ops, map(self.value, node.comparators), strict=True):
            if isinstance(op, ast.In):
                each = [self.binary("Eq", left, x) for x in plain(right)]
                found = self.both(found, self.any_of(each))
            else:
                found = self.both(found, self.binary(type(op).__name__, left, right))
            left = right
        return found

    def both(self, x: Condition, y: Condition) -> Condition:
        """Whether two conditions hold that are both evaluated."""
        if isinstance(x, Number) and isinstance(y, Number):
            return self.emit("i1", f"and i1 {x.name}, {y.name}")
        known, other = (y, x) if isinstance(x, Number) else (x, y)
        return other if known else False

    def any_of(self, found: list[Condition]) -> Condition:
        """Whether one of some conditions holds."""
        total = False
        for x in found:
            total = self.binary("BitOr", total, x) if isinstance(total, Number) else total or x
        return total

    def condition(self, node: ast.expr) -> Condition:
        """Whether an expression is true."""
        return self.junction(node) if isinstance(node, ast.BoolOp) else self.truth(self.value(node))

    def _boolop(self, node):
        if not all(isinstance(x, ast.Compare | ast.BoolOp) or is_not(x) for x in node.values):
            raise TypeError("the value of `and` or `or`, which is a condition only where it is tested")
        return self.junction(node)

    def junction(self, node: ast.BoolOp) -> Condition:
        """``and`` and ``or``: what follows is evaluated only where it counts."""
        stop = isinstance(node.op, ast.Or)
        slot = out = None
        for term in node.values:
            x = self.condition(term)
            if not isinstance(x, Number):
                if x is stop:
                    if slot is None:
                        return stop
                    self.write(slot, stop)
                    break
                continue
            if slot is None:
                slot, out = self.slot(x), self.fresh()
            self.write(slot, x)
            further = self.fresh()
            self.branch(x, *((out, further) if stop else (further, out)))
            self.begin(further)
        if slot is None:
            return not stop
        self.jump(out)
        self.begin(out)
        return self.read(slot)

    def _ifexp(self, node):
        test = self.condition(node.test)
        if not isinstance(test, Number):
            return self.value(node.body if test else node.orelse)
        ways, out, slot = (self.fresh(), self.fresh()), self.fresh(), None
        self.branch(test, *ways)
        for way, part in zip(ways, (node.body, node.orelse), strict=True):
            self.begin(way)
            x = self.value(part)
            if slot is None:
                other = node.orelse.value if isinstance(node.orelse, ast.Constant) else None
                x = float(x) if isinstance(x, int) and isinstance(other, float) else x
                slot = self.slot(x)
            self.write(slot, x)
            self.jump(out)
        self.begin(out)
        return self.read(slot)

    def _attribute(self, node):
        x = self.value(node.value)
        if isinstance(x, Record):
            place = self.moved(x.at, "i64", x.row._fields.index(node.attr))
            return self.load("i64", place)
        if isinstance(x, Array) and node.attr == "size":
            total = 1
            for n in x.shape:
                total = self.binary("Mult", total, n)
            return total
        if isinstance(x, Array) and node.attr == "itemsize":
            return width(x.kind)
        if isinstance(x, (Number, int, float)) and node.attr in ("real", "imag"):
            return x if node.attr == "real" else 0
        return getattr(x, node.attr)

    def _subscript(self, node):
        x = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            return self.piece(x, node.slice) if isinstance(x, Array) else plain(x)[self.bounds(node.slice)]
        at = self.value(node.slice)
        if not isinstance(x, Array):
            return plain(x)[at]
        return self.element(*self.place(x, at if isinstance(at, tuple) and not isinstance(at, Number) else (at,)))

    def piece(self, x: Array, where: ast.Slice) -> Array:
        """``x[begin:end]`` of an array of one axis."""
        (size,) = x.shape
        where = self.bounds(where)
        begin, end = (default if v is None else v for v, default in ((where.start, 0), (where.stop, size)))
        if any(isinstance(v, int) and v < 0 for v in (begin, end)):
            raise TypeError("a place counted from the end")
        return Array(x.kind, self.step(x, begin), (self.binary("Sub", end, begin),))

    def bounds(self, node: ast.Slice) -> slice:
        """The bounds of a slice, which has no step."""
        if node.step:
            raise TypeError("a slice with a step")
        return slice(*[part and self.value(part) for part in (node.lower, node.upper)])

    def place(self, x: Array, at: tuple[Scalar, ...]) -> tuple[Element, Number, tuple[Scalar, ...]]:
        """The array, or the element as one of shape (), at some indices."""
        if len(at) > len(x.shape) or any(isinstance(i, int) and i < 0 for i in at):
            raise TypeError(f"{len(x.shape)} axes have no element {at}")
        flat = 0
        for axis, n in enumerate(x.shape):
            flat = self.binary("Mult", flat, n)
            if axis < len(at):
                flat = self.binary("Add", flat, at[axis])
        return x.kind, self.step(x, flat), x.shape[len(at) :]

    def step(self, x: Array, elements: Scalar) -> Number:
        """Where the array goes on after so many elements."""
        if not isinstance(x.kind, Kind):
            return self.moved(x.at, "i8", self.binary("Mult", elements, width(x.kind)))
        return self.moved(x.at, x.kind.llvm, self.binary("Mult", elements, 2) if x.kind.pair else elements)

    def moved(self, at: Number, type: str, by: Scalar) -> Number:
        """A pointer, so many numbers of a type further."""
        return self.emit("ptr", f"getelementptr inbounds {type}, ptr {at.name}, i64 {self.whole(by).name}")

    def element(self, kind: Element, at: Number, shape: tuple[Scalar, ...]) -> Value:
        """What lies at a place: an array, a record, or a number, which is loaded."""
        if shape:
            return Array(kind, at, shape)
        if not isinstance(kind, Kind):
            return Record(kind, at)
        x = self.load(kind.llvm, at)
        if kind.pair:
            return Complex(x, self.load(kind.llvm, self.moved(at, kind.llvm, 1)))
        return self.whole(x) if kind.llvm == "i32" else x

    def load(self, type: str, at: Number) -> Number:
        """The number at a place."""
        return self.emit(type, f"load {type}, ptr {at.name}, !tbaa {TAGS[type]}")

    def store(self, x: Scalar, type: str, at: Number) -> None:
        """Write a number to a place."""
        self.say(f"store {type} {self.cast(x, type).name}, ptr {at.name}, !tbaa {TAGS[type]}")

    def _call(self, node):
        if node.keywords:
            raise TypeError("arguments by keyword")
        return self.call(self.value(node.func), *[self.value(x) for x in node.args])

    # -- variables: they lie in memory until LLVM's passes put them into registers

    def slot(self, like: Value) -> Slot:
        """Memory for a value like another."""
        places = []
        for part in split(like):
            type = part.type if isinstance(part, tuple) else self.type_of(part)
            places.append(Number(type, self.fresh()))
            self.allocations.append(f"  {places[-1].name} = alloca {type}")
        return like, places

    def type_of(self, known: float) -> str:
        """The type of a variable that begins with a known number."""
        return "i1" if isinstance(known, bool) else "double" if isinstance(known, float) else "i64"

    def read(self, slot: Slot) -> Value:
        """The value of a variable."""
        like, places = slot
        return join(like, (self.variable(place) for place in places))

    def variable(self, place: Number) -> Number | Bits:
        """A part of a variable."""
        found = self.emit(place.type, f"load {place.type}, ptr {place.name}")
        return Bits(*found) if place.type.startswith("<") else found

    def write(self, slot: Slot, value: Value) -> None:
        """Set a variable."""
        like, places = slot
        parts = split(value)
        if len(parts) != len(places):
            raise TypeError(f"a variable holds {like} and is set to {value}")
        for part, place in zip(parts, places, strict=True):
            found = part if isinstance(part, tuple) and part.type == place.type else self.cast(part, place.type)
            self.say(f"store {place.type} {found.name}, ptr {place.name}")

    # -- blocks

    def begin(self, label: str) -> None:
        """What follows is in this block."""
        self.lines.append(f"{label[1:]}:")

    def jump(self, label: str) -> None:
        """End a block."""
        self.say(f"br label {label}")

    def branch(self, test: Number, then: str, otherwise: str) -> None:
        """End a block by a test."""
        self.say(f"br i1 {test.name}, label {then}, label {otherwise}")


def is_not(node: ast.AST) -> bool:
    """Whether an expression is ``not ...``."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
