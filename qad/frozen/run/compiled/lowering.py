"""Steps of a program as rows of a table (`qad.frozen.run.compiled.rows`)."""

from __future__ import annotations

import sys
from ctypes import c_int, c_void_p, string_at
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.contract.run.compiler import has_compiler
from qad.frozen.passes.rewriting import is_view
from qad.frozen.program.functions import RESHAPE, SUM, VIEWS
from qad.frozen.program.program import Var
from qad.frozen.run.compiled.rows import Operand, RowOperation, Unknown, axes_of, in_order, require
from qad.rules.protocol.structured_cotangents import scatter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from qad.frozen.program.program import Program, Step

    Find: TypeAlias = Callable[[Var], Operand]  # where an array lies, and how

CHARS = "fdFD?"
LONG = 16  # numbers from which on a sum runs along its own axis
FEWEST = 8  # steps for which it pays to load the loop
LARGE, FEWEST_LARGE = 1 << 15, 3  # numbers of a large array, and steps on such
SMALL = 200  # multiply-adds of a product of matrices that needs no BLAS
WAVES: dict[Callable[..., Any], str] = {np.sin: "sine", np.cos: "cosine"}
# NumPy 2.4 is wrong where their results do not lie side by side.
WRONG_APART = frozenset((np.negative, np.isnan, np.isinf, np.isfinite, np.signbit))
PRODUCTS = {"d": "product", "D": "product_complex"}


def lowered(step: Step, find: Find) -> list[RowOperation] | None:
    """The rows of a step; None where the loop cannot carry it out.

    Parameters
    ----------
    step : Step
    find : function
        Gives the `Operand` of a Var, and raises `Unknown` if where it lies, or how, is not known.
    """
    rule = RULES.get(step.fn) or (_elementwise if isinstance(step.fn, np.ufunc) else None)
    try:
        (out,) = all_found([step.out], find)
        require(rule and out.char in CHARS)
        return rule(step, find, out)
    except Unknown:
        return None


def all_found(args: Iterable[Any], find: Find, like: Any = None) -> list[Operand]:
    """Operands of arguments; numbers take the dtype `like`."""
    found = [find(x) if type(x) is Var else _literal(x, like) for x in args]
    require(all(0 not in x.shape for x in found))
    return found


def _literal(x, like):
    """A number as an operand; Python's numbers take the dtype of what they meet."""
    if isinstance(x, np.generic):
        return Operand.of(np.asarray(x))
    require(like not in (None, "?") and type(x) in (int, float, complex) and (type(x) is not complex or like in "FD"))
    return Operand.of(np.array(x, like))


def _elementwise(step, find, out):
    """A ufunc of one or two arguments."""
    require(not step.kwargs and not step.fn.signature and len(step.args) == step.fn.nin <= 2)
    kinds = {x.dtype.char for x in step.reads() if x.kind != "number" and x.dtype is not None}
    return ufunc_rows(step.fn, all_found(step.args, find, kinds.pop() if len(kinds) == 1 else None), out)


def ufunc_rows(ufunc: np.ufunc, operands: Sequence[Operand], out: Operand) -> list[RowOperation]:
    """The row of a ufunc on these operands."""
    operands = (*operands, out)
    return [ufunc_row(ufunc, *[x.form for x in operands])._replace(operands=operands)]


@lru_cache(maxsize=4096)
def ufunc_row(ufunc, *forms):
    """The row of a ufunc on operands of these forms."""
    *operands, out = [Operand(None, *form) for form in forms]
    chars = "".join(x.char for x in operands) + "->" + out.char
    function = loop_of(ufunc, chars)
    require(all(char in CHARS + "->" for char in chars))
    operands = [*[x.spread(out.shape) for x in operands], out]
    function = WAVES.get(ufunc, function) if chars == "d->d" and function else function
    axes = axes_of(operands)
    fastest = len(axes) - 1 if axes and axes[-1][0] >= LONG else None  # of the result, as NumPy chooses
    row = RowOperation.along(axes, operands, function, fastest)
    require(ufunc not in WRONG_APART or row.count == 1 or row.steps[-1] == np.dtype(out.char).itemsize)
    return row


def copied(source: Operand, out: Operand) -> list[RowOperation]:
    """The row that copies one operand to another of its shape and dtype."""
    require(source.char == out.char)
    return ufunc_rows(np.positive, [source], out)


def _reduce(step, find, out):
    """A sum over axes: zero, and then everything is added to it."""
    require(len(step.args) == 1 and step.kwargs.keys() <= {"axis", "keepdims"})
    (source,) = all_found(step.args, find)
    require(source.char == out.char)
    axis, ndim = step.kwargs.get("axis", 0), len(source.shape)
    over = range(ndim) if axis is None else [i % ndim for i in (axis if type(axis) is tuple else (axis,))]
    kept = step.kwargs.get("keepdims")
    left = iter(out.strides if not kept else [s for i, s in enumerate(out.strides) if i not in over])
    target = out.with_axes(source.shape, [0 if i in over else next(left) for i in range(ndim)])
    return begun(out) + added(source, target)


def begun(out: Operand) -> list[RowOperation]:
    """The row that begins a sum."""
    return copied(Operand.of(np.zeros((), out.char)).spread(out.shape), out)


def added(source: Operand, target: Operand) -> list[RowOperation]:
    """The row that adds one operand to another of its shape, which may be all in one place along some axes."""
    operands = [target, source, target]
    function, axes = loop_of(np.add, f"{target.char * 2}->{target.char}"), axes_of(operands)
    summed = [i for i, (_, steps) in enumerate(axes) if steps[0] == 0]
    along = summed[-1] if summed and axes[summed[-1]][0] >= LONG else None
    return [RowOperation.along(axes, operands, function, along)]


def _product(step, find, out):
    """A product of matrices, or of two stacks of them."""
    require(not step.kwargs and len(step.args) == 2 and out.char != "?")
    operands = *all_found(step.args, find), out
    require({x.char for x in operands} == {out.char})
    return [product_row(step.fn is np.dot, *[x.form for x in operands])._replace(operands=operands)]


@lru_cache(maxsize=4096)
def product_row(is_dot, *forms):
    """The row of a product of operands of these forms."""
    a, b, out = [Operand(None, *form) for form in forms]
    size = np.dtype(out.char).itemsize
    require(a.shape and b.shape and not (is_dot and max(len(a.shape), len(b.shape)) > 2))
    # a vector is a matrix of one row at the left, of one column at the right
    left, right = len(a.shape) == 1, len(b.shape) == 1
    a = a.with_axes((1, *a.shape), (a.shape[0] * a.strides[0], *a.strides)) if left else a
    b = b.with_axes((*b.shape, 1), (*b.strides, size)) if right else b
    (m, k), n, stack = a.shape[-2:], b.shape[-1], out.shape[: len(out.shape) - 2 + left + right]
    inner = list(out.strides[len(stack) :])
    rows, columns = 0 if left else inner.pop(0), size if right else inner.pop(0)
    operands = [x.with_axes(x.shape[:-2], x.strides[:-2]).spread(stack) for x in (a, b)]
    operands.append(out.with_axes(stack, out.strides[: len(stack)]))
    kind = PRODUCTS.get(out.char) if m * k * n <= SMALL else None
    function = kind or loop_of(np.matmul, f"{out.char * 2}->{out.char}")
    row = RowOperation.along(axes_of(operands), operands, function, dims=(m, k, n))
    matrices = *a.strides[-2:], *b.strides[-2:], rows or n * size, columns
    return row._replace(steps=(*row.steps, *matrices))


def _reshape(step, find, out):
    """A copy to an array in C order."""
    require(is_view(step))
    source = find(step.args[0])
    return copied(source, out.with_axes(source.shape, in_order(source.shape, np.dtype(out.char).itemsize)))


def _concatenate(step, find, out):
    """Every part is copied to its place."""
    axis = step.args[1] if len(step.args) > 1 else step.kwargs.get("axis", 0)
    require(axis is not None and type(step.args[0]) in (list, tuple) and step.kwargs.keys() <= {"axis"})
    axis, at, rows = axis % len(out.shape), 0, []
    for x in all_found(step.args[0], find):
        rows += copied(x, out.with_axes(x.shape, out.strides, at * out.strides[axis]))
        at += x.shape[axis]
    return rows


def _array(step, find, out):
    """A vector of numbers."""
    require(type(step.args[0]) is list and len(step.args) == 1 and step.kwargs.keys() <= {"dtype"})
    found = all_found(step.args[0], find, out.char)
    require(out.shape == (len(found),) and not any(x.shape for x in found))
    places = [out.with_axes((), (), i * out.strides[0]) for i in range(len(found))]
    return [row for x, place in zip(found, places, strict=True) for row in copied(x, place)]


def _scatter(step, find, out):
    """Zeros, to which every part is added at its place."""
    rows = begun(out)
    for index, part in zip(step.kwargs["indices"], all_found(step.args, find), strict=True):
        require(part.char == out.char)
        place = out.at(index)
        rows += added(part.spread(place.shape), place)
    return rows


RULES: dict[Callable[..., Any], Callable[..., list[RowOperation]]] = {
    np.matmul: _product, np.dot: _product, SUM: _reduce, np.concatenate: _concatenate, np.array: _array,
    scatter: _scatter, RESHAPE: _reshape,
}  # fmt: skip


def has_loop() -> bool:
    """Whether the loop can be compiled here, by LLVM."""
    return sys.platform in ("linux", "darwin") and has_compiler()


def pays(program: Program) -> bool:
    """Whether there are enough steps that the loop knows, and that make an array."""
    known = RULES.keys() - VIEWS
    steps = [step for step in program.steps if isinstance(step.fn, np.ufunc) or step.fn in known]
    sizes = [step.out.size for step in steps if step.out.kind != "other" and step.out.dtype.char in CHARS]
    return len(sizes) >= FEWEST or sum(size >= LARGE for size in sizes) >= FEWEST_LARGE


# -- the inner loops of NumPy's ufuncs, found where NumPy's C interface keeps them ----------------------------------
# What a compiled loop calls is thus the very code that NumPy would have called, and gives the same bits.

HEAD = object.__basicsize__  # bytes of an object before what it holds; then ``PyUFuncObject`` of NumPy's C interface
FUNCTIONS, DATA, TYPES = HEAD + 16, HEAD + 24, HEAD + 48


@cache
def loop_of(ufunc: np.ufunc, chars: str) -> tuple[int, int] | None:
    """Address and data of the inner loop for these dtypes, such as "dd->d"; None where there is none."""
    if chars not in ufunc.types:
        return None
    at, i = id(ufunc), ufunc.types.index(chars)
    expected = [np.dtype(c).num for c in chars if c not in "->"]
    counts = [c_int.from_address(at + HEAD + 4 * k).value for k in range(3)]
    kinds = string_at(pointer(at + TYPES) + i * ufunc.nargs, ufunc.nargs)
    if counts != [ufunc.nin, ufunc.nout, ufunc.nargs] or [*kinds] != expected:
        return None  # another interface than that of NumPy 2
    address, data = pointer(pointer(at + FUNCTIONS) + 8 * i), pointer(at + DATA)
    return address and (address, (data and pointer(data + 8 * i)) or 0)


def pointer(at: int) -> int | None:
    """The pointer at an address, as an integer; None for NULL."""
    return c_void_p.from_address(at).value
