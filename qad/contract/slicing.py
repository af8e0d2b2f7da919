"""Slicing: indices are cut so that a plan keeps to a memory limit, forward and backward.

A network is a sum over the values of each summed label, and a block of the result for each block of an open one.  So
cutting the range of a label into equal parts gives networks of the same form, with smaller arrays; their values and
their gradients add up to those of the whole.
"""

import warnings
from functools import cached_property
from itertools import product
from math import log, prod

from qad.contract.memory import peak_size, sliced_peak
from qad.contract.plan import Plan
from qad.contract.recompute import lean, recomputing
from qad.contract.slices import Value, ValueAndGradient, sum_slices
from qad.core.errors import ArgumentError
from qad.core.tape.operands import highest
from qad.core.tape.reverse import Reverse

__all__ = ["SlicedPlan", "sliced"]

MANY = 4096  # slices; more of them are most likely not what the caller meant


class SlicedPlan(Plan):
    """A plan whose labels are cut into parts; made by `sliced`.

    Attributes
    ----------
    inner : Plan
        Of one slice.
    parts : tuple of pairs of int
        Label and number of parts.
    """

    def __init__(self, whole, parts):
        sizes = _cut(whole.sizes, parts)
        terms = whole.expression.inputs
        shapes = tuple(
            tuple(1 if size == 1 else sizes[label] for label, size in zip(term, shape, strict=True))
            for term, shape in zip(terms, whole.shapes, strict=True)
        )
        inner = lean(Plan(whole.expression, shapes, whole.variables, whole.dtype, whole.pairs))
        slices = prod(parts.values())
        again = inner.flops if whole.expression.output and whole.variables else 0  # forward, and once more backward
        self.__dict__.update(
            whole.__dict__,
            inner=inner,
            parts=tuple(parts.items()),
            slices=slices,
            flops=inner.flops * slices,
            flops_with_gradient=(inner.flops_with_gradient + again) * slices,
            peak_size=sliced_peak(whole, sizes),
            steps=inner.steps,
            prepare=inner.prepare,
            _key=(*whole._key, tuple(parts.items())),
            _hash=hash((whole._hash, tuple(parts.items()))),
        )

    @cached_property
    def write_size(self):
        return self.inner.write_size * self.slices

    def execute(self, operands, wanted, executor=None):
        """Contract slice by slice; the gradient of a scalar is computed along with it."""
        if wanted and not self.expression.output and type(highest(operands)) is Reverse:
            kernel = ValueAndGradient(self, wanted)
        else:
            kernel = Value(self)
        return sum_slices(*operands, kernel=kernel, executor=executor)[0]

    def blocks(self):
        """For each slice a dict from the cut labels to ranges, as slice objects."""
        ranges = []
        for label, count in self.parts:
            width = self.sizes[label] // count
            ranges.append([(label, slice(start, start + width)) for start in range(0, width * count, width)])
        return map(dict, product(*ranges))


def sliced(plan, limit):
    """The plan itself if it keeps to `limit` bytes, else one in as few and cheap slices as a greedy search finds."""
    most = limit // plan.dtype.itemsize
    whole = peak_size(plan, copies=True)
    if whole <= most:
        return lean(plan)
    least = min(whole, sliced_peak(plan, [1] * len(plan.sizes)))
    if least > most:
        raise ArgumentError(
            f'expression "{plan.expression.text}": memory_limit of {limit:,} bytes cannot be kept; the smallest that '
            f"can is {least * plan.dtype.itemsize:,} bytes, what the result and the gradients alone need"
        )
    again = recomputing(plan, most)
    parts, peaks = {}, {}
    while (peak := sliced_peak(plan, _cut(plan.sizes, parts))) > most:
        peaks[prod(parts.values())] = peak
        parts = min(_next(plan, parts), key=lambda parts: _score(plan, parts))
    found = SlicedPlan(plan, parts)
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
        * (1 + plan.held[left] + plan.held[right])
        for left, right in plan.pairs
    )
    return log(max(cost, 1) * prod(parts.values())) + 2 * log(peak_size(plan, sizes))
