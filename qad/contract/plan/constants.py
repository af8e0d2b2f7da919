"""Constants that a plan holds: they are contracted with each other once, and a smaller network is left."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING

import numpy as np

from qad.contract.notation.operands import alike, as_operand, recorded
from qad.contract.notation.parse import Expression
from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor, value_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    from qad.contract.plan.data import PlanData
    from qad.typing import ArrayLike

    Numbers: TypeAlias = tuple[int, ...]

__all__ = ["smaller"]


def smaller(
    plan: PlanData, constants: Mapping[int, ArrayLike]
) -> tuple[Expression, tuple[Numbers, ...], Numbers, tuple[tuple[int, int], ...], tuple[np.ndarray, ...]]:
    """The network that is left of `plan` where `constants`, a dict from numbers of operands to arrays, are contracted.

    Returns
    -------
    expression, shapes, variables, pairs
        Of a network whose last operands are what the constants make; the operands that are left keep their order.
    arrays : tuple of arrays
        What the constants make, read-only.
    """
    values = _checked(plan, constants)
    for number, recipe in plan.prepare:
        if number in values:
            values[number] = recipe.run(values[number])
    count, tops = len(plan.shapes), set(values)
    for node, (left, right, recipe) in enumerate(plan.steps, count):
        if left in values and right in values:
            values[node] = recipe.run(values[left], values[right])
            tops = tops - {left, right} | {node}
    left_over, tops = [number for number in range(count) if number not in values], sorted(tops)
    arrays = tuple(_own(values[node]) for node in tops)
    numbers = {node: number for number, node in enumerate([*left_over, *tops])}
    pairs = []
    for node, pair in enumerate(plan.pairs, count):
        if node not in values:
            pairs.append(tuple(numbers[child] for child in pair))
            numbers[node] = len(left_over) + len(tops) + len(pairs) - 1
    whole = plan.expression
    inputs = (*(whole.inputs[number] for number in left_over), *(tuple(plan.terms[node]) for node in tops))
    text = ",".join(map(whole.term, inputs)) + "->" + whole.term(whole.output)
    shapes = (*(plan.shapes[number] for number in left_over), *(x.shape for x in arrays))
    variables = tuple(numbers[number] for number in plan.variables if number not in values)
    return Expression(inputs, whole.output, whole.names, text), shapes, variables, tuple(pairs), arrays


def _checked(plan, constants):
    """The constants as plain arrays, by number."""
    if plan.parts or plan.again or plan.constants:
        why = "holds constants already" if plan.constants else "keeps to a memory limit"
        raise ArgumentError(f"hold: this plan {why}: make one that does not by qad.plan, to hold all constants at once")
    found = {}
    for number, x in dict(constants).items():
        count, x = len(plan.shapes), as_operand(x)
        if not (hasattr(number, "__index__") and 0 <= index(number) < count):
            raise ArgumentError(f"hold: {number!r} is no number of an operand, 0 to {count - 1}")
        if type(x) is Tensor and not recorded([x]):
            x = value_of(x)
        if type(x) is not np.ndarray and not isinstance(x, np.generic):
            why = "it is being recorded" if recorded([x]) else f"it is a {type(x).__name__}"
            raise ArgumentError(f"hold: operand {number} is no plain array, {why}: give it at every call")
        if x.shape != plan.shapes[number]:
            raise ShapeError(f"hold: operand {number} has shape {x.shape}, the plan is for {plan.shapes[number]}")
        if x.dtype.kind not in "fcO" and x.dtype.itemsize < 8:  # sums of them would not be those of a real network
            raise ArgumentError(
                f"hold: sums of {x.dtype} numbers may not fit: write operand {number} as .astype(float)"
            )
        found[index(number)] = np.asarray(x)
    return dict(zip(found, alike(list(found.values())), strict=True)) if found else found


def _own(array):
    """A copy that nobody can write into."""
    array = np.array(array, order="C")
    array.flags.writeable = False
    return array
