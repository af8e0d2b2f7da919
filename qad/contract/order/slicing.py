"""Slicing: indices are cut so that a plan keeps to a memory limit, forward and backward.

A network is a sum over the values of each summed label, and a block of the result for each block of an open one.  So
cutting the range of a label into equal parts gives networks of the same form, with smaller arrays; their values and
their gradients add up to those of the whole.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from math import log, prod
from typing import TYPE_CHECKING

from qad.contract.plan.memory import peak_size, sliced_peak
from qad.contract.plan.recompute import recomputing
from qad.core.errors import ArgumentError

if TYPE_CHECKING:
    from qad.contract.plan.plan import Plan

__all__ = ["sliced"]

MANY = 4096  # slices; more of them are most likely not what the caller meant


def sliced(plan: Plan, limit: int) -> Plan:
    """The plan itself if it keeps to `limit` bytes, else one in as few and cheap slices as a greedy search finds."""
    most = limit // plan.dtype.itemsize
    whole = peak_size(plan, copies=True)
    if whole <= most:
        return plan
    least = min(whole, sliced_peak(plan, [1] * len(plan.sizes)))
    if least > most:
        raise ArgumentError(
            f'expression "{plan.expression.text}": memory_limit of {limit:,} bytes cannot be kept; the smallest that '
            f"can is {least * plan.dtype.itemsize:,} bytes, what the result and the gradients need by themselves"
        )
    again = recomputing(plan, most)
    parts, peaks = {}, {}
    while (peak := sliced_peak(plan, _cut(plan.sizes, parts))) > most:
        peaks[prod(parts.values())] = peak
        parts = min(_next(plan, parts), key=lambda parts: _score(plan, parts))
    found = replace(plan, parts=tuple(parts.items()))
    if again is not None and again.flops_with_gradient <= found.flops_with_gradient:
        return again
    if found.slices > MANY:
        _warn(plan, parts, limit, {count: peak for count, peak in peaks.items() if count <= MANY})
    return found


def _warn(plan, parts, limit, peaks):
    count, peak = max(peaks.items())
    warnings.warn(
        f'expression "{plan.expression.text}": memory_limit of {limit:,} bytes takes {prod(parts.values()):,} slices, '
        f"contracted one after the other; {peak * plan.dtype.itemsize:,} bytes would take {count:,}",
        stacklevel=5,
    )


def _cut(sizes, parts):
    return [size // parts.get(label, 1) for label, size in enumerate(sizes)]


def _next(plan, parts):
    """Every way to cut one label more finely."""
    for label, size in enumerate(_cut(plan.sizes, parts)):
        if size > 1:
            yield parts | {label: parts.get(label, 1) * _smallest_factor(size)}


def _smallest_factor(number):
    return next((factor for factor in range(2, int(number**0.5) + 1) if number % factor == 0), number)


def _score(plan, parts):
    """Halving the memory is worth less than four times the multiply-adds."""
    sizes = _cut(plan.sizes, parts)
    cost = sum(
        prod([sizes[label] for label in {*plan.terms[left], *plan.terms[right]}])
        * (1 + plan.depends[left] + plan.depends[right])
        for left, right in plan.pairs
    )
    return log(max(cost, 1) * prod(parts.values())) + 2 * log(peak_size(plan, sizes))
