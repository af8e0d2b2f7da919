"""Functions of stacks: the call that does for all entries of a stack what a step does for one.

A stack is an array with one axis more, the first.  Each rule takes a step, its operands as stacks (an operand that all
members share as it is) and the number of members; it gives the steps that compute the stack of the results.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.frozen.functions import DIAGONAL, IMAG, REAL, RESHAPE, SUM, TRANSPOSE
from qad.frozen.passes.rewriting import derived, reshaped
from qad.frozen.program import Var

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.frozen.program import Step

VIEWS = frozenset((TRANSPOSE, RESHAPE, DIAGONAL, operator.getitem, REAL, IMAG))
PRODUCTS: dict[Callable[..., Any], tuple[int, ...]] = {
    np.dot: (1, 2),
    np.matmul: (1, 2),
    np.vdot: (1,),
}  # numbers of axes of their operands
JOINS: dict[Callable[..., Any], set[str]] = {np.concatenate: {"axis"}, np.array: {"dtype"}}  # keywords


def is_view(step: Step) -> bool:
    """Whether a step costs nothing where its operand lies in a buffer."""
    return step.fn in VIEWS


def operands(step: Step) -> tuple[Any, ...]:
    """The operands of a step, literal numbers included: of a view its base, of a list its entries."""
    if is_view(step):
        return step.args[:1]
    return tuple(step.args[0]) if step.fn in JOINS else step.args


def rule_of(step: Step) -> Callable[..., list[Step]] | None:
    """The rule for a step, or None."""
    fn, args, kwargs = step.fn, step.args, step.kwargs
    if isinstance(fn, np.ufunc) and fn.signature is None:
        return _elementwise if fn.nout == 1 and not kwargs and len(args) == fn.nin else None
    if fn in PRODUCTS:
        return _product if not kwargs and all(type(x) is Var and len(x.shape) in PRODUCTS[fn] for x in args) else None
    if fn in JOINS:
        return _join if _joins_arrays(step) else None
    if fn is operator.getitem:
        return _view if _is_basic(args[1]) else None
    if fn is SUM:
        return _reduced if len(args) == 1 and set(kwargs) == {"axis", "keepdims"} else None
    if fn is DIAGONAL:
        return _view if len(args) == 1 and not kwargs and len(args[0].shape) == 2 else None
    return _view if fn in VIEWS else None


def _joins_arrays(step):
    """Whether a step joins arrays, or numbers to an array, of whose common dtype the result is."""
    if len(step.args) > 1 or type(step.args[0]) not in (list, tuple) or set(step.kwargs) - JOINS[step.fn]:
        return False
    parts = step.args[0]
    return (
        all(type(x) is Var and x.dtype for x in parts) and np.result_type(*[x.dtype for x in parts]) == step.out.dtype
    )


def lifted(step: Step, stacks: Sequence[tuple[Any, bool]], count: int) -> list[Step]:
    """The steps that make the stack of `count` results; `stacks` holds pairs (operand, whether it is a stack)."""
    return rule_of(step)(step, stacks, count)


def _is_basic(index):
    index = index if type(index) is tuple else (index,)
    return all(type(i) in (int, type(None), type(...)) or (type(i) is slice and not _varies(i)) for i in index)


def _varies(x):
    return any(type(i) is Var for i in (x.start, x.stop, x.step))


def _elementwise(step, stacks, count):
    """Stacks of operands with fewer axes than the result get axes for them."""
    steps, args, ndim = [], [], len(step.out.shape)
    for x, is_stack in stacks:
        if is_stack and len(x.shape) <= ndim:
            x = _reshaped(steps, x, (count, *[1] * (ndim + 1 - len(x.shape)), *x.shape[1:]))
        args.append(x)
    return [*steps, derived(step.fn, tuple(args), (count, *step.out.shape), step.out.dtype)]


def _product(step, stacks, count):
    """Matrices and vectors as matrices, in one call of matmul."""
    steps, args = [], []
    for side, (x, is_stack) in enumerate(stacks):
        before, shape = x.shape[:is_stack], x.shape[is_stack:]
        if side == 0 and step.fn is np.vdot and x.dtype.kind == "c":
            steps.append(derived(np.conjugate, (x,), x.shape, x.dtype))
            x = steps[-1].out
        if len(shape) == 1:
            x = _reshaped(steps, x, (*before, 1, *shape) if side == 0 else (*before, *shape, 1))
        args.append(x)
    shape = (count, args[0].shape[-2], args[1].shape[-1])
    steps.append(derived(np.matmul, tuple(args), shape, step.out.dtype))
    _reshaped(steps, steps[-1].out, (count, *step.out.shape))
    return steps


def _reduced(step, stacks, count):
    """A sum over the axes that are one further."""
    ((x, _),) = stacks
    axis, keepdims = step.kwargs["axis"], step.kwargs["keepdims"]
    axes = range(len(x.shape) - 1) if axis is None else axis if type(axis) is tuple else (axis,)
    moved = tuple(a % (len(x.shape) - 1) + 1 for a in axes)
    kwargs = {"axis": moved, "keepdims": keepdims}
    return [derived(SUM, (x,), (count, *step.out.shape), step.out.dtype, None, kwargs)]


def _view(step, stacks, count):
    """A view of all entries."""
    ((x, _),), out = stacks, (count, *step.out.shape)
    if step.fn is TRANSPOSE:
        rest = ((0, *[axis + 1 for axis in step.args[1]]),)
    elif step.fn is RESHAPE:
        rest = (out,)
    elif step.fn is operator.getitem:
        index = step.args[1]
        rest = ((slice(None), *(index if type(index) is tuple else (index,))),)
    else:
        rest = (0, 1, 2) if step.fn is DIAGONAL else ()
    return [derived(step.fn, (x, *rest), out, step.out.dtype, x.root)]


def _join(step, stacks, count):
    """Joined along an axis that is one further; numbers along a new one."""
    steps, parts = [], []
    axis = step.kwargs.get("axis", 0) % max(1, len(step.out.shape)) + 1
    for x, is_stack in stacks:
        if not is_stack:
            steps.append(derived(np.broadcast_to, (x, (count, *x.shape)), (count, *x.shape), x.dtype, x.root))
            x = steps[-1].out
        parts.append(_reshaped(steps, x, (count, 1)) if step.fn is np.array else x)
    joined = derived(np.concatenate, (parts,), (count, *step.out.shape), step.out.dtype, None, {"axis": axis})
    return [*steps, joined]


def _reshaped(steps, x, shape):
    if x.shape == shape:
        return x
    steps.append(reshaped(x, shape))
    return steps[-1].out
