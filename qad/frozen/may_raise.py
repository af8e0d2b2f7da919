"""Which steps may raise, for some values of arguments that have the right shapes and dtypes.

An error is part of what a function does: it is caught, or tells the caller that a matrix is singular.  A step that may
raise is made even where nobody reads its result.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.frozen.functions import OPERATORS, SETTLED, SETTLED_METHODS, TRANSPARENT, Attribute, Method, Reduction, method
from qad.frozen.program import variables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.frozen.program import Step

_METHODS = SETTLED_METHODS | {"nonzero"}
_FUNCTIONS = SETTLED | frozenset((
    np.array, np.where, np.diag, np.atleast_1d, np.atleast_2d, np.split, np.tile, np.pad, np.median, np.linalg.matmul,
    np.linalg.trace, np.linalg.diagonal, np.linalg.outer, np.linalg.vector_norm, np.linalg.multi_dot,
    *(getattr(np.fft, name) for name in np.fft.__all__),
))  # fmt: skip
_OF_NUMBERS = frozenset((operator.add, operator.sub, operator.mul, operator.neg, operator.pos, abs))
_POWERS = frozenset((np.power, operator.pow, operator.ipow))  # of integers to negative ones
_ROOMS = ("qad.core.", "qad.rules.", "qad.special.", "qad.contract.", "qad.frozen.")  # whose primitives do not raise


def may_raise(step: Step) -> bool:
    """Whether a step may raise; functions that are in no table here may."""
    fn = step.fn
    if step.out.kind == "number":
        return fn not in _OF_NUMBERS
    if fn is operator.getitem:
        return bool(variables(step.args[1]))  # an index that is out of bounds
    if fn in _POWERS:
        return step.out.dtype is None or step.out.dtype.kind in "iu"
    if isinstance(fn, np.ufunc) or type(fn) in (Attribute, Reduction) or fn in _FUNCTIONS or fn in TRANSPARENT:
        return False
    if fn is np.linalg.norm:
        return len(step.args) > 1 or "ord" in step.kwargs  # one of singular values
    if type(fn) is Method:
        return fn.__name__ not in _METHODS
    if fn in _OPERATORS:
        return False
    return not (getattr(fn, "__module__", None) or "").startswith(_ROOMS)


def write_may_raise(step: Step) -> bool:
    """Whether a write may raise: at places that follow from arguments, which may lie outside."""
    if step.fn in _POWERS:
        return step.mutates.dtype is None or step.mutates.dtype.kind in "iu"
    placed = step.fn in _AT_PLACES or (type(step.fn) is Reduction and step.fn.method == "at")
    return placed and bool(variables(step.args[1:2]))


_AT_PLACES = frozenset((operator.setitem, np.put, np.put_along_axis, method("put"), method("itemset")))
_OPERATORS = frozenset((abs, *OPERATORS.values()))


def is_settled(error: Exception, fn: Callable[..., Any], args: Sequence[Any]) -> bool:
    """Whether a function of NumPy's complains of shapes and dtypes, which every call of the signature has."""
    if fn is operator.getitem:
        index = args[1] if type(args[1]) is tuple else (args[1],)
        return type(error) is IndexError and all(type(i) in (int, slice, type(None), type(...)) for i in index)
    if fn in _POWERS:
        return type(error) is TypeError
    known = isinstance(fn, np.ufunc) or fn in _OF_SHAPES or type(fn) is Attribute
    known = known or (type(fn) is Method and fn.__name__ in ("reshape", "transpose", "dot", "sum", "swapaxes", "trace"))
    return known and type(error) in (TypeError, ValueError)


_OF_SHAPES = frozenset((
    *OPERATORS.values(), np.dot, np.vdot, np.inner, np.outer, np.matmul, np.tensordot, np.kron, np.einsum, np.stack,
    np.concatenate, np.transpose, np.reshape, np.broadcast_to, np.where, np.trace, np.diagonal, np.moveaxis,
    np.swapaxes,
))  # fmt: skip
