"""What a plan does for some variable operands: which values are kept for the backward pass, and its products."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    from qad.contract.plan.data import PlanData
    from qad.contract.run.pair import Pair

    Step: TypeAlias = tuple[int, int, int, Pair]
    State: TypeAlias = dict[int, Any]  # what the backward pass needs: values by node

__all__ = ["Execution", "execution"]


class Execution:
    """A plan for given variables; made by `execution`, never changed.

    Attributes
    ----------
    kept : frozenset of int
        Nodes whose values the backward pass needs, beyond the operands themselves.
    again : dict
        Where memory is short: node -> the steps below it, which the backward pass carries out once more when it gets
        there, for the values of the nodes `renewed`.
    steps : tuple
        The backward pass, from the root down: the result's node, the operands' nodes, the recipes of their cotangents,
        None where one is not needed.
    whole : tuple
        The forward pass: node, operands' nodes, recipe.
    read : tuple of int
        The numbers of the constant operands that the backward pass reads.
    """

    plan: PlanData
    wanted: tuple[int, ...]
    whole: tuple[Step, ...]
    again: dict[int, tuple[Step, ...]]
    renewed: set[int]
    passing: set[int]
    kept: frozenset[int]
    steps: tuple[tuple[int, int, int, Pair | None, Pair | None], ...]
    read: tuple[int, ...]

    def __init__(self, plan: PlanData, wanted: tuple[int, ...]):
        self.plan, self.wanted, count = plan, wanted, len(plan.shapes)
        held, needed, steps = set(wanted), set(), []
        self.whole = tuple([(node, *step) for node, step in enumerate(plan.steps, count)])
        for node, left, right, recipe in self.whole:
            to_left, to_right = left in held, right in held
            if not (to_left or to_right):
                continue
            held.add(node)
            needed.update(child for child, side in ((right, to_left), (left, to_right)) if side)
            steps.append((node, left, right, recipe.left if to_left else None, recipe.right if to_right else None))
        prepared = {number for number, _ in plan.prepare}
        needed = {node for node in needed if node >= count or node in prepared}
        self.again = {top: self._below(top, count) for top in plan.again if top in held}
        self.renewed = needed.intersection(node for part in self.again.values() for node, *_ in part)
        self.passing = {node for part in self.again.values() for node, *_ in part} - self.renewed
        starts = {
            child for part in self.again.values() for _, *pair, _ in part for child in pair if child in self.again
        }
        self.kept = frozenset((needed - self.renewed) | starts)
        self.steps = tuple(reversed(steps))
        sides = {
            child
            for _, *pair, to_left, to_right in steps
            for child, to in zip(pair, (to_right, to_left), strict=True)
            if to is not None
        }
        constants = set(range(count)).difference(wanted)
        self.read = tuple(sorted(constants if self.again else constants & sides))

    def _below(self, top, count):
        """The steps below a node that is the top of a subtree to be computed again, down to the next such nodes."""
        steps, found, stack = {step[0]: step for step in self.whole}, [], [top]
        while stack:
            for child in steps[stack.pop()][1:3]:
                if child >= count and child not in self.plan.again:
                    found.append(steps[child])
                    stack.append(child)
        return sorted(found)

    def renew(self, part: Sequence[Step], values: dict[int, Any]) -> None:
        """Carry out the steps of a subtree once more; `values` are updated with what the backward pass needs."""
        found = dict(values)
        for node, left, right, recipe in part:
            found[node] = recipe.run(found[left], found[right])
            for child in (left, right):
                if child not in values and child not in self.renewed:
                    del found[child]
        values.update((node, found[node]) for node, *_ in part if node in self.renewed)

    def forward(self, operands: Sequence[Any]) -> tuple[Any, State]:
        """The value of the network for plain operands, and what `backward` needs besides."""
        values, kept = [*operands, *[None] * len(self.plan.steps)], self.kept
        for number, recipe in self.plan.prepare:
            values[number] = recipe.run(values[number])
        for node, left, right, recipe in self.whole:
            values[node] = recipe.run(values[left], values[right])
            for child in (left, right):
                if child not in kept:
                    values[child] = None
        return values[-1], {node: values[node] for node in kept}

    def intermediates(self, operands: Sequence[Any], state: State) -> dict[int, Any]:
        """The values of all nodes that the backward pass needs, operands included; `state` is what `forward` left."""
        values = dict(enumerate(operands)) | state
        for part in self.again.values():
            self.renew(part, values)
        return values

    def backward(self, g: Any, operands: Sequence[Any], state: State) -> dict[int, Any]:
        """The cotangents of the operands `wanted` (after the steps on single operands), for plain arrays."""
        values = dict(enumerate(operands)) | state
        found = {len(self.plan.terms) - 1: g}
        for node, left, right, to_left, to_right in self.steps:
            if node in self.again:
                self.renew(self.again[node], values)
            c = found.pop(node)
            if to_left is not None:
                found[left] = to_left.run(c, values[right])
            if to_right is not None:
                found[right] = to_right.run(values[left], c)
            if self.again:
                for child in self.renewed.intersection((left, right)):
                    del values[child]
        return found


@lru_cache(maxsize=4096)
def execution(plan: PlanData, wanted: tuple[int, ...]) -> Execution:
    """The execution of a plan for the variable operands `wanted`, a tuple of numbers."""
    return Execution(plan, wanted)
