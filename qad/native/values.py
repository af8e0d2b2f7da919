"""What a kernel handles while it is translated: numbers in registers, arrays, records; and the types of these.

A number that is known beforehand is a number of Python's, and arithmetic on such is done at once.  It takes the type of
what it meets: ``0.5 * x`` is single precision where x is.
"""

from __future__ import annotations

from inspect import get_annotations
from struct import pack, unpack
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "COMPLEX", "COMPLEX128", "FLOAT", "HEAD", "INT", "INT32", "REAL", "TAGS", "Array", "Bits", "Block", "Complex",
    "Condition", "Element", "KernelArray", "Kind", "Number", "Parameter", "Range", "Record", "Register", "Scalar",
    "Slot", "Value", "constant", "join", "kernel_type", "kind_in", "plain", "registers", "split", "struct",
    "width",
]  # fmt: skip

T = TypeVar("T")
HEAD = object.__basicsize__  # bytes of a Python object before what it holds; of an array: address, axes, their lengths
TAGS = {type: f"!{i}" for i, type in enumerate(("i64", "i32", "double", "float"))}  # numbers of one type in memory


class Kind(NamedTuple):
    """The type of a number in memory: its LLVM type, and whether it is a pair of those, real and imaginary part."""

    llvm: str
    pair: bool = False


INT, INT32, FLOAT, COMPLEX128 = Kind("i64"), Kind("i32"), Kind("double"), Kind("double", pair=True)
REAL, COMPLEX = Kind("real"), Kind("real", pair=True)  # in the precision that kernels are compiled for


def kind_in(kind: Element, precision: str) -> Element:
    """A kind with `REAL` and `COMPLEX` in a precision, "double" or "float"."""
    return kind._replace(llvm=precision) if isinstance(kind, Kind) and kind.llvm == "real" else kind


class Block(NamedTuple):
    """An array in C order that a kernel is given: the kind of its elements, see `Array`, and the number of its axes."""

    kind: Element
    ndim: int = 1


def kernel_type(annotation: Any) -> Any:
    """What an annotation tells kernels: `INT`, `FLOAT`, `Block` or a class; plain, or in ``Annotated[type, ...]``."""
    return getattr(annotation, "__metadata__", (annotation,))[0]


def struct(row: type[T]) -> type[T]:
    """Decorate a named tuple class for `qad.native.Bundle`: its fields are annotated by `INT` or `Block`."""
    row.blocks = tuple([kernel_type(x) for x in get_annotations(row).values()])  # type: ignore - a class has room for it
    return row


class Number(NamedTuple):
    """A number in a register: its LLVM type (i1, i32, i64, float, double, ptr) and its name."""

    type: str
    name: str


class Complex(NamedTuple):
    """A complex number: two numbers."""

    real: Scalar
    imag: Scalar


class Array(NamedTuple):
    """A C-contiguous array.

    Attributes
    ----------
    kind : Kind or NamedTuple class
        Of its elements; a class stands for rows of 64-bit integers, which are read by its fields' names.
    at : Number
        Where it begins.
    shape : tuple of numbers
    """

    kind: Element
    at: Number
    shape: tuple[Scalar, ...]


class Record(NamedTuple):
    """A row of a table: the class whose fields it has, and where it is."""

    row: type[Any]
    at: Number


class Range(NamedTuple):
    """A range; its step is positive if it is not known beforehand."""

    start: Scalar
    stop: Scalar
    step: Scalar


class Bits(NamedTuple):
    """Numbers side by side in one vector register, of an LLVM type such as ``<8 x double>``."""

    type: str
    name: str

    @property
    def count(self) -> int:
        return int(self.type[1:].split()[0])

    @property
    def single(self) -> str:
        return self.type[:-1].split()[-1]


Scalar: TypeAlias = Number | float
"""A number in a register, or one that is known beforehand."""

Condition: TypeAlias = Number | bool
"""A number i1, or what is known beforehand."""

Register: TypeAlias = Number | Bits

Element: TypeAlias = Kind | type[Any]
"""What an array holds: numbers of a kind, or rows with the fields of a named tuple class."""

Parameter: TypeAlias = Kind | Block | type[Any]
"""What annotates a parameter of a kernel: a class is one made by `struct`."""

Value: TypeAlias = Any
"""What an expression stands for: any of these, a tuple of values, or anything of Python's, known beforehand."""

Slot: TypeAlias = tuple[Value, list[Number]]
"""A variable: a value like it, and where the parts of it lie in memory."""

KernelArray: TypeAlias = Any
"""An array in the text of a kernel: NumPy's where Python runs it, an `Array` where it is translated."""


def plain(x: Value) -> tuple[Value, ...]:
    """A tuple that is one in Python too: no number, array or range."""
    if not isinstance(x, tuple) or isinstance(x, (Kind, Number, Complex, Array, Record, Bits, Range)):
        raise TypeError(f"{type(x).__name__} where a tuple is needed")
    return x


def width(kind: Element) -> int:
    """Bytes of an element."""
    if not isinstance(kind, Kind):
        return 8 * len(kind._fields)
    return {"i32": 4, "float": 4, "i64": 8, "double": 8}[kind.llvm] * (1 + kind.pair)


def constant(value: float, type: str) -> str:
    """How LLVM writes a number of this type."""
    if type in ("double", "float") and isinstance(value, (int, float)):
        if type == "float":
            value = unpack("f", pack("f", value))[0]
        return f"0x{unpack('Q', pack('d', value))[0]:016X}"
    bits = int(type[1:]) if type[0] == "i" else 64
    if not isinstance(value, bool if bits == 1 else int) or not -1 << (bits - 1) <= value < 1 << max(bits - 1, 1):
        raise TypeError(f"{value} where {type} is needed")
    return str(int(value))


def split(value: Value) -> list[Value]:
    """The registers and known numbers that a value consists of."""
    if isinstance(value, (Number, Bits, bool, int, float)):
        return [value]
    if isinstance(value, Array):
        return [value.at, *value.shape]
    if isinstance(value, Record):
        return [value.at]
    if isinstance(value, tuple):
        return [part for x in value for part in split(x)]
    return []  # a function, a class: known beforehand, and nothing at run time


def registers(value: Value) -> list[Register]:
    """The registers among them."""
    return [part for part in split(value) if isinstance(part, tuple)]


def join(like: Value, parts: Iterator[Value]) -> Value:
    """A value like another with other registers, taken from an iterator."""
    if isinstance(like, (Number, Bits, bool, int, float)):
        return next(parts)
    if isinstance(like, Array):
        return Array(like.kind, next(parts), tuple([next(parts) for _ in like.shape]))
    if isinstance(like, Record):
        return Record(like.row, next(parts))
    if isinstance(like, tuple):
        made = [join(x, parts) for x in like]
        return type(like)(*made) if hasattr(like, "_fields") else tuple(made)
    return like
