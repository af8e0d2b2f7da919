"""What a plan is: an expression and its shapes, ordered, laid out and lowered once, to be executed many times.

Its data stand in `qad.contract.plan.data`, figures of its execution in `figures`; here is what a plan does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from qad.contract.notation.operands import alike, as_operand, recorded
from qad.contract.plan.constants import smaller
from qad.contract.plan.figures import PlanFigures
from qad.contract.plan.report import table
from qad.contract.run.network import contracted
from qad.contract.run.slices import sum_of_slices
from qad.contract.run.tasks import map_of
from qad.core.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Executor
    from typing import Any

    from matplotlib.axes import Axes

    from qad.showing import Picture
    from qad.typing import Array, ArrayLike

__all__ = ["Plan"]


@dataclass(frozen=True, eq=False, repr=False)
class Plan(PlanFigures):
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
        return replace(Plan.of(expression, shapes, variables, self.dtype, pairs), constants=arrays)

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
        if executor is not None:
            map_of(executor)
        if self.parts:
            return sum_of_slices(self, alike(operands), wanted, executor)
        return contracted(self, operands, wanted)
