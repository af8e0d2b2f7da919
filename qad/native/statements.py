"""Statements of kernels, and functions that call functions, as LLVM's code."""

from __future__ import annotations

import ast
import builtins
import inspect
from functools import cache
from typing import TYPE_CHECKING

from qad.native import intrinsics
from qad.native.expressions import Expressions
from qad.native.values import Array, Complex, Number, Range, join, plain, registers, split

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from qad.native.values import Register, Value

    Others: TypeAlias = Callable[..., tuple[str, "KernelFunction"]]

__all__ = ["KernelFunction"]


@cache
def functions_of(file: str) -> dict[int, ast.FunctionDef]:
    """The syntax trees of all functions of a file, by the lines at which they begin."""
    with open(file, encoding="utf-8") as text:
        tree = ast.parse(text.read())
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {min([node.lineno, *[d.lineno for d in node.decorator_list]]): node for node in found}


class KernelFunction(Expressions):
    """One function for arguments of given types.

    Parameters
    ----------
    fast : bool
        Whether products and sums may be contracted and put in another order.
    others : function
        Gives the name and the `KernelFunction` of a function that this one calls, for arguments of given types.
    function : Python's function
    arguments : tuple of values
        Registers stand for what is given at run time; what is known is part of the function.
    """

    others: Others
    names: dict[str, Value]
    tree: ast.FunctionDef
    inlined: bool
    result: Value
    loops: list[tuple[str, str] | None]
    ended: bool
    defined: set[str]

    def __init__(self, fast: bool, others: Others, function: Callable[..., Any], arguments: tuple[Value, ...]):
        code = function.__code__
        closure = zip(code.co_freevars, [cell.cell_contents for cell in function.__closure__ or ()], strict=True)
        super().__init__(fast, {**vars(builtins), **function.__globals__, **dict(closure)})
        self.others, self.tree = others, functions_of(code.co_filename)[code.co_firstlineno]
        self.names = {name: value for name, value in self.names.items() if name not in code.co_varnames}
        self.inlined = getattr(function, "inlined", False)
        self.result, self.loops, self.ended = None, [], False
        assigned = {x.id for x in ast.walk(self.tree) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
        given = inspect.signature(function).bind(*arguments)
        given.apply_defaults()
        for name, value in given.arguments.items():
            if name in assigned:
                self.assign(ast.Name(name), value)
            else:
                self.names[name] = value
        self.block(self.tree.body)
        if not self.ended:
            self.leave(())

    def text(self, name: str, arguments: list[Register]) -> str:
        """The definition in LLVM's language."""
        given = ", ".join(f"{part.type} {part.name}" for part in arguments)
        loops = any(isinstance(x, (ast.For, ast.While)) for x in ast.walk(self.tree))
        # a copy of a loop takes much time to compile, and saves none
        kind = "nounwind" + (" alwaysinline" if self.inlined else " noinline" if loops else "")
        head = f"define internal {self.type} @{name}({given}) {kind} {{"
        return "\n".join([head, "entry:", *self.allocations, *self.lines, "}"])

    @property
    def type(self) -> str:
        """The LLVM type of what is returned."""
        types = [part.type for part in split(self.result)]
        return f"{{{', '.join(types)}}}" if types else "void"

    def block(self, body: list[ast.stmt]) -> None:
        """Some statements; those that follow a jump are not reached."""
        for node in body:
            if self.ended:
                return
            try:
                getattr(self, "_" + type(node).__name__.lower())(node)
            except (TypeError, KeyError, AttributeError, ValueError) as error:
                if not getattr(error, "__notes__", ()):
                    error.add_note(f"in {self.tree.name}: {ast.unparse(node).splitlines()[0]}")
                raise

    def _expr(self, node):
        if not isinstance(node.value, ast.Constant):
            self.value(node.value)

    def _pass(self, node):
        pass

    def _assign(self, node):
        x = self.value(node.value)
        for target in node.targets:
            self.assign(target, x)

    def _augassign(self, node):
        name = node.target.id if isinstance(node.target, ast.Name) else None
        old = self.value(ast.Name(name) if name else node.target)
        self.assign(node.target, self.binary(type(node.op).__name__, old, self.value(node.value)))

    def assign(self, target: ast.expr, x: Value) -> None:
        """Set a variable, an element of an array, or several of these."""
        if isinstance(target, ast.Tuple):
            for part, one in zip(target.elts, plain(x), strict=True):
                self.assign(part, one)
        elif isinstance(target, ast.Name):
            if target.id not in self.slots:
                self.slots[target.id] = self.slot(x)
            self.write(self.slots[target.id], x)
            self.defined.add(target.id)
        else:
            at = self.value(target.slice)
            kind, place, _ = self.place(
                self.value(target.value), at if isinstance(at, tuple) and not isinstance(at, Number) else (at,)
            )
            if kind.pair:
                x = x if isinstance(x, Complex) else Complex(x, 0.0)
                self.store(x.imag, kind.llvm, self.moved(place, kind.llvm, 1))
                x = x.real
            self.store(x, kind.llvm, place)

    def _return(self, node):
        self.leave(() if node.value is None else self.value(node.value))

    def leave(self, x: Value) -> None:
        """Return a value; the first one determines the type."""
        if self.result is None:
            like, places = self.slot(x)
            self.result = join(like, (Number(place.type, "") for place in places))
        types, parts = [part.type for part in split(self.result)], split(x)
        if not types:
            self.say("ret void")
        else:
            held = "poison"
            for i, (type, part) in enumerate(zip(types, parts, strict=True)):
                part = part if isinstance(part, tuple) and part.type == type else self.cast(part, type)
                held = self.emit(self.type, f"insertvalue {self.type} {held}, {type} {part.name}, {i}").name
            self.say(f"ret {self.type} {held}")
        self.ended = True

    def _if(self, node):
        test = self.condition(node.test)
        if not isinstance(test, Number):
            self.block(node.body if test else node.orelse)
            return
        then, otherwise, out = self.fresh(), self.fresh(), self.fresh()
        self.branch(test, then, otherwise)
        before, found = self.defined, []
        for label, body in ((then, node.body), (otherwise, node.orelse)):
            self.defined = set(before)
            if not self.way(label, body, out):
                found.append(self.defined)
        self.defined, self.ended = set.intersection(*found) if found else before, not found
        if not self.ended:
            self.begin(out)

    def way(self, label: str, body: list[ast.stmt], out: str) -> bool:
        """A block of statements that goes on at `out`; whether it ends before."""
        self.begin(label)
        self.ended = False
        self.block(body)
        if not self.ended:
            self.jump(out)
        return self.ended

    def _while(self, node):
        head, body, out = self.fresh(), self.fresh(), self.fresh()
        self.jump(head)
        self.begin(head)
        test = self.condition(node.test)
        if isinstance(test, Number):
            self.branch(test, body, out)
        else:
            self.jump(body if test else out)
        self.loop(node, body, head, out)
        if test is True and not any(isinstance(x, ast.Break) for x in ast.walk(node)):
            self.say("unreachable")
            self.ended = True

    def loop(
        self, node: ast.For | ast.While, label: str, head: str, out: str, element: Callable[[], Value] | None = None
    ) -> None:
        """The body of a loop, and what follows it; a variable that is first set in it may have no value then."""
        if node.orelse:
            raise TypeError("a loop with an else")
        before, self.defined = self.defined, set(self.defined)
        self.loops.append((head, out))
        self.begin(label)
        if element:
            self.assign(node.target, element())
        self.block(node.body)
        if not self.ended:
            self.jump(head)
        self.loops.pop()
        self.defined, self.ended = before, False
        self.begin(out)

    def _break(self, node):
        self.leave_loop(1)

    def _continue(self, node):
        self.leave_loop(0)

    def leave_loop(self, where: int) -> None:
        """Jump to the head of the innermost loop, or behind it."""
        if self.loops[-1] is None:
            raise TypeError("a loop over a tuple, which is written out, is not left")
        self.jump(self.loops[-1][where])
        self.ended = True

    def _for(self, node):
        over = self.value(node.iter)
        if isinstance(over, Range):
            self.counted(node, over)
        elif isinstance(over, Array):
            self.counted(node, Range(0, over.shape[0], 1), over)
        else:
            self.loops.append(None)
            for x in plain(over):  # known: written once for each
                if not self.ended:
                    self.assign(node.target, x)
                    self.block(node.body)
            self.loops.pop()
            if not self.ended:
                self.block(node.orelse)

    def counted(self, node: ast.For, over: Range, array: Array | None = None) -> None:
        """A loop over a range, or over the elements of an array."""
        start, stop, step = over
        if not isinstance(step, Number) and step == 0:
            raise ValueError("range() arg 3 must not be zero")
        slot = self.slot(0)
        self.write(slot, start)
        stop, step = self.whole(stop), self.whole(step)
        head, body, further, out = (self.fresh() for _ in range(4))
        self.jump(head)
        self.begin(head)
        down = not isinstance(over.step, Number) and over.step < 0
        self.branch(self.binary("Gt" if down else "Lt", self.read(slot), stop), body, out)
        self.begin(further)
        self.write(slot, self.binary("Add", self.read(slot), step))
        self.jump(head)

        def element():
            at = self.read(slot)
            return at if array is None else self.element(*self.place(array, (at,)))

        self.loop(node, body, further, out, element)

    def call(self, function: Value, *arguments: Value) -> Value:
        """Call what a name stands for."""
        if function in intrinsics.KNOWN:
            return intrinsics.KNOWN[function](self, *arguments)
        if hasattr(function, "emit"):
            return function.emit(self, *arguments)
        if isinstance(function, type):
            if not hasattr(function, "_fields") and registers(arguments):
                raise TypeError(f"{function.__name__} of what is not known beforehand")
            return function(*arguments)
        name, made = self.others(function, arguments)
        passed = ", ".join(f"{part.type} {part.name}" for part in registers(arguments))
        if made.type == "void":
            self.say(f"call void @{name}({passed})")
            return None
        found = self.emit(made.type, f"call {made.type} @{name}({passed})").name
        types = [part.type for part in split(made.result)]
        parts = [self.emit(type, f"extractvalue {made.type} {found}, {i}") for i, type in enumerate(types)]
        return join(made.result, iter(parts))
