"""How many elements are alive at once while a plan is executed, forward and backward; limits in bytes."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING

from qad.contract.run.execute import execution
from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.contract.plan.data import PlanData


__all__ = ["in_bytes", "peak_size", "sliced_peak"]

UNITS: dict[str, int] = {"": 1, **{unit + "B": 1000**power for power, unit in enumerate(("", "K", "M", "G", "T"))}}
UNITS.update({unit + "IB": 1024**power for power, unit in enumerate("KMGT", 1)})


def in_bytes(limit: int | str | None) -> int | None:
    """A memory limit as a number of bytes: 10**9, "1GB" (powers of 1000), "1GiB" (powers of 1024); None stays None."""
    if limit is None:
        return None
    match = re.fullmatch(r"\s*([0-9.]+(?:E[+]?[0-9]+)?)\s*([KMGT]?I?B?)\s*", str(limit).upper())
    try:
        found = int(float(match[1]) * UNITS[match[2]])
    except (TypeError, ValueError, KeyError) as error:
        raise ArgumentError(f'memory_limit={limit!r} is neither a number of bytes nor text such as "2GB"') from error
    return found


def peak_size(plan: PlanData, sizes: Sequence[int] | None = None, copies: bool = False) -> int:
    """The largest number of elements alive at once beyond the operands.

    Forward, an intermediate goes when its pair is done, unless the backward pass needs it.  Those stay until its end;
    a cotangent goes when both products with it are done, and the gradients of the operands stay.  What is computed
    again goes when its products are done.  Copies that a product makes of its operands for itself are not counted,
    unless `copies` asks for all that there might be.  Other `sizes` of the labels than the plan's may be given.
    """
    sizes = plan.sizes if sizes is None else sizes
    count = len(plan.shapes)
    wanted = execution(plan, plan.variables)
    size = [prod([sizes[label] for label in term]) for term in plan.terms]
    prepared = {number for number, _ in plan.prepare}
    held = [size[node] * (node >= count or node in prepared) for node in range(len(size))]
    alive = peak = sum(held[:count])
    for node, (left, right, _) in enumerate(plan.steps, count):
        alive += held[node]
        peak = max(peak, alive + copies * (size[left] + size[right]))
        alive -= sum(held[child] for child in (left, right) if child not in wanted.kept)
    if not wanted.steps:
        return peak
    alive += size[-1]  # the cotangent of the result
    for node, left, right, to_left, to_right in wanted.steps:
        for made, one, two, _ in wanted.again.get(node, ()):
            alive += size[made]
            peak = max(peak, alive + copies * (size[one] + size[two]))
            alive -= sum(size[child] for child in (one, two) if child in wanted.passing)
        alive += (to_left is not None) * size[left] + (to_right is not None) * size[right]
        peak = max(peak, alive + copies * (size[node] + max(size[left], size[right])))
        alive -= size[node] + sum(size[child] for child in (left, right) if child in wanted.renewed)
    return peak


def sliced_peak(plan: PlanData, sizes: Sequence[int]) -> int:
    """The same where `plan` is executed in slices of these label sizes.

    Beyond one slice there are the result and the gradients, which add up.  The gradient of a scalar comes with its
    value, and is multiplied with the cotangent once more at the end; that of another result needs its cotangent.
    Copies are counted, for slices do not lie in one piece in memory.
    """
    result = prod(plan.sizes[label] for label in plan.expression.output)
    if not plan.variables:
        return result + peak_size(plan, sizes, copies=True)
    gradients = sum(prod(plan.shapes[number]) for number in plan.variables)
    rest = 0 if plan.expression.output == () else 2 * result
    return max(rest + gradients + peak_size(plan, sizes, copies=True), 2 * gradients)
