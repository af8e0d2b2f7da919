"""A module of LLVM: functions of Python's, and all that they call, for arguments of given types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.native.statements import KernelFunction
from qad.native.values import (
    HEAD,
    INT,
    TAGS,
    Array,
    Bits,
    Block,
    Kind,
    Number,
    Record,
    join,
    kind_in,
    registers,
    split,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.native.values import Parameter, Value

__all__ = ["Module"]

EXTERNAL = (
    "declare double @cos(double) memory(none)",  # then LLVM asks for both of one angle at once, where it can
    "declare double @sin(double) memory(none)",
    "declare double @ldexp(double, i32)",
)


class Module:
    """The code of some kernels in one precision.

    Parameters
    ----------
    precision : "double" or "float"
        Of `REAL` and `COMPLEX`.
    fast : bool
        Whether products and sums may be contracted and put in another order.
    files : set of str
        From which functions may come.
    """

    functions: dict[Any, tuple[str, KernelFunction]]
    precision: str
    fast: bool
    texts: list[str]

    def __init__(self, precision: str, fast: bool, files: set[str]):
        self.files = files
        self.precision, self.fast, self.functions, self.texts = precision, fast, {}, []
        self.declared: dict[str, None] = dict.fromkeys(EXTERNAL)

    def function(self, function: Callable[..., Any], arguments: tuple[Value, ...]) -> tuple[str, KernelFunction]:
        """The name of a function for arguments like these, and its `KernelFunction`; made at its first use."""
        held = tuple(cell.cell_contents for cell in function.__closure__ or ()), function.__defaults__
        key = function.__code__, function.__code__.co_filename, kinds_of(held), kinds_of(arguments)
        if key not in self.functions:
            if function.__code__.co_filename not in self.files:
                raise ValueError(f"{function.__qualname__} comes from a file that machine code does not go by: name it")
            given = iter(range(len(split(arguments))))
            own = join(arguments, (renamed(part, f"%a{next(given)}") for part in split(arguments)))
            made = KernelFunction(self.fast, self.function, function, own)
            self.functions[key] = name, _ = f"{function.__name__}.{len(self.functions)}", made
            self.texts.append(made.text(name, registers(own)))
            self.declared.update(made.declared)
        return self.functions[key]

    def export(self, name: str, function: Callable[..., None], blocks: list[Parameter]) -> None:
        """A function that is called from outside, with array objects of CPython."""
        lines, values, given = [], [], []
        for i, block in enumerate(blocks):
            given.append(f"{block.llvm if isinstance(block, Kind) else 'ptr'} %o{i}")
            values.append(self.given(lines, f"%o{i}", block))
        target, _ = self.function(function, tuple(values))
        passed = ", ".join(f"{part.type} {part.name}" for part in registers(tuple(values)))
        body = "\n".join([*lines, f"  call void @{target}({passed})", "  ret void", "}"])
        self.texts.append(f"define dllexport void @{name}({', '.join(given)}) nounwind {{\n{body}")

    def given(self, lines: list[str], name: str, block: Parameter) -> Value:
        """The value of a parameter; a bundle is an array of integers and of the addresses of array objects."""
        if isinstance(block, Kind):
            return Number(block.llvm, name)
        if isinstance(block, Block):
            return self.opened(lines, name, block)
        values, held = [], self.opened(lines, name, Block(INT))
        for i, part in enumerate(block.blocks):
            type = part.llvm if isinstance(part, Kind) else "ptr"
            lines.append(f"  {name}.q{i} = getelementptr i64, ptr {held.at.name}, i64 {i}")
            lines.append(f"  {name}.f{i} = load {type}, ptr {name}.q{i}")
            values.append(self.given(lines, f"{name}.f{i}", part))
        return block(*values)

    def opened(self, lines: list[str], name: str, block: Block) -> Array:
        """The array that an array object holds."""
        lines += [
            f"  {name}.p = getelementptr i8, ptr {name}, i64 {HEAD}",
            f"  {name}.at = load ptr, ptr {name}.p",
            f"  {name}.q = getelementptr i8, ptr {name}, i64 {HEAD + 16}",
            f"  {name}.s = load ptr, ptr {name}.q",
        ]
        kind, at = kind_in(block.kind, self.precision), Number("ptr", f"{name}.at")
        return Array(kind, at, loaded(lines, f"{name}.s", block.ndim))

    def text(self) -> str:
        """All in LLVM's language."""
        root, kinds = len(TAGS), len(TAGS) + 1
        tags = [f'!{root} = !{{!"numbers"}}']
        for i, (type, tag) in enumerate(TAGS.items()):
            own = f"!{kinds + i}"
            tags += [f"{tag} = !{{{own}, {own}, i64 0}}", f'{own} = !{{!"{type}", !{root}, i64 0}}']
        return "\n\n".join(["\n".join(self.declared), *self.texts, "\n".join(tags)])


def loaded(lines: list[str], name: str, count: int) -> tuple[Number, ...]:
    """So many integers in memory."""
    for i in range(count):
        lines.append(f"  {name}{i}.p = getelementptr i64, ptr {name}, i64 {i}")
        lines.append(f"  {name}{i} = load i64, ptr {name}{i}.p")
    return tuple([Number("i64", f"{name}{i}") for i in range(count)])


def renamed(part: Value, name: str) -> Value:
    """A register of a function's own; what is known stays."""
    return type(part)(part.type, name) if isinstance(part, tuple) else part


def kinds_of(value: Value) -> Any:
    """What is known of a value before it runs: hashable."""
    if isinstance(value, (Number, Bits)):
        return value.type
    if isinstance(value, Array):
        return Array, value.kind, kinds_of(value.shape)
    if isinstance(value, Record):
        return Record, value.row
    if isinstance(value, tuple) and not isinstance(value, Kind):
        return type(value), *map(kinds_of, value)
    return type(value), value.hex() if isinstance(value, float) else value  # which tells -0.0 from 0.0
