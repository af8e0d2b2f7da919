"""The execution of slices: one primitive that adds up whatever is computed for each of them.

What is computed is a kernel: the value of a slice, its value and gradient, or the pullback of another kernel.  The
pullback of a sum over slices is a sum over slices of pullbacks, so derivatives of every order are taken slice by slice,
each slice being freed before the next begins.
"""

from collections import deque
from dataclasses import dataclass
from os import cpu_count

import numpy as np

from qad.contract.network import with_cotangents
from qad.contract.plan import recorded
from qad.core.define import PRIMITIVES
from qad.extend import defvjp, primitive, vjp

__all__ = ["Value", "ValueAndGradient", "Pullback", "sum_slices"]


@dataclass(frozen=True)
class Value:
    """The value of a slice.

    Every kernel has `inputs` and `outputs`, a pair (labels, shape) for each whole array, and ``run(*slices)``, which
    returns a slice of every output.
    """

    plan: object
    wanted = ()

    @property
    def inputs(self):
        return tuple(zip(self.plan.expression.inputs, self.plan.shapes, strict=True))

    @property
    def outputs(self):
        output = self.plan.expression.output
        return ((output, tuple(self.plan.sizes[label] for label in output)),)

    def run(self, *operands):
        return (self.plan.inner.execute(list(operands), recorded(operands)),)


@dataclass(frozen=True)
class ValueAndGradient(Value):
    """The scalar value of a slice, and the cotangents of the operands `wanted` for the cotangent 1."""

    wanted: tuple

    @property
    def outputs(self):
        return (*super().outputs, *(self.inputs[number] for number in self.wanted))

    def run(self, *operands):
        value, cotangents = with_cotangents(None, operands, self.plan.inner, self.wanted)
        return (value, *cotangents)


@dataclass(frozen=True)
class Pullback:
    """The cotangents of inputs `needed` of another kernel, from those of its outputs `given`, which come first."""

    kernel: object
    given: tuple
    needed: tuple
    wanted = ()

    @property
    def plan(self):
        return self.kernel.plan

    @property
    def inputs(self):
        return (*(self.kernel.outputs[number] for number in self.given), *self.kernel.inputs)

    @property
    def outputs(self):
        return tuple(self.kernel.inputs[number] for number in self.needed)

    def run(self, *arrays):
        cotangents, operands = arrays[: len(self.given)], list(arrays[len(self.given) :])
        if type(self.kernel) is Value:
            return tuple(with_cotangents(cotangents[0], operands, self.plan.inner, self.needed)[1])

        def function(*chosen):
            for number, x in zip(self.needed, chosen, strict=True):
                operands[number] = x
            outputs = self.kernel.run(*operands)
            return [outputs[number] for number in self.given]

        _, pullback = vjp(function, *[operands[number] for number in self.needed])
        return tuple(c.conj() for c in pullback([g.conj() for g in cotangents]))  # public convention and back


@primitive
def sum_slices(*arrays, kernel, executor=None):
    """Add up what a kernel computes of the slices of whole arrays, in the order of the slices whoever is first."""
    totals, waiting = [], deque()
    for block in kernel.plan.blocks():
        operands = _slices(arrays, kernel.inputs, block)
        if executor is None:
            _add(totals, kernel.run(*operands), kernel.outputs, block)
            continue
        waiting.append((executor.submit(kernel.run, *operands), block))
        if len(waiting) > 1 + (cpu_count() or 1):
            _add_first(totals, waiting, kernel)
    while waiting:
        _add_first(totals, waiting, kernel)
    return tuple([total if total.shape else total[()] for total in totals])


def _add_first(totals, waiting, kernel):
    future, block = waiting.popleft()
    _add(totals, future.result(), kernel.outputs, block)


def _slices(arrays, places, block):
    return [array[_index(*place, block)] for array, place in zip(arrays, places, strict=True)]


def _index(labels, shape, block):
    """Where a slice lies in the whole array; an axis of size 1 stretches to any range."""
    whole = slice(None)
    return tuple([whole if size == 1 else block.get(label, whole) for label, size in zip(labels, shape, strict=True)])


def _add(totals, parts, places, block):
    """Add the outputs for one slice to `totals`, a list that is filled at the first time."""
    if not totals:
        totals.extend(np.zeros(shape, part.dtype) for part, (_, shape) in zip(parts, places, strict=True))
    for total, part, place in zip(totals, parts, places, strict=True):
        total[_index(*place, block)] += part


def _pull_back(needed, g, ans, *arrays, kernel, executor=None):
    """The cotangents of the arrays `needed`: multiples of a gradient at hand, or the pullbacks of the slices."""
    given = tuple(number for number, part in enumerate(g) if part is not None)
    ready = None
    if kernel.wanted and given[0] == 0:
        ready = [g[0] * ans[1 + kernel.wanted.index(number)] for number in needed]
        given = given[1:]
    if not given:
        return ready
    pullback = Pullback(kernel, given, needed)
    parts = sum_slices(*[g[number] for number in given], *arrays, kernel=pullback, executor=executor)
    return list(parts) if ready is None else [one + two for one, two in zip(ready, parts, strict=True)]


defvjp(sum_slices, shared=_pull_back, fresh=True)
PRIMITIVES[sum_slices].sparing = True
