"""A picture of a plan: the contraction tree, and what each step costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Plan: TypeAlias = Any  # of plan.py, which imports this file

__all__ = ["draw"]

VARIABLE, CONSTANT = "tab:red", "0.4"


def draw(plan: Plan, ax: Any = None) -> Any:
    """Draw the tree of a plan with matplotlib: operands below, the result on top, multiply-adds at every step.

    Parameters
    ----------
    plan : Plan
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ArgumentError
        matplotlib is not installed.
    """
    if ax is None:
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise ArgumentError('plan.draw() needs matplotlib: pip install "qad[viz]"; print(plan) does not') from error
        ax = Figure(figsize=(2 + 1.1 * len(plan.shapes), 2 + 0.7 * len(plan.pairs)), layout="constrained").add_subplot()
    places = _places(plan)
    count = len(plan.shapes)
    for node, (left, right) in enumerate(plan.pairs, count):
        for child in (left, right):
            color = VARIABLE if plan.depends[child] else CONSTANT
            ax.plot(*zip(places[node], places[child], strict=True), color=color, zorder=1)
    for node, place in places.items():
        ax.annotate(_caption(plan, node), place, ha="center", va="center", fontsize=8, bbox={"fc": "white", "lw": 0.5})
    ax.set_axis_off()
    ax.margins(0.15)
    ax.set_title(f"{plan.flops:,} multiply-adds, {plan.flops_with_gradient:,} with gradient (red)", fontsize=9)
    return ax


def _places(plan):
    """Operands side by side in the order in which the tree meets them, results above their operands."""
    count = len(plan.shapes)
    root, order, stack = count + len(plan.pairs) - 1, [], [count + len(plan.pairs) - 1]
    while stack:
        node = stack.pop()
        if node < count:
            order.append(node)
        else:
            stack.extend(reversed(plan.pairs[node - count]))
    places = {node: (x, 0) for x, node in enumerate(order)}
    for node in range(count, root + 1):
        (x, y), (u, v) = (places[child] for child in plan.pairs[node - count])
        places[node] = (x + u) / 2, max(y, v) + 1
    return places


def _caption(plan, node):
    """The labels of an operand, or of a result and the multiply-adds of its step."""
    count = len(plan.shapes)
    if node < count:
        return plan.expression.term(plan.expression.inputs[node]) or "()"
    cost = plan.part.steps[node - count][2].flops * plan.slices
    return f"{plan.expression.term(plan.terms[node]) or '()'}\n{cost:,}"
