"""Memory at an address, and NumPy's inner loops, as kernels use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

from qad.native import INT, intrinsic
from qad.native.values import Array, Number

if TYPE_CHECKING:
    from qad.native.statements import Function
    from qad.native.values import Kind, Scalar

Int: TypeAlias = Annotated[int, INT]  # what inner loops are given: addresses, and a number of the caller's


@intrinsic
def memory(code: Function, kind: Kind, address: Scalar) -> Array:
    """The array, of unknown length, of a kind of numbers at an address."""
    return Array(kind, code.emit("ptr", f"inttoptr i64 {code.whole(address).name} to ptr"), (0,))


@intrinsic
def call_loop(code: Function, function: Scalar, args: Array, dims: Array, steps: Array, data: Scalar) -> None:
    """Call an inner loop of NumPy's: ``loop(char **args, npy_intp *dims, npy_intp *steps, void *data)``."""
    where, data = (code.emit("ptr", f"inttoptr i64 {code.whole(x).name} to ptr") for x in (function, data))
    given = ", ".join(f"ptr {x.at.name}" for x in (args, dims, steps))
    code.say(f"call void {where.name}({given}, ptr {data.name})")


@intrinsic
def bits(code: Function, x: Scalar) -> Number:
    """The bits of a real number in double precision, as an integer."""
    return code.emit("i64", f"bitcast double {code.cast(x, 'double').name} to i64")


@intrinsic
def from_bits(code: Function, x: Scalar) -> Number:
    """The real number in double precision of these bits."""
    return Number("double", code.emit("double", f"bitcast i64 {code.whole(x).name} to double").name)
