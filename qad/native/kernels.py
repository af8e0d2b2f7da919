"""Kernels as Python calls them."""

from __future__ import annotations

import inspect
from ctypes import CFUNCTYPE, c_double, c_int64, py_object
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from qad.core.process.waiting import COMPILING, NOT_KEPT, tell_once, waiting
from qad.native.kept import keep, kept
from qad.native.values import FLOAT, HEAD, INT, INT32, Block, kernel_type, kind_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from qad.native.machine import Engine
    from qad.native.values import Element, Parameter

__all__ = ["Bundle", "Kernels", "readable", "row_dtype"]

LOCK = RLock()  # one thread compiles at a time
IN_ORDER = 0x101  # bits of the flags of an array that a kernel may read: in C order, and aligned
SOURCES = sorted(Path(__file__).parent.glob("*.py"))
PRECISIONS: dict[str, tuple[np.dtype[Any], np.dtype[Any]]] = {
    "double": (np.dtype("f8"), np.dtype("c16")),
    "float": (np.dtype("f4"), np.dtype("c8")),
}
PRECISION_OF: dict[np.dtype[Any], str] = {
    dtype: precision for precision, dtypes in PRECISIONS.items() for dtype in dtypes
}
ROWS: dict[type, np.dtype[Any]] = {}


def row_dtype(row: type[Any]) -> np.dtype[Any]:
    """The dtype of a table of 64-bit integers with the fields of a named tuple; one object for each."""
    if row not in ROWS:
        ROWS[row] = np.dtype([(name, np.int64) for name in row._fields])
    return ROWS[row]


class Kernels:
    """Functions that are compiled together, once for each precision.

    Parameters
    ----------
    *functions : functions
        Their parameters are annotated by `INT`, `FLOAT` or `Block`, which may stand in ``Annotated[type, ...]``, and
        they return nothing.  They and what they call are plain Python of numbers, arrays and records (`qad.native`).
    files : iterable of Path
        The files that hold them.
    fast : bool
        Whether products and sums may be contracted and put in another order.
    symbols : function, optional
        Gives the addresses of functions from elsewhere, by their names.
    """

    functions: tuple[Callable[..., None], ...]
    files: Iterable[Path]
    fast: bool
    symbols: Callable[[], dict[str, int]]
    made: dict[np.dtype[Any], SimpleNamespace]

    def __init__(
        self,
        *functions: Callable[..., None],
        files: Iterable[Path],
        fast: bool,
        symbols: Callable[[], dict[str, int]] = dict,
    ):
        self.functions, self.files, self.fast, self.symbols, self.made = functions, files, fast, symbols, {}

    def __call__(self, dtype: np.dtype[Any]) -> SimpleNamespace:
        """The kernels in the precision of a dtype, by name; compiled, or loaded, at first use."""
        found = self.made.get(dtype)
        return found or self.make(dtype)

    def make(self, dtype: np.dtype[Any]) -> SimpleNamespace:
        """Compile the kernels in the precision of a dtype, or load those that are kept."""
        precision = PRECISION_OF[dtype]
        with LOCK:
            if dtype not in self.made:
                engine = self.engine(precision)
                found = SimpleNamespace(**{f.__name__: Kernel(f, precision, engine) for f in self.functions})
                self.made |= dict.fromkeys(PRECISIONS[precision], found)
        return self.made[dtype]

    def engine(self, precision: str) -> Engine:
        """The machine code; what is not kept is compiled here, and only here."""
        from qad.native import machine

        name = self.version(precision, machine.description())
        code = kept(name)
        if code is None:
            with waiting(COMPILING):
                code = machine.compiled(self.text(precision))
            try:
                keep(name, code)
            except (OSError, RuntimeError):  # it cannot be written, or there is no home
                tell_once(NOT_KEPT.format("QAD_CACHE_DIR"))
        return machine.loaded(code, self.symbols())

    def version(self, precision: str, machine: str) -> str:
        """The name under which the code is kept: it follows from all that the code depends on."""
        names = [(f.__name__, blocks_of(f), held_by(f)) for f in self.functions]
        texts = [path.read_bytes() for path in (*SOURCES, *sorted(self.files))]
        parts = [repr((names, precision, self.fast, machine, HEAD)).encode(), *texts]
        return f"{names[0][0]}-{precision}-{blake2b(bytes(8).join(parts), digest_size=16).hexdigest()}"

    def text(self, precision: str) -> str:
        """The kernels in LLVM's language."""
        from qad.native.module import Module

        module = Module(precision, self.fast, {str(path) for path in self.files})
        for function in self.functions:
            module.export(function.__name__, function, blocks_of(function))
        return module.text()


class Bundle:
    """What kernels read again and again, in one argument that is checked once.

    Parameters
    ----------
    fields : named tuple of a class made by `struct`
        Arrays of kinds that are the same in each precision, and integers.

    Attributes
    ----------
    fields : as above
    numbers : array of int64
        The integers, and the addresses of the arrays.
    """

    __slots__ = ("fields", "numbers")
    fields: Any
    numbers: np.ndarray

    def __init__(self, fields: Any):
        self.fields, numbers = fields, []
        for block, x in zip(fields.blocks, fields, strict=True):
            if isinstance(block, Block):
                check(x, dtype_of(block.kind, "double"), block.ndim, type(fields).__name__)
            numbers.append(id(x) if isinstance(block, Block) else x)
        self.numbers = np.array(numbers, np.int64)

    def __reduce__(self) -> tuple[Any, ...]:
        return Bundle, (self.fields,)


class Kernel:
    """A compiled function: arrays are checked, and not copied; other threads of Python run meanwhile."""

    name: str
    address: int
    arrays: list[tuple[int, np.dtype[Any], int]]
    bundles: list[tuple[int, Parameter]]
    native: Callable[..., None]
    engine: Engine

    def __init__(self, function: Callable[..., None], precision: str, engine: Engine):
        self.name, self.engine, blocks = function.__name__, engine, list(enumerate(blocks_of(function)))
        self.arrays = [(i, dtype_of(of.kind, precision), of.ndim) for i, of in blocks if isinstance(of, Block)]
        self.bundles = [(i, of) for i, of in blocks if hasattr(of, "blocks")]
        kinds = [{INT: c_int64, FLOAT: c_double}.get(of, py_object) for _, of in blocks]
        self.address = engine.get_function_address(self.name)
        self.native = CFUNCTYPE(None, *kinds)(self.address)

    def __call__(self, *args: Any) -> None:
        given = list(args)
        for i, dtype, ndim in self.arrays:
            x = args[i]
            if x.dtype is not dtype or x.ndim != ndim or not x.flags.carray:  # most often it may be written to as well
                check(x, dtype, ndim, f"argument {i} of {self.name}")
        for i, kind in self.bundles:
            if type(args[i].fields) is not kind:
                raise TypeError(f"{self.name}: argument {i} must be a bundle of {kind.__name__}")
            given[i] = args[i].numbers
        self.native(*given)


def check(x: np.ndarray, dtype: np.dtype[Any], ndim: int, where: str) -> None:
    """Refuse an array that a kernel may not read."""
    if x.dtype != dtype or x.ndim != ndim or x.flags.num & IN_ORDER != IN_ORDER:
        raise TypeError(
            f"{where}: an aligned array of {dtype} and {ndim} axes in C order, not one of {x.dtype}, {x.shape}"
        )


def readable(x: np.ndarray) -> np.ndarray:
    """`x` as kernels read it, in C order and aligned: what comes from another process need not be either."""
    x = np.ascontiguousarray(x)
    return x if x.flags.aligned else x.copy()


def held_by(function: Callable[..., Any]) -> list[Any]:
    """What a function closes over, and has as defaults; of functions among these likewise."""
    held = *[cell.cell_contents for cell in function.__closure__ or ()], *(function.__defaults__ or ())
    return [(x.__qualname__, held_by(x)) if inspect.isfunction(x) else x for x in held]


def blocks_of(function: Callable[..., None]) -> list[Parameter]:
    """The annotations of a kernel's parameters."""
    return [
        kernel_type(parameter.annotation)
        for parameter in inspect.signature(function, eval_str=True).parameters.values()
    ]


def dtype_of(kind: Element, precision: str) -> np.dtype[Any]:
    """NumPy's name for the kind of an array's elements."""
    if isinstance(kind, type):
        return row_dtype(kind)
    llvm, pair = kind_in(kind, precision)
    return PRECISIONS[llvm][pair] if llvm in PRECISIONS else np.dtype({INT.llvm: "i8", INT32.llvm: "i4"}[llvm])
