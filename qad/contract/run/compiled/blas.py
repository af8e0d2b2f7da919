"""Products of matrices by SciPy's BLAS, called from kernels."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from qad.native import intrinsic
from qad.native.values import Number, constant

if TYPE_CHECKING:
    from qad.native.statements import KernelFunction
    from qad.native.values import Array, Kind, Scalar

__all__ = ["multiplied", "symbols"]

LETTERS = {("double", False): "d", ("double", True): "z", ("float", False): "s", ("float", True): "c"}


def symbols() -> dict[str, int]:
    """The addresses of BLAS's products of matrices, by the names that kernels know."""
    from scipy.linalg import cython_blas

    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    found = {}
    for letter in LETTERS.values():
        capsule = cython_blas.__pyx_capi__[f"{letter}gemm"]
        found[f"qad_{letter}gemm"] = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
    return found


@intrinsic
def multiplied(
    code: KernelFunction, first: Array, one: Scalar, second: Array, two: Scalar, work: Array, out: Scalar, m: Scalar,
    k: Scalar, n: Scalar, form: Scalar,
) -> None:  # fmt: skip
    """``C = A B`` for matrices (m, k) and (k, n) that are pieces of blocks of one dtype, and begin at these places.

    `form` is 1 where A lies transposed in memory, 2 where B does, 3 where both do, 0 otherwise; C overlaps neither.
    BLAS goes along columns, and so sees transposes: it is asked for ``C^T = B^T A^T``.
    """
    kind = work.kind
    name = f"qad_{LETTERS[kind]}gemm"
    code.declare(f"declare void @{name}({', '.join(['ptr'] * 13)})")
    turned = [code.truth(code.binary("BitAnd", form, bit)) for bit in (1, 2)]
    letters = [code.emit("i8", f"select i1 {test.name}, i8 84, i8 78") for test in turned]  # "T" or "N"
    apart = [
        code.emit("i64", f"select i1 {test.name}, i64 {code.whole(yes).name}, i64 {code.whole(no).name}")
        for test, yes, no in zip(turned, (m, k), (k, n), strict=True)
    ]
    sizes = [by_reference(code, code.cast(x, "i32")) for x in (n, m, k, apart[1], apart[0], n)]
    alpha, beta = (number(code, kind, value) for value in (1.0, 0.0))
    a, b, c = (code.step(block, at) for block, at in ((first, one), (second, two), (work, out)))
    transposed = [by_reference(code, letter) for letter in letters[::-1]]
    given = *transposed, *sizes[:3], alpha, b, sizes[3], a, sizes[4], beta, c, sizes[5]
    code.say(f"call void @{name}({', '.join(f'ptr {part.name}' for part in given)})")


def by_reference(code: KernelFunction, x: Number) -> Number:
    """A number in memory."""
    _, (place,) = code.slot(x)
    code.say(f"store {x.type} {x.name}, ptr {place.name}")
    return Number("ptr", place.name)


def number(code: KernelFunction, kind: Kind, value: float) -> Number:
    """A real number in memory, of the kind of a block."""
    place = Number("ptr", code.fresh())
    code.allocations.append(f"  {place.name} = alloca [2 x {kind.llvm}]")
    for i, part in enumerate((value, 0.0)):
        code.say(f"store {kind.llvm} {constant(part, kind.llvm)}, ptr {code.moved(place, kind.llvm, i).name}")
    return place
