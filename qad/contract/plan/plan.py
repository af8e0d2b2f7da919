"""What a plan is: an expression and its shapes, ordered, laid out and lowered once, to be executed many times.

A `Plan` is data: fields that `dataclasses.replace` may change, and figures that follow from them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qad.contract.costs import loop_pays
from qad.contract.notation.operands import alike, as_operand, recorded
from qad.contract.notation.parse import Expression, label_sizes
from qad.contract.order.order import to_path
from qad.contract.plan.constants import smaller
from qad.contract.plan.memory import peak_size, sliced_peak
from qad.contract.plan.report import table
from qad.contract.plan.stages import stages
from qad.contract.run.execute import execution
from qad.contract.run.network import record
from qad.contract.run.slices import sum_of_slices
from qad.contract.run.tasks import require_executor
from qad.core.errors import ShapeError
from qad.extend import ARRAY_TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Executor
    from typing import Any

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from qad.contract.order.optimal import Pairs
    from qad.showing import Picture
    from qad.typing import Array, ArrayLike, DTypeLike

__all__ = ["Plan", "make_plan"]


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """How a network is contracted: immutable, hashable data, made by `qad.plan`.

    ``plan(*operands)`` contracts operands of the planned shapes, plain or recorded; ``plan.hold({number: array})`` is a
    plan that has some of them; ``print(plan)`` shows the steps, ``plan.draw()`` the tree.

    Attributes
    ----------
    expression : Expression
    shapes : tuple of tuples of int
        The shape of each operand.
    variables : tuple of int
        The operands whose gradient the order accounts for.
    dtype : dtype
        Of the elements, for memory in bytes.
    pairs : tuple of pairs of int
        The order; results are numbered on from the operands.
    terms : tuple
        Per node, operands and results: its labels in the order of its axes.
    prepare, steps : tuple
        What is executed: (operand, `Single`) for steps on single operands, (left, right, `Pair`) for pairs.
    compiled : "loop", "products" or ""
        What runs as compiled machine code: the whole network, stacks of small matrices, or nothing.
    again : tuple of int
        Nodes below which values are computed again in the backward pass instead of being kept, to keep to a limit.
    parts : tuple of pairs of int
        Labels that are cut to keep to a limit, each with its number of parts.
    constants : tuple of arrays
        What the plan holds: read-only, the last operands of the expression, not given when it is called.
    path : tuple of tuples of int
        The order in opt_einsum's linear format.
    flops, flops_with_gradient : int
        Multiply-adds of the value, and of value and gradient: the product of all index sizes of each pair executed.
    write_size : int
        Elements of all intermediates and of the result.
    peak_size : int
        Elements alive at once beyond the operands: during the forward pass, or during value and gradient where there
        are variables (their gradients included).
    slices : int
        The number of parts contracted one after the other; 1 unless a `memory_limit` asks for more.
    """

    expression: Expression
    shapes: tuple[tuple[int, ...], ...]
    variables: tuple[int, ...]
    dtype: np.dtype[Any]
    pairs: tuple[tuple[int, int], ...]
    terms: tuple[tuple[int, ...], ...]
    prepare: tuple[Any, ...]
    steps: tuple[Any, ...]
    compiled: str = ""
    again: tuple[int, ...] = ()
    parts: tuple[tuple[int, int], ...] = ()
    constants: tuple[NDArray[Any], ...] = ()

    # -- what follows from the fields ------------------------------------------------------------------------------

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
    def part(self) -> Plan:
        """The plan of a slice, or the plan itself."""
        if not self.parts:
            return self
        sizes = self.cut_sizes
        shapes = tuple(
            tuple(1 if size == 1 else sizes[label] for label, size in zip(term, shape, strict=True))
            for term, shape in zip(self.expression.inputs, self.shapes, strict=True)
        )
        return make_plan(self.expression, shapes, self.variables, self.dtype, self.pairs, self.compiled)

    @cached_property
    def cut_sizes(self) -> list[int]:
        """Of the labels, in a slice."""
        parts = dict(self.parts)
        return [size // parts.get(label, 1) for label, size in enumerate(self.sizes)]

    @cached_property
    def flops(self) -> int:
        return self.slices * sum(recipe.flops for _, _, recipe in self.part.steps)

    @cached_property
    def flops_with_gradient(self) -> int:
        steps, depends, total = self.part.steps, self.depends, self.flops
        total += self.slices * sum(recipe.flops * (depends[left] + depends[right]) for left, right, recipe in steps)
        if self.parts:  # the value of a slice is computed once more backward, unless its gradient comes with it
            return total + self.flops * bool(self.expression.output and self.variables)
        own = execution(self, self.variables)
        return total + sum(recipe.flops for part in own.again.values() for *_, recipe in part)

    @cached_property
    def write_size(self) -> int:
        plan = self.part
        return self.slices * (
            sum(prod(recipe.shapes[2]) for *_, recipe in plan.steps) or prod(plan.prepare[0][1].out_shape)
        )

    @cached_property
    def peak_size(self) -> int:
        return sliced_peak(self, self.cut_sizes) if self.parts else peak_size(self)

    @cached_property
    def count(self) -> int:
        """The number of operands to be given."""
        return len(self.shapes) - len(self.constants)

    @cached_property
    def structure(self) -> Any:
        """The plan without its constants: what is remembered of plans does not keep arrays alive."""
        return replace(self, constants=()) if self.constants else self

    # -- identity --------------------------------------------------------------------------------------------------

    @cached_property
    def _key(self):
        constants = tuple(map(id, self.constants))
        structure = self.expression, self.shapes, self.variables, self.dtype, self.pairs
        return *structure, self.compiled, self.again, self.parts, constants

    @cached_property
    def _hash(self):
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan, tuple(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        return f'<Plan "{self.expression.text}": {len(self.steps)} pairs, {self.flops:.4g} multiply-adds>'

    def __str__(self) -> str:
        return table(self)

    def _repr_html_(self) -> str:
        from qad.showing import card

        return card("Plan", text=str(self))

    def draw(self, ax: Axes | None = None) -> Picture:
        """A picture of the tree with the multiply-adds of every step, also painted into matplotlib's `ax` if given.

        Examples
        --------
        >>> import qad
        >>> qad.plan("ij,jk->ik", (2, 3), (3, 4)).draw()
        <Picture: contraction tree of "ij,jk->ik", 24 multiply-adds, 72 with gradient; what a gradient visits is red>
        """
        from qad.contract.plan.draw import drawn

        return drawn(self).paint(ax)

    # -- execution -------------------------------------------------------------------------------------------------

    def hold(self, constants: Mapping[int, ArrayLike]) -> Plan:
        """A plan that holds some operands, so that what follows from these only is contracted once, not at every call.

        Parameters
        ----------
        constants : dict from int to array
            The operands to be held, by their numbers.  They are copied, so that writing into them changes nothing.

        Returns
        -------
        Plan
            To be called on the other operands, in their order.

        Raises
        ------
        ArgumentError, ShapeError
            A number or a shape is not the plan's, an array is recorded or of short whole numbers, or the plan keeps
            to a memory limit.

        Examples
        --------
        >>> import numpy as np, qad
        >>> a, b, x = np.eye(3), np.ones((3, 3)), np.ones((3, 4))
        >>> plan = qad.plan("ij,jk,kl->il", a, b, x, variables=[2]).hold({0: a, 1: b})
        >>> plan.expression.text, plan.flops, plan(x)[0]
        ('kl,ik->il', 36, array([3., 3., 3., 3.]))
        """
        expression, shapes, variables, pairs, arrays = smaller(self, constants)
        found = make_plan(expression, shapes, variables, self.dtype, pairs)
        way = "products" if self.compiled and not loop_pays(len(pairs), found.flops) else self.compiled
        return replace(found, compiled=way, constants=arrays)

    def __call__(self, *operands: ArrayLike, executor: Executor | None = None) -> Array:
        """Contract operands of the planned shapes, slices (if there are any) on an executor."""
        operands, wanted = [as_operand(operand) for operand in operands], self.shapes[: self.count]
        if tuple(operand.shape for operand in operands) != wanted:
            raise ShapeError(
                f'the plan of "{self.expression.text}" is for operands of shapes {list(wanted)}, not '
                f"{[operand.shape for operand in operands]}: make a plan for these"
            )
        return self.structure.execute([*operands, *self.constants], recorded(operands), executor)

    def execute(self, operands: list[Any], wanted: Any, executor: Executor | None = None) -> Any:
        """Contract all operands, a list that fits and is used up, where those numbered `wanted` are recorded."""
        operands = alike(operands)
        if executor is not None:
            require_executor(executor)
        if self.parts:
            return sum_of_slices(self, operands, wanted, executor)
        if wanted or not ARRAY_TYPES.issuperset(map(type, operands)):
            return record(self, operands, wanted)
        return execution(self, ()).forward(operands)[0]


def make_plan(
    expression: Expression,
    shapes: tuple[tuple[int, ...], ...],
    variables: tuple[int, ...],
    dtype: DTypeLike,
    pairs: Pairs | None = None,
    compiled: str = "",
) -> Plan:
    """A plan; in the given order, or in the best one."""
    pairs, terms, prepare, steps = stages(expression, shapes, variables, pairs)
    return Plan(expression, shapes, variables, np.dtype(dtype), pairs, terms, prepare, steps, compiled)
