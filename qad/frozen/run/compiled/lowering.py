"""Steps of a program as rows of a table (`qad.frozen.run.compiled.rows`)."""

from __future__ import annotations

import sys
from ctypes import c_int, c_void_p, string_at
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.contract.compiler import has_compiler
from qad.frozen.passes.rewriting import is_view
from qad.frozen.program.functions import RESHAPE, SUM, VIEWS
from qad.frozen.program.program import Var
from qad.frozen.run.compiled import table
from qad.frozen.run.compiled.rows import Operand, Row, axes_of, in_order
from qad.rules.structured_cotangents import scatter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from qad.frozen.program.program import Program, Step

    Places: TypeAlias = Any  # of placement.py, which imports this file
    Find: TypeAlias = Callable[[Var], Operand | None]  # where an array lies, and how, if that is known
    Rows: TypeAlias = list[Row] | None

CHARS = "fdFD?"
LONG = 16  # numbers from which on a sum runs along its own axis
FEWEST = 8  # steps, one after another, for which it pays to load the loop
LARGE, FEWEST_LARGE = 1 << 15, 3  # numbers of a large array, and steps on such
SMALL = 200  # multiply-adds of a product of matrices that needs no BLAS
WAVES: dict[Callable[..., Any], int] = {np.sin: table.SINE, np.cos: table.COSINE}
# NumPy 2.4 is wrong where their results do not lie side by side.
WRONG_APART = frozenset((np.negative, np.isnan, np.isinf, np.isfinite, np.signbit))
PRODUCTS = {"d": table.PRODUCT, "D": table.PRODUCT_COMPLEX}


def may_be_lowered(step: Step) -> bool | None:
    """Whether the function of a step is among those that the loop knows; None if the step is a view."""
    if step.fn in VIEWS:
        return None
    known = RULES.get(step.fn) or (isinstance(step.fn, np.ufunc) and step.fn.nout == 1)
    return bool(known) and step.out.dtype is not None and step.out.dtype.char in CHARS


def lowered(step: Step, find: Find) -> Rows:
    """The rows of a step, or None.

    Parameters
    ----------
    step : Step
    find : function
        Gives the `Operand` of a Var; None if where it lies, or how, is not known.
    """
    rule = RULES.get(step.fn) or (_elementwise if isinstance(step.fn, np.ufunc) else None)
    out = find(step.out)
    if rule is None or out is None or out.char not in CHARS or 0 in out.shape:
        return None
    return rule(step, find, out)


def all_found(args: Iterable[Any], find: Find, like: Any = None) -> list[Operand] | None:
    """Operands of arguments; numbers take the dtype `like`.  None if one of them is not known."""
    found = [find(x) if type(x) is Var else _literal(x, like) for x in args]
    return found if all(x is not None and 0 not in x.shape for x in found) else None


def _literal(x, like):
    """A number as an operand; Python's numbers take the dtype of what they meet."""
    if isinstance(x, np.generic):
        return Operand.of(np.asarray(x))
    if like is None or type(x) not in (int, float, complex) or like == "?" or (type(x) is complex and like in "fd"):
        return None
    return Operand.of(np.array(x, like))


def _elementwise(step, find, out):
    """A ufunc of one or two arguments."""
    if step.kwargs or step.fn.signature or len(step.args) != step.fn.nin or step.fn.nin > 2:
        return None
    kinds = {x.dtype.char for x in step.reads() if x.kind != "number" and x.dtype is not None}
    found = all_found(step.args, find, kinds.pop() if len(kinds) == 1 else None)
    return found and ufunc_rows(step.fn, found, out)


def ufunc_rows(ufunc: np.ufunc, operands: Sequence[Operand], out: Operand) -> Rows:
    """The row of a ufunc on these operands."""
    operands = (*operands, out)
    row = ufunc_row(ufunc, *[x.form for x in operands])
    return row and [row._replace(operands=operands)]


@lru_cache(maxsize=4096)
def ufunc_row(ufunc, *forms):
    """The row of a ufunc on operands of these forms; None if there is none."""
    *operands, out = [Operand(None, *form) for form in forms]
    chars = "".join(x.char for x in operands) + "->" + out.char
    function = loop_of(ufunc, chars)
    if function is None or any(char not in CHARS + "->" for char in chars):
        return None
    operands = [*[x.spread(out.shape) for x in operands], out]
    own = WAVES.get(ufunc) if chars == "d->d" else None
    fields = {"operation": own, "function": None} if own else {"operation": table.CALL, "function": function}
    axes = axes_of(operands)
    fastest = len(axes) - 1 if axes and axes[-1][0] >= LONG else None  # of the result, as NumPy chooses
    row = Row.along(axes, operands, fastest, name=ufunc.__name__, **fields)
    apart = row and row.count > 1 and row.steps[-1] != np.dtype(out.char).itemsize
    return None if apart and ufunc in WRONG_APART else row


def copied(source: Operand, out: Operand) -> Rows:
    """The row that copies one operand to another of its shape."""
    return ufunc_rows(np.positive, [source], out)


def together(parts: Sequence[Rows]) -> Rows:
    """The rows of all parts; None if one is None."""
    return [row for part in parts for row in part] if all(part is not None for part in parts) else None


def _reduce(step, find, out):
    """A sum over axes: zero, and then everything is added to it."""
    names = ("axis", "dtype", "out", "keepdims")
    given = dict(zip(names, step.args[1:], strict=False)) | step.kwargs
    source = type(step.args[0]) is Var and find(step.args[0])
    if not source or set(given) - set(names) or given.get("out") is not None or given.get("dtype") is not None:
        return None
    axis, ndim = given.get("axis", 0), len(source.shape)
    over = range(ndim) if axis is None else [i % ndim for i in (axis if type(axis) is tuple else (axis,))]
    if source.char != out.char or 0 in source.shape:
        return None
    left = iter(out.strides if not given.get("keepdims") else [s for i, s in enumerate(out.strides) if i not in over])
    target = out.with_axes(source.shape, [0 if i in over else next(left) for i in range(ndim)])
    return together([begun(out), added(source, target)])


def begun(out: Operand) -> Rows:
    """The row that begins a sum."""
    return copied(Operand.of(np.zeros((), out.char)).spread(out.shape), out)


def added(source: Operand, target: Operand) -> Rows:
    """The row that adds one operand to another of its shape, which may be all in one place along some axes."""
    operands = [target, source, target]
    function, axes = loop_of(np.add, f"{target.char * 2}->{target.char}"), axes_of(operands)
    summed = [i for i, (_, steps) in enumerate(axes) if steps[0] == 0]
    fields = {"operation": table.CALL, "function": function, "name": "add"}
    along = summed[-1] if summed and axes[summed[-1]][0] >= LONG else None
    row = Row.along(axes, operands, along, **fields)
    return row and [row]


def _product(step, find, out):
    """A product of matrices, or of two stacks of them."""
    found = None if step.kwargs or len(step.args) != 2 else all_found(step.args, find)
    if not found or {x.char for x in found} != {out.char} or out.char == "?":
        return None
    row = product_row(step.fn is np.dot, *[x.form for x in (*found, out)])
    return row and [row._replace(operands=(*found, out))]


@lru_cache(maxsize=4096)
def product_row(is_dot, *forms):
    """The row of a product of operands of these forms; None if there is none."""
    a, b, out = [Operand(None, *form) for form in forms]
    size = np.dtype(out.char).itemsize
    if not a.shape or not b.shape or (is_dot and max(len(a.shape), len(b.shape)) > 2):
        return None
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
    row = Row.along(
        axes_of(operands), operands, operation=kind or table.CALL, name="matmul", dims=(m, k, n),
        function=None if kind else loop_of(np.matmul, f"{out.char * 2}->{out.char}"),
    )  # fmt: skip
    matrices = *a.strides[-2:], *b.strides[-2:], rows or n * size, columns
    return row and row._replace(steps=(*row.steps, *matrices))


def _reshape(step, find, out):
    """A copy to an array in C order."""
    source = find(step.args[0])
    if source is None or source.char != out.char or not is_view(step):
        return None
    return copied(source, out.with_axes(source.shape, in_order(source.shape, np.dtype(out.char).itemsize)))


def _concatenate(step, find, out):
    """Every part is copied to its place."""
    parts = step.args[0]
    found = all_found(parts, find) if type(parts) in (list, tuple) else None
    if not found or set(step.kwargs) - {"axis"}:
        return None
    axis = step.args[1] if len(step.args) > 1 else step.kwargs.get("axis", 0)
    axis, at, rows = axis % len(out.shape), 0, []
    for x in found:
        piece = out.with_axes(x.shape, out.strides, at * out.strides[axis])
        rows.append(copied(x, piece) if x.char == out.char else None)
        at += x.shape[axis]
    return together(rows)


def _array(step, find, out):
    """A vector of numbers."""
    numbers = step.args[0]
    if type(numbers) is not list or len(step.args) > 1 or set(step.kwargs) - {"dtype"}:
        return None
    found = all_found(numbers, find, out.char)
    if not found or any(x.shape or x.char != out.char for x in found) or out.shape != (len(found),):
        return None
    return together([copied(x, out.with_axes((), (), i * out.strides[0])) for i, x in enumerate(found)])


def _scatter(step, find, out):
    """Zeros, to which every part is added at its place."""
    found = all_found(step.args, find)
    if not found or any(x.char != out.char for x in found):
        return None
    rows = [begun(out)]
    for index, part in zip(step.kwargs["indices"], found, strict=True):
        place = out.at(index)
        rows.append(place and added(part.spread(place.shape), place))
    return together(rows)


RULES: dict[Callable[..., Any], Callable[..., Rows]] = {
    np.matmul: _product, np.dot: _product, SUM: _reduce, np.concatenate: _concatenate, np.array: _array,
    scatter: _scatter, RESHAPE: _reshape,
}  # fmt: skip


def has_loop() -> bool:
    """Whether the loop can be compiled here, by LLVM."""
    return sys.platform in ("linux", "darwin") and has_compiler()


def pays(program: Program) -> bool:
    """Whether there are enough steps, one after another, that the loop knows; views between them do not count."""
    steps = large = 0
    for step in program.steps:
        known = may_be_lowered(step)
        if known is False:
            steps = large = 0
        elif known:
            steps, large = steps + 1, large + (step.out.size >= LARGE)
        if steps >= FEWEST or large >= FEWEST_LARGE:
            return True
    return False


def finder(places: Places) -> Callable[[Var], Operand | None]:
    """The function that gives the `Operand` of a Var; None if it is not known where it lies, or how."""
    known, dummies, made = places.program.constants, places.dummies, places.definitions

    def find(var):
        if var in dummies:
            value = dummies[var]
            if not value.dtype.isnative or not value.flags.aligned:
                return None
            return Operand.of(value, None if var in known else var)
        if var.kind != "array" or not var.shape or not var.dtype.isnative:
            return None
        if var in made and made[var].fn in VIEWS:  # its entries may lie apart
            return None
        return Operand(var, var.shape, in_order(var.shape, var.dtype.itemsize), var.dtype.char)

    return find


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
