"""Functions that can write their result into a given array, and the calls that do so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.frozen.program.functions import Reduction
from qad.frozen.program.program import Var

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.frozen.program.program import Step

ALLOCATING: frozenset[Callable[..., Any]] = frozenset((np.dot, np.concatenate, np.array))


def allocates(step: Step) -> bool:
    """Whether the function of a step gives an array of its own, with axes, whatever it is called with."""
    fn = step.fn
    return (isinstance(fn, np.ufunc) or fn in ALLOCATING) and step.out.shape != ()


def writes(step: Step, out: Var) -> bool:
    """Whether the function of a step can write into an array of the shape and dtype of `out`."""
    fn, args, kwargs = step.fn, step.args, step.kwargs
    if isinstance(fn, np.ufunc):
        return fn.nout == 1 and not kwargs and len(args) == fn.nin
    if fn is np.dot:
        return len(args) == 2 and not kwargs and _one_kind(step, out)
    if type(fn) is Reduction:
        return fn.method == "reduce" and _reduction(step) is not None
    return fn is np.concatenate and set(kwargs) <= {"axis"} and out.kind == "array"


def written(step: Step, arrays: tuple[Any, ...], out: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The call that writes: a function and its arguments, `arrays` standing for the step's.

    Parameters
    ----------
    step : Step
    arrays : tuple
        The step's arguments with arrays in the places of Vars.
    out : array
    """
    fn = step.fn
    if isinstance(fn, np.ufunc):
        return positional(fn), (*arrays, out)
    if fn is np.dot:
        return (fn, (*arrays, out)) if type(arrays[0]) is Var else (arrays[0].dot, (arrays[1], out))
    if type(fn) is Reduction:
        axis, dtype, keepdims = _reduction(step)
        return getattr(fn.ufunc, fn.method), (arrays[0], axis, dtype, out, keepdims)
    axis = step.kwargs.get("axis", 0) if len(arrays) == 1 else arrays[1]
    return np.concatenate, (arrays[0], axis, out)


def positional(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn`, which takes its result as the last positional argument; two ufuncs want it by keyword."""
    return KEYWORD.get(fn, fn)


def _maximum(a, b, out):
    return np.maximum(a, b, out=out)


def _minimum(a, b, out):
    return np.minimum(a, b, out=out)


KEYWORD: dict[Callable[..., Any], Callable[..., Any]] = {np.maximum: _maximum, np.minimum: _minimum}


def _one_kind(step, out):
    """Whether both factors have the dtype of the product: `dot` would convert them behind the scenes."""
    return all(getattr(x, "dtype", None) == out.dtype and x.shape for x in step.args)


def _reduction(step):
    """The arguments (axis, dtype, keepdims) of a reduction, None where there are others."""
    names = ("axis", "dtype", "out", "keepdims")
    given = dict(zip(names, step.args[1:], strict=False)) | step.kwargs
    if set(given) - set(names) or given.get("out") is not None:
        return None
    return given.get("axis", 0), given.get("dtype"), given.get("keepdims", False)
