"""Recomputation: less is kept of the forward pass, and subtrees are contracted once more in the backward pass.

A subtree is named by its top.  The values below the top are not kept.  When the backward pass reaches the top, they are
computed again from the operands and from the tops of subtrees below.  So no value is computed more than twice.
"""

from __future__ import annotations

from dataclasses import replace
from math import log
from typing import TYPE_CHECKING

from qad.contract.plan.memory import peak_size

if TYPE_CHECKING:
    from qad.contract.plan.plan import Plan

__all__ = ["recomputing"]


def recomputing(plan: Plan, most: int) -> Plan | None:
    """The plan with as little computed again as a greedy search finds for at most so many elements, or None."""
    first, last = len(plan.shapes), len(plan.terms) - 1
    candidates = {node for node in range(first, last) if plan.depends[node]}
    found, peak = plan, peak_size(plan, copies=True)
    while peak > most and candidates:
        trials = [replace(plan, again=(*found.again, node)) for node in sorted(candidates)]
        peaks = [peak_size(trial, copies=True) for trial in trials]
        useful = [pair for pair in zip(peaks, trials, strict=True) if pair[0] < peak]
        if not useful:
            return None
        peak, found = min(useful, key=lambda pair: log(pair[1].flops_with_gradient) + 2 * log(max(pair[0], most)))
        candidates.discard(found.again[-1])
    return found if peak <= most else None
