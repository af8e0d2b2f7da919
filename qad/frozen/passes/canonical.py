"""One name for each thing: methods, attributes and aliases of NumPy's functions become a few canonical calls.

Views are ``transpose(x, axes)`` and ``reshape(x, shape)``, two matrices multiply by ``np.dot``, elementwise functions
are ufuncs, sums are ``np.add.reduce``; copies, and conjugates and real parts of real arrays, are the array itself.
With this pass only, a replay takes a quarter of the time that the recorded calls take (1000 small operations); the
other passes are written for its forms.
"""

from __future__ import annotations

import operator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.frozen.passes.rewriting import reshaped
from qad.frozen.program.functions import PERMUTING, REAL, RESHAPE, SUM, TRANSPOSE, UFUNCS, attribute, method
from qad.frozen.program.program import Step, Var
from qad.rules.shapes.join import joined, stacked

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.frozen.passes.rewriting import Visitor
    from qad.frozen.program.program import Program


def canonical(program: Program) -> Visitor:
    """The visitor that renames."""
    return _visit


def _visit(step, definitions):
    rule = RULES.get(step.fn, _arithmetic)
    plain = step.args and type(step.args[0]) is Var and step.out.kind in ("array", "scalar")
    return rule(step) if plain or rule is _stack else _arithmetic(step)


def _same(step):
    """A copy, or a cast that changes nothing."""
    x, copies = step.args[0], step.fn is CAST or (len(step.args) == 1 and not step.kwargs)
    return x if copies and x.dtype == step.out.dtype and x.kind != "number" else _arithmetic(step)


def _entry(step):
    x, index = step.args
    whole = index is ... or (type(index) is tuple and not index)
    return x if whole and x.kind in ("array", "scalar") else None


def _permutation(step):
    x = step.args[0]
    if x.kind != "array":
        return x
    if len(step.reads()) > 1:  # the axes are an array
        return None
    probe = np.empty(tuple(range(len(x.shape))))  # its shape tells where the axes go
    axes = step.fn(probe, *step.args[1:], **step.kwargs).shape
    return x if axes == tuple(range(len(axes))) else [Step(TRANSPOSE, (x, axes), {}, step.out)]


def _reshape(step):
    x, out = step.args[0], step.out
    if x.kind != "array":
        return None
    if "F" in (step.kwargs.get("order"), *[each for each in step.args[1:] if type(each) is str]):
        return None
    return x if x.shape == out.shape else [Step(RESHAPE, (x, out.shape), {}, out)]


def _real(step):
    x = step.args[0]
    if x.kind == "number":
        return None
    return x if x.dtype.kind != "c" else [Step(REAL, (x,), {}, step.out)]


def _sum(step):
    names = ("axis", "dtype", "out", "keepdims", "initial", "where")
    given = dict(zip(names, step.args[1:], strict=False)) | step.kwargs
    x, axis, keepdims = step.args[0], given.pop("axis", None), given.pop("keepdims", False)
    if any(value is not None for value in given.values()) or x.kind != "array" or type(keepdims) is not bool:
        return None
    return [Step(SUM, (x,), {"axis": axis, "keepdims": keepdims}, step.out)]


def _stack(step):
    """Numbers in a row are an array of a list; other arrays are concatenated."""
    parts, *rest = step.args if step.fn is np.stack else (step.args,)
    out, axis = step.out, rest[0] if rest else step.kwargs.get("axis", 0)
    known = type(parts) in (list, tuple) and all(type(x) is Var and x.kind != "other" for x in parts)
    if not known or len(rest) > 1 or set(step.kwargs) - {"axis"} or type(axis) is not int:
        return None
    if step.fn is joined:
        return [Step(np.concatenate, (list(parts),), {"axis": axis}, out)]
    if not parts[0].shape:
        return [Step(np.array, (list(parts),), {"dtype": out.dtype}, out)]
    axis %= len(out.shape)
    shape = (*out.shape[:axis], 1, *out.shape[axis + 1 :])
    wide = [reshaped(x, shape) for x in parts]
    return [*wide, Step(np.concatenate, ([each.out for each in wide],), {"axis": axis}, out)]


def _dot(step):
    """``a.dot(b)`` of two matrices or vectors; of others it means something else."""
    if len(step.args) == 2 and not step.kwargs and all(type(x) is Var and x.shape for x in step.args):
        return [Step(np.dot, step.args, {}, step.out)] if step.fn is not np.dot else None
    return None


CAST = method("astype")
NAMES: dict[Callable[[Step], Any], tuple[Callable[..., Any], ...]] = {
    _permutation: (*PERMUTING, attribute("T"), attribute("mT")), _reshape: (RESHAPE, np.reshape, np.ravel, np.squeeze,
        np.expand_dims, *map(method, ("ravel", "flatten", "squeeze"))),
    _same: (np.copy, np.array, np.positive, method("copy"), CAST), _stack: (stacked, joined, np.stack),
    _entry: (operator.getitem,), _real: (np.real, REAL), _sum: (np.sum, method("sum")), _dot: (np.dot, method("dot")),
}  # fmt: skip
RULES = {fn: rule for rule, names in NAMES.items() for fn in names}

# What the operator ``**`` of an array stands for in NumPy; it differs from the power at infinity.
POWERS: dict[tuple[type, float], np.ufunc] = {
    (int, 2): np.square,
    (float, 2.0): np.square,
    (int, -1): np.reciprocal,
    (float, 0.5): np.sqrt,
}


def _arithmetic(step):
    """Operators, where an array or a scalar of NumPy's is among the operands."""
    fn = UFUNCS.get(step.fn, step.fn)
    operands = [x for x in step.args if type(x) is Var]
    if step.kwargs or not any(x.kind in ("array", "scalar") for x in operands) or step.out.kind == "other":
        return None
    x, same = operands[0], operands[0].dtype == step.out.dtype  # and not of another order of bytes
    if (fn is np.positive and same) or (fn is np.conjugate and same and x.dtype.kind != "c" and x.kind != "number"):
        return x
    if fn is np.matmul and len(operands) == 2 and all(len(x.shape) == 2 for x in operands):
        return [Step(np.dot, step.args, {}, step.out)]
    if not all(type(x) is Var or isinstance(x, (int, float, complex, np.number)) for x in step.args):
        return None  # something that has its own arithmetic, such as a sparse matrix
    power = POWERS.get((type(step.args[1]), step.args[1])) if fn is np.power and type(step.args[1]) is not Var else None
    if power and (power is np.square or step.fn is operator.pow) and x.kind == "array" and x.dtype.kind in "fc":
        return [Step(power, step.args[:1], {}, step.out)]
    new = fn is not step.fn and isinstance(fn, np.ufunc) and _gives(fn, step)
    return [Step(fn, step.args, {}, step.out)] if new else None


def _gives(fn, step):
    """Whether a ufunc gives what its operator gave: the square of truths is of bytes, their power of integers."""
    if any(x.dtype is None for x in step.args if type(x) is Var):
        return True
    return _resolved(fn, *map(_promoted, step.args)) == step.out.dtype


@lru_cache(maxsize=4096)
def _resolved(fn, *kinds):
    return fn.resolve_dtypes((*kinds, *[None] * fn.nout))[-1]


def _promoted(x):
    """What NumPy promotes an operand as: its dtype, or the type of a Python number."""
    if type(x) is Var and x.kind == "number":
        return float if x.dtype.kind == "f" else complex
    return type(x) if type(x) in (int, float, complex) else np.dtype(bool) if type(x) is bool else x.dtype
