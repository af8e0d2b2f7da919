"""Numbers side by side in vector registers, real and imaginary parts in turn: what tiles are made of.

Each function is called by kernels, and writes LLVM's instructions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.native import intrinsic
from qad.native.values import TAGS, Bits, Complex, constant, width

if TYPE_CHECKING:
    from qad.native.statements import KernelFunction
    from qad.native.values import Array, Number, Scalar, Value

__all__ = ["fused", "gathered", "joined", "lanes", "numbers", "put", "scattered", "zeros"]


def vector(x: Array, columns: int) -> str:
    """The LLVM type of `columns` elements of an array."""
    return f"<{columns * (1 + x.kind.pair)} x {x.kind.llvm}>"


def access(x: Array) -> str:
    """How elements of an array are accessed: aligned as one number is."""
    return f"align {width(x.kind._replace(pair=False))}, !tbaa {TAGS[x.kind.llvm]}"


@intrinsic
def zeros(code: KernelFunction, x: Array, columns: int) -> tuple[Bits, ...]:
    """Zeros for the sums of one row of a tile: one vector, or two where numbers are complex."""
    type = vector(x, columns)
    return (code.emit_bits(type, f"freeze {type} zeroinitializer"),) * (1 + x.kind.pair)


@intrinsic
def numbers(code: KernelFunction, x: Value) -> tuple[Scalar, ...]:
    """A number as a tuple of its real numbers."""
    return tuple(x) if isinstance(x, Complex) else (x,)


@intrinsic
def lanes(code: KernelFunction, x: Array, at: Scalar, columns: int) -> Bits:
    """Elements of an array from a place on."""
    type = vector(x, columns)
    return code.emit_bits(type, f"load {type}, ptr {code.step(x, at).name}, {access(x)}")


@intrinsic
def put(code: KernelFunction, x: Array, at: Scalar, values: Bits) -> None:
    """Write a vector to an array from a place on."""
    code.say(f"store {values.type} {values.name}, ptr {code.step(x, at).name}, {access(x)}")


@intrinsic
def fused(code: KernelFunction, x: Bits, y: Scalar | Bits, total: Bits) -> Bits:
    """``x y + total`` for a number y."""
    name = f"llvm.fmuladd.v{x.count}f{ {'double': 64, 'float': 32}[x.single] }"
    code.declare(f"declare {x.type} @{name}({x.type}, {x.type}, {x.type})")
    parts = ", ".join(f"{v.type} {v.name}" for v in (x, code.spread(y, x), total))
    return code.emit_bits(x.type, f"call {x.type} @{name}({parts})")


@intrinsic
def joined(code: KernelFunction, sums: tuple[Bits, ...]) -> Bits:
    """P + iQ: i times a number exchanges its parts and turns the sign of the new real one."""
    if len(sums) == 1:
        return sums[0]
    turned = code.shuffled(sums[1], [lane ^ 1 for lane in range(sums[1].count)])
    signs = ", ".join(f"{turned.single} {constant(sign, turned.single)}" for sign in (-1.0, 1.0) * (turned.count // 2))
    return fused.emit(code, turned, Bits(turned.type, f"<{signs}>"), sums[0])


@intrinsic
def gathered(code: KernelFunction, x: Array, at: Scalar, step: Scalar, columns: int) -> Bits:
    """Elements of an array, so far apart, as a vector."""
    type, found = vector(x, columns), "poison"
    for lane in range(columns * (1 + x.kind.pair)):
        place, part = lane_of(code, x, at, step, lane)
        number = code.load(x.kind.llvm, code.moved(place, x.kind.llvm, part))
        found = code.emit(type, f"insertelement {type} {found}, {number.type} {number.name}, i32 {lane}").name
    return Bits(type, found)


@intrinsic
def scattered(code: KernelFunction, x: Array, at: Scalar, step: Scalar, values: Bits) -> None:
    """Write a vector to elements of an array that are so far apart."""
    for lane in range(values.count):
        place, part = lane_of(code, x, at, step, lane)
        number = code.emit(values.single, f"extractelement {values.type} {values.name}, i32 {lane}")
        code.store(number, x.kind.llvm, code.moved(place, x.kind.llvm, part))


def lane_of(code: KernelFunction, x: Array, at: Scalar, step: Scalar, lane: int) -> tuple[Number, int]:
    """Where the element of a lane is, and which of its parts the lane holds."""
    column, part = divmod(lane, 1 + x.kind.pair)
    return code.step(x, code.binary("Add", at, code.binary("Mult", step, column))), part
