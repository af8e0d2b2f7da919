"""Quick recorders of the hot operations.

They test for the common case (open reverse level, plain or equal-level operands) and fall back to `record`.  What NumPy
refuses goes that way too, to be refused with the operation's name; a ``try`` that does not fail costs nothing.

Each recorder begins with `next_id`, even where the recorder needs no number.  SciPy's solvers in C go on after a
function that they call has raised an error, and NumPy's arithmetic of numbers then discards the error.  CPython notices
a pending error at a call like `next_id`, and raises the error to the user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy import complex128, float64, matmul, ndarray

from qad.core.fast.pushes import batch_two, push_one, push_product, push_two
from qad.core.tape.constants import kept
from qad.core.tape.entries import ArrayForm
from qad.core.tape.forward import Forward
from qad.core.tape.levels import mode, records
from qad.core.tape.node import NUMPY_SCALARS, PRIMITIVE, next_id
from qad.core.tape.operands import NUMBERS, PLAIN, operand
from qad.core.tape.record import record
from qad.core.tape.reverse import Reverse
from qad.core.tape.roots import remembered
from qad.core.tape.tensor import FIXED, Tensor, settled
from qad.core.tape.views import look, mark, may_show
from qad.core.vmap.rules import Batch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.core.tape.levels import Level
    from qad.core.tape.node import Primitive
    from qad.typing import Function
    from qad.typing.words import Answer, Recorder, Value

ARRAYS: frozenset[type] = frozenset((ndarray, Tensor))
TWO: dict[type, Function] = {Forward: push_two, Batch: batch_two}


def unary(p: Primitive, operator: Recorder | None = None) -> Recorder:
    """A quick recorder for a primitive of one operand; NumPy's scalars go to `operator`, if there is one."""
    # measured: without it the gradient of sum(sin(x) * x) takes 1.14 times as long, a chain of transposes 1.30
    fn, raw = p.fn, p.raw
    scalar, shows = operator or fn, p.shows

    def recorder(x):
        level = x.level if type(x) is Tensor else PLAIN
        if level.quick or (type(level) is Reverse and records(level)):
            v, number = x.value, next_id()
            try:
                kind = type(v)
                ans = raw(v) if kind is ndarray else scalar(v) if kind in NUMPY_SCALARS else fn(v)
            except ValueError:
                return record(p, (x,))
            out = Tensor(ans, [number, p, (v,), None, ans, (x.node,)], level)
            if shows:
                look_quickly(out, x, ans, v, p, ())
            return out
        try:
            return pushed(p, x, (), level)
        except ValueError:
            return record(p, (x,))

    return recorder


def unary_with_metadata(p: Primitive) -> Recorder:
    """A quick recorder for a primitive of one operand and positional metadata."""
    # measured: without it the gradient of sum(sin(x) * x) takes 1.29 times as long
    fn, shows = p.fn, p.shows

    def recorder(x, *metadata):
        level = x.level if type(x) is Tensor else PLAIN
        if level.quick or (type(level) is Reverse and records(level)):
            v, number = x.value, next_id()
            try:
                if len(metadata) == 1:  # most often; without unpacking a reshape takes 0.89 of the time
                    (given,) = metadata
                    ans, args = fn(v, given), (v, given)
                else:
                    ans, args = fn(v, *metadata), (v, *metadata)
            except ValueError:
                return record(p, (x, *metadata))
            out = Tensor(ans, [number, p, args, None, ans, (x.node,)], level)
            if shows:
                look_quickly(out, x, ans, v, p, metadata)
            return out
        try:
            return pushed(p, x, metadata, level)
        except ValueError:
            return record(p, (x, *metadata))

    return recorder


def look_quickly(out: Tensor, x: Tensor, part: Value, whole: Value, p: Primitive, metadata: Sequence[Any]) -> None:
    """`look`, for the values of the two, which are most often arrays or numbers of NumPy's."""
    if type(part) is ndarray and type(whole) is ndarray:
        base = part.base
        if (base is not None and (base is whole or base is whole.base)) or may_show(p, out, x):
            if x.buffer is FIXED:  # an argument or a leaf: most often, and without a call a view takes 0.9 of the time
                out.buffer = x, x, p.fn, metadata, None
            else:
                mark(out, x, p.fn, metadata)
    elif type(part) not in NUMPY_SCALARS:
        look(out, x, p, metadata)


def pushed(p: Primitive, x: Value, metadata: Sequence[Any], level: Level) -> Answer:
    """Push primitive `p` of one operand, for a recorder that found no reverse level; or ask `record`."""
    if type(level) is not Forward or not level.open or (mode() is not None and not records(level)):
        return record(p, (x, *metadata))
    next_id()
    out = push_one(p, x, metadata, level)
    if p.root is not None or x.source is not None:
        remembered(p, out, (x, *metadata))
    if p.shows and type(out) is Tensor:
        look_quickly(out, x, out.value, x.value, p, metadata)
    return out


def both_pushed_or_batched(p: Primitive, x: Value, y: Value) -> Answer:
    """Push or batch primitive `p` of two operands, for a recorder that found no reverse level; else None.

    Of two of which one is a buffer, or a view of one, what it shows now is asked for directly.
    """
    # measured: without this Gram and Schmidt's method, row by row in a buffer, takes 1.3 times as long
    shows = (type(x) is Tensor and type(x.value) is ArrayForm) or (type(y) is Tensor and type(y.value) is ArrayForm)
    if shows and x is not y:
        return p.fn(settled(x), settled(y))
    if p.root is not None:
        return None  # its answer will be remembered
    if type(x) is Tensor:
        level = x.level
        if (x is y or x.source is not None) and p.canonical is not None and (ans := p.canonical(x, y)) is not None:
            return ans
    else:
        level = y.level if type(y) is Tensor else PLAIN
    apply = TWO.get(type(level))
    if apply is None or not level.open or (mode() is not None and not records(level)):
        return None
    next_id()
    return apply(p, x, y, level)


def of_constant(
    p: Primitive, fn: Function, broadcasting: Primitive, scalar: Function, x: Value, y: Tensor, level: Any
) -> Tensor | None:
    """What the recorder of `binary` does for a constant `x` and a Tensor `y`; None where it takes the general road."""
    kind, number, w = type(x), next_id(), y.value
    if kind is ndarray:
        ans, x = fn(x, w), kept(level, x)
        chosen = p if x.shape == w.shape else broadcasting
        return Tensor(ans, [number, chosen, (x, w), None, ans, (None, y.node)], level)
    if kind in NUMBERS:
        real = kind is not complex and type(w) is float64  # 1j * float64(1) is Python's
        ans = scalar(x, w) if real or type(w) is complex128 else fn(x, w)
        return Tensor(ans, [number, p, (x, w), None, ans, (None, y.node)], level)
    return None


def binary(p: Primitive, operator: Recorder | None = None) -> tuple[Recorder, Recorder]:
    """A quick recorder for an elementwise primitive of two operands, and its reflection.

    The broadcasting variant of `p` is chosen here, while shapes are at hand, and only where it is needed.  Numbers go
    to Python's `operator`, if there is one.
    """
    # measured: without it x[i] * x[i] takes 2.4 times as long, a polynomial 3.7; without `operator` that takes 1.24;
    # without a look at the array copied last products with one array take 1.07
    fn, broadcasting = p.fn, p.broadcasting or p
    scalar = operator or fn

    def recorder(x, y):
        try:
            if type(x) is Tensor and ((level := x.level).quick or (type(level) is Reverse and records(level))):
                kind, number, v = type(y), next_id(), x.value
                if kind is Tensor and y.level is level:
                    special = (y is x or x.node[PRIMITIVE].root is not None) and p.canonical is not None
                    if special and (ans := p.canonical(x, y)) is not None:
                        return ans
                    w = y.value
                    if type(v) in NUMPY_SCALARS and type(w) is type(v):
                        ans, chosen = scalar(v, w), p
                    else:
                        ans = fn(v, w) if type(v) is ndarray else scalar(v, w)
                        chosen = p if v.shape == w.shape else broadcasting
                    return Tensor(ans, [number, chosen, (v, w), None, ans, (x.node, y.node)], level)
                if kind is ndarray:
                    ans, shape, (of, copy, memory) = fn(v, y), y.shape, level.last
                    if of() is not y or shape != copy.shape or y.dtype is not copy.dtype or memory != y:
                        copy = kept(level, y)
                    chosen = p if v.shape == shape else broadcasting
                    return Tensor(ans, [number, chosen, (v, copy), None, ans, (x.node, None)], level)
                if kind in NUMBERS:
                    ans = fn(v, y) if type(v) is ndarray else scalar(v, y)
                    return Tensor(ans, [number, p, (v, y), None, ans, (x.node, None)], level)
            elif type(y) is Tensor and ((level := y.level).quick or (type(level) is Reverse and records(level))):
                ans = of_constant(p, fn, broadcasting, scalar, x, y, level)
                if ans is not None:
                    return ans
            ans = both_pushed_or_batched(p, x, y)
            if ans is not None:
                return ans
        except (ValueError, TypeError):
            pass
        if getattr(y, "__array_ufunc__", fn) is None:  # NumPy's sign that the operator is the other's
            return NotImplemented
        return record(p, (operand(x), operand(y)))

    return recorder, lambda y, x: recorder(x, y)


def product(p: Primitive, method: Recorder, otherwise: Recorder, stacks: Primitive | None = None) -> Recorder:
    """A quick recorder for a product of two matrices.

    Primitive `p` serves two matrices, as `method` where their values are ndarrays; the primitive `stacks`, if there is
    one, vectors and stacks; the function `otherwise` everything else.  The choice is made here, while shapes are at
    hand, so that the rules of `p` need not look at them.
    """
    # measured: without it a chain of products of 4x4 matrices takes 2.1 times as long, with `multiplied` for
    # arrays, too, 1.06

    def recorder(x, y):
        if type(x) is Tensor:
            if x is y and p.canonical is not None and (ans := p.canonical(x, y)) is not None:
                return ans
            level, v, left = x.level, x.value, x.node
            if type(y) is not Tensor:
                w, right = y, None
            elif y.level is level:
                w, right = y.value, y.node
            else:
                return otherwise(x, y)
        elif type(y) is Tensor:
            level, v, left, w, right = y.level, x, None, y.value, y.node
        else:
            return otherwise(x, y)
        arrays = type(v) is ndarray and type(w) is ndarray
        if arrays or (type(v) in ARRAYS and type(w) in ARRAYS):
            m, n = v.ndim, w.ndim
            q = p if m == 2 == n else stacks if m and n else None
            if q is not None:
                try:
                    if level.quick or (type(level) is Reverse and records(level)):
                        ans = method(v, w) if arrays and q is p else multiplied(v, w, m <= 2 >= n)
                        if left is None:
                            v = kept(level, v)
                        elif right is None:
                            w = kept(level, w)
                        return Tensor(ans, [next_id(), q, (v, w), None, ans, (left, right)], level)
                    if type(level) is Forward and level.open and (mode() is None or records(level)):
                        return push_product(q, multiplied, x, y, v, w, m <= 2 >= n, level)
                except (ValueError, TypeError):
                    pass
        return otherwise(x, y)

    def multiplied(v, w, small):
        """The product of two values, `small` if none of them is a stack."""
        if type(v) is type(w) is ndarray:
            return method(v, w) if small else matmul(v, w)
        return recorder(v, w)

    return recorder
