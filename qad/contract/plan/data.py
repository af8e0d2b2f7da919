"""The data of a plan: an expression and its shapes, ordered and laid out, and what follows from them alone."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qad.contract.notation.parse import Expression, label_sizes
from qad.contract.order.order import to_path
from qad.contract.plan.stages import stages

if TYPE_CHECKING:
    from typing import Any, Self

    from numpy.typing import NDArray

    from qad.contract.order.optimal import Pairs
    from qad.typing import DTypeLike

__all__ = ["PlanData"]


@dataclass(frozen=True, eq=False, repr=False)
class PlanData:
    """Immutable, hashable data: fields that `dataclasses.replace` may change, and figures that follow from them.

    They are explained in `qad.contract.plan.plan.Plan`, which adds what a plan does.
    """

    expression: Expression
    shapes: tuple[tuple[int, ...], ...]
    variables: tuple[int, ...]
    dtype: np.dtype[Any]
    pairs: tuple[tuple[int, int], ...]
    terms: tuple[tuple[int, ...], ...]
    prepare: tuple[Any, ...]
    steps: tuple[Any, ...]
    again: tuple[int, ...] = ()
    parts: tuple[tuple[int, int], ...] = ()
    constants: tuple[NDArray[Any], ...] = ()

    @classmethod
    def of(
        cls,
        expression: Expression,
        shapes: tuple[tuple[int, ...], ...],
        variables: tuple[int, ...],
        dtype: DTypeLike,
        pairs: Pairs | None = None,
    ) -> Self:
        """A plan; in the given order, or in the best one."""
        pairs, terms, prepare, steps = stages(expression, shapes, variables, pairs)
        return cls(expression, shapes, variables, np.dtype(dtype), pairs, terms, prepare, steps)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Of the labels."""
        return label_sizes(self.expression, self.shapes)

    @cached_property
    def depends(self) -> tuple[bool, ...]:
        """Per node, whether it depends on a variable."""
        found = [number in self.variables for number in range(len(self.shapes))]
        for left, right in self.pairs:
            found.append(found[left] or found[right])
        return tuple(found)

    @cached_property
    def path(self) -> tuple[tuple[int, ...], ...]:
        return to_path(self.pairs, len(self.shapes)) or ((0,),)

    @cached_property
    def slices(self) -> int:
        return prod(count for _, count in self.parts)

    @cached_property
    def simple(self) -> bool:
        """Whether the result lies in memory in one way only: it has one axis at most, or is a view of the operand."""
        inputs, output = self.expression.inputs, self.expression.output
        return len(output) < 2 or (len(inputs) == 1 and set(output) == set(inputs[0]))

    @cached_property
    def part(self) -> Self:
        """The plan of a slice, or the plan itself."""
        if not self.parts:
            return self
        sizes = self.cut_sizes
        shapes = tuple(
            tuple(1 if size == 1 else sizes[label] for label, size in zip(term, shape, strict=True))
            for term, shape in zip(self.expression.inputs, self.shapes, strict=True)
        )
        return self.of(self.expression, shapes, self.variables, self.dtype, self.pairs)

    @cached_property
    def cut_sizes(self) -> list[int]:
        """Of the labels, in a slice."""
        parts = dict(self.parts)
        return [size // parts.get(label, 1) for label, size in enumerate(self.sizes)]

    @cached_property
    def flops(self) -> int:
        return self.slices * sum(recipe.flops for _, _, recipe in self.part.steps)

    @cached_property
    def write_size(self) -> int:
        plan = self.part
        return self.slices * (
            sum(prod(recipe.shapes[2]) for *_, recipe in plan.steps) or prod(plan.prepare[0][1].out_shape)
        )

    @cached_property
    def count(self) -> int:
        """The number of operands to be given."""
        return len(self.shapes) - len(self.constants)

    @cached_property
    def structure(self) -> Any:
        """The plan without its constants: what is remembered of plans does not keep arrays alive."""
        return replace(self, constants=()) if self.constants else self

    @cached_property
    def _key(self):
        constants = tuple(map(id, self.constants))
        structure = self.expression, self.shapes, self.variables, self.dtype, self.pairs
        return *structure, self.again, self.parts, constants

    @cached_property
    def _hash(self):
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlanData) and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))
