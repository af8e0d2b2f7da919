"""Recomputation: less is kept of the forward pass, and subtrees are contracted once more in the backward pass.

A subtree is named by its top.  The values below are not kept, but made again when the backward pass gets to the top,
from the operands and the tops below it; so whatever is chosen, nothing is computed more than twice.
"""

from copy import copy
from math import log

from qad.contract.memory import peak_size
from qad.contract.residuals import program

__all__ = ["lean", "recomputing"]


def lean(plan, again=()):
    """The plan as one that holds nothing from one call to the next, and computes subtrees `again`."""
    found = copy(plan)
    found.__dict__.pop("peak_size", None)  # a cached figure
    found.__dict__.update(lean=True, compact=False, programs={}, again=again)
    if again:
        key = *plan._key, again
        found.__dict__.update(_key=key, _hash=hash(key), flops_with_gradient=plan.flops_with_gradient + _extra(found))
    return found


def _extra(plan):
    """The multiply-adds of what is computed again."""
    flops = {node: recipe.flops for node, (*_, recipe) in enumerate(plan.steps, len(plan.shapes))}
    return sum(flops[node] for part in program(plan, plan.variables).again.values() for node, *_ in part)


def recomputing(plan, most):
    """The plan with as little computed again as a greedy search finds for at most so many elements, or None."""
    first, last = len(plan.shapes), len(plan.terms) - 1
    candidates = {node for node in range(first, last) if plan.held[node]}
    found, peak = lean(plan), peak_size(plan, copies=True)
    while peak > most and candidates:
        trials = [lean(plan, (*found.again, node)) for node in sorted(candidates)]
        peaks = [peak_size(trial, copies=True) for trial in trials]
        useful = [pair for pair in zip(peaks, trials, strict=True) if pair[0] < peak]
        if not useful:
            return None
        peak, found = min(useful, key=lambda pair: log(pair[1].flops_with_gradient) + 2 * log(max(pair[0], most)))
        candidates.discard(found.again[-1])
    return found if peak <= most else None
