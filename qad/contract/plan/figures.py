"""Figures of a plan that follow from how it is executed: what a gradient costs, and what is alive at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from qad.contract.plan.data import PlanData
from qad.contract.plan.memory import peak_size, sliced_peak
from qad.contract.run.execute import execution

__all__ = ["PlanFigures"]


@dataclass(frozen=True, eq=False, repr=False)
class PlanFigures(PlanData):
    """The data of a plan, and figures of its execution."""

    @cached_property
    def flops_with_gradient(self) -> int:
        steps, depends, total = self.part.steps, self.depends, self.flops
        total += self.slices * sum(recipe.flops * (depends[left] + depends[right]) for left, right, recipe in steps)
        if self.parts:  # the value of a slice is computed once more backward, unless its gradient comes with it
            return total + self.flops * bool(self.expression.output and self.variables)
        own = execution(self, self.variables)
        return total + sum(recipe.flops for part in own.again.values() for *_, recipe in part)

    @cached_property
    def peak_size(self) -> int:
        return sliced_peak(self, self.cut_sizes) if self.parts else peak_size(self)
