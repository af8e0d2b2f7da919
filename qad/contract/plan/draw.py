"""A picture of a plan: the contraction tree, and what each step costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.showing.drawing import BLUE, GREY, INK, PALE, RED, Drawing
from qad.showing.picture import Picture

if TYPE_CHECKING:
    from qad.contract.plan.figures import PlanFigures


__all__ = ["drawn"]

ROW, COLUMN, LETTER = 62.0, 84.0, 7.4  # pixels: between levels, between operands, of a letter
CONSTANT = PALE


def drawn(plan: PlanFigures) -> Picture:
    """The tree of a plan: operands below, the result on top, multiply-adds at every step."""
    captions = [_caption(plan, node) for node in range(len(plan.shapes) + len(plan.pairs))]
    column = max(COLUMN, 16 + LETTER * max(len(line) for lines in captions for line in lines))
    places = _places(plan, column)
    title = f"{plan.flops:,} multiply-adds, {plan.flops_with_gradient:,} with gradient"
    drawing = Drawing(
        max(column * len(plan.shapes) + 20, 6.6 * len(title) + 20), max(y for _, y in places.values()) + 28
    )
    drawing.text(drawing.width / 2, 16, title, 11, GREY)
    for node, (left, right) in enumerate(plan.pairs, len(plan.shapes)):
        for child in (left, right):
            changes = plan.depends[child]
            drawing.line([places[node], places[child]], RED if changes else CONSTANT, 2.4 if changes else 1.2)
    for node, (x, y) in places.items():
        lines, changes = captions[node], plan.depends[node]
        width, height = max(36.0, 14 + LETTER * max(map(len, lines))), 10.0 + 15 * len(lines)
        drawing.box(x - width / 2, y - height / 2, width, height, edge=RED if changes else GREY)
        for k, line in enumerate(lines):
            drawing.text(x, y + 15 * (k - (len(lines) - 1) / 2), line, 12 - k, BLUE if k else INK, bold=not k)
    return Picture(drawing, f'contraction tree of "{plan.expression.text}", {title}; what a gradient visits is red')


def _places(plan: PlanFigures, column: float) -> dict[int, tuple[float, float]]:
    """Operands side by side in the order in which the tree meets them, results above their operands."""
    count = len(plan.shapes)
    root, order, stack = count + len(plan.pairs) - 1, [], [count + len(plan.pairs) - 1]
    while stack:
        node = stack.pop()
        if node < count:
            order.append(node)
        else:
            stack.extend(reversed(plan.pairs[node - count]))
    levels = {node: ((x + 0.5) * column + 10, 0) for x, node in enumerate(order)}
    for node in range(count, root + 1):
        (x, y), (u, v) = (levels[child] for child in plan.pairs[node - count])
        levels[node] = (x + u) / 2, max(y, v) + 1
    top = max(level for _, level in levels.values())
    return {node: (x, 56 + ROW * (top - level)) for node, (x, level) in levels.items()}


def _caption(plan: PlanFigures, node: int) -> list[str]:
    """The labels of an operand, or of a result and the multiply-adds of its step."""
    count = len(plan.shapes)
    if node < count:
        return [plan.expression.term(plan.expression.inputs[node]) or "()"]
    cost = plan.part.steps[node - count][2].flops * plan.slices
    return [plan.expression.term(plan.terms[node]) or "()", f"{cost:,}"]
