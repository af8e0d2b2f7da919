"""Programs on single numbers: runs of scalar operations are one instruction, a loop over Python's operators.

An operation on two of NumPy's scalars costs less than a call of a ufunc with ``out=``, and far less than that where
the loop does nothing else.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.frozen.program import Var

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from qad.frozen.program import Step

FEWEST = 8  # scalar steps of a program, for these to be treated so

OPERATIONS: dict[Callable[..., Any], Callable[[Any, Any], Any]] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.divide: operator.truediv,
    np.power: operator.pow, operator.getitem: operator.getitem,
}  # fmt: skip


def is_scalar(step: Step) -> bool:
    """Whether a step makes one number of numbers, or picks one out of an array."""
    if step.out.kind != "scalar" or step.kwargs:
        return False
    if step.fn is operator.getitem:
        return type(step.args[0]) is Var and _is_place(step.args[1])
    numbers = all(x.shape == () for x in step.args if type(x) is Var)
    return numbers and (step.fn in OPERATIONS or step.fn in (np.negative, np.square))


def _is_place(index):
    return type(index) is int or (type(index) is tuple and all(type(i) is int for i in index))


def operation(step: Step) -> tuple[Callable[[Any, Any], Any], tuple[Any, ...]]:
    """The step as a function of two arguments."""
    if step.fn is np.negative:
        return operator.mul, (step.args[0], step.out.dtype.type(-1))
    if step.fn is np.square:
        return operator.mul, (step.args[0], step.args[0])
    if step.fn is operator.getitem:
        return step.fn, step.args
    return OPERATIONS[step.fn], tuple([_scalar(x, step.out.dtype) for x in step.args])


def _scalar(x, dtype):
    """A Python number, which takes on the dtype of the result, as a scalar of that: arithmetic is faster."""
    return dtype.type(x) if type(x) in (int, float) and dtype.kind in "fc" else x


def gather(registers: list[Any], n: int, pick: Callable[[list[Any]], Any], dtype: np.dtype[Any]) -> None:
    """The instruction that makes a vector of numbers."""
    registers[n] = np.array(pick(registers), dtype)


def run_scalars(registers: list[Any], operations: Iterable[tuple[Callable[[Any, Any], Any], int, int, int]]) -> None:
    """The instruction."""
    for fn, n, i, j in operations:
        registers[n] = fn(registers[i], registers[j])
