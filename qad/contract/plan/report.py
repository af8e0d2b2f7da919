"""A plan as a table."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qad.contract.plan.figures import PlanFigures


__all__ = ["table"]

HEAD = ("step", "contract", "result size", "multiply-adds", "with gradient", "executed as")


def table(plan: PlanFigures) -> str:
    """The steps of a plan, one per line, then its totals."""
    rows = [HEAD]
    part, count = plan.part, len(plan.shapes)
    for number, (left, right, recipe) in enumerate(part.steps):
        terms = [plan.expression.term(part.terms[node]) for node in (left, right, count + number)]
        rows.append(
            (
                str(number + 1),
                "{},{}->{}".format(*terms),
                f"{prod(recipe.shapes[2]):,}",
                f"{recipe.flops:,}",
                f"{recipe.flops * (1 + plan.depends[left] + plan.depends[right]):,}",
                recipe.source,
            )
        )
    rows.append(("", "total", f"{plan.write_size:,}", f"{plan.flops:,}", f"{plan.flops_with_gradient:,}", ""))
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = [
        "  ".join(
            cell.rjust(width) if 2 <= column <= 4 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([_title(plan), *lines])


def _title(plan):
    variables = ", ".join(map(str, plan.variables)) or "none"
    bytes_alive = plan.peak_size * plan.dtype.itemsize
    slices = f", {plan.slices} slices, each of these steps" if plan.slices > 1 else ""
    slices += f", {len(plan.again)} subtrees twice" if plan.again else ""
    return (
        f"{plan.expression.text}   {plan.dtype}, variable operands: {variables}, "
        f"peak memory: {plan.peak_size:,} elements ({_bytes(bytes_alive)}){slices}"
    )


def _bytes(count):
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} GiB"
