"""The execution of slices: one primitive that adds up whatever is computed for each of them.

What is computed is a kernel: the value of a slice, its value and gradient, or the pullback of another kernel.  The
pullback of a sum over slices is a sum over slices of pullbacks, so derivatives of every order are taken slice by slice,
each slice being freed before the next begins.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from qad.contract.notation.operands import recorded
from qad.contract.run.network import contracted, with_cotangents
from qad.contract.run.tasks import in_order
from qad.extend import like, primitive, rule, vjp
from qad.extend.memory import ready
from qad.extend.recording import recording_level

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor
    from typing import TypeAlias

    from qad.contract.plan.data import PlanData
    from qad.typing import Array

    Labelled: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]  # labels and shape of a whole array

__all__ = ["Value", "Pullback", "sum_of_slices"]

PATIENCE = 1.0  # seconds after which a terminal shows how far the slices are


def sum_of_slices(
    plan: PlanData, operands: Sequence[Array], wanted: tuple[int, ...], executor: Executor | None = None
) -> Array:
    """Contract slice by slice; the gradient of a scalar by the operands `wanted` is computed along with it."""
    at_once = wanted and not plan.expression.output and recording_level(operands) is not None
    return sum_slices(*operands, kernel=Value(plan, wanted if at_once else ()), executor=executor)[0]


@dataclass(frozen=True)
class Value:
    """The value of a slice, and if it is a scalar the cotangents of the operands `wanted` for the cotangent 1.

    Every kernel has `inputs` and `outputs`, a pair (labels, shape) for each whole array, and ``run(*slices)``, which
    returns a slice of every output.
    """

    plan: PlanData
    wanted: tuple[int, ...] = ()

    @property
    def inputs(self) -> tuple[Labelled, ...]:
        return tuple(zip(self.plan.expression.inputs, self.plan.shapes, strict=True))

    @property
    def outputs(self) -> tuple[Labelled, ...]:
        output, sizes = self.plan.expression.output, self.plan.sizes
        return (output, tuple(sizes[label] for label in output)), *(self.inputs[number] for number in self.wanted)

    def run(self, *operands: Array) -> tuple[Array, ...]:
        if not self.wanted:
            return (contracted(self.plan.part, list(operands), recorded(operands)),)
        value, cotangents = with_cotangents(None, operands, self.plan.part, self.wanted)
        return (value, *cotangents)


@dataclass(frozen=True)
class Pullback:
    """The cotangents of inputs `needed` of another kernel, from those of its outputs `given`, which come first."""

    kernel: Value | Pullback
    given: tuple[int, ...]
    needed: tuple[int, ...]
    wanted: ClassVar[tuple[int, ...]] = ()

    @property
    def plan(self) -> PlanData:
        return self.kernel.plan

    @property
    def inputs(self) -> tuple[Labelled, ...]:
        return (*(self.kernel.outputs[number] for number in self.given), *self.kernel.inputs)

    @property
    def outputs(self) -> tuple[Labelled, ...]:
        return tuple(self.kernel.inputs[number] for number in self.needed)

    def run(self, *arrays: Array) -> tuple[Array, ...]:
        cotangents, operands = arrays[: len(self.given)], list(arrays[len(self.given) :])
        if type(self.kernel) is Value and not self.kernel.wanted:
            return tuple(with_cotangents(cotangents[0], operands, self.plan.part, self.needed)[1])

        def function(*chosen):
            for number, x in zip(self.needed, chosen, strict=True):
                operands[number] = x
            outputs = self.kernel.run(*operands)
            return [outputs[number] for number in self.given]

        _, pullback = vjp(function, *[operands[number] for number in self.needed])
        return tuple(c.conj() for c in pullback([g.conj() for g in cotangents]))  # public convention and back


@primitive
def sum_slices(*arrays: Array, kernel: Value | Pullback, executor: Executor | None = None) -> tuple[Array, ...]:
    """Add up what a kernel computes of the slices of whole arrays, in the order of the slices whoever is first."""
    from tqdm import tqdm  # which `import qad` does without

    totals, shared = [], (kernel, arrays)
    done = in_order(executor, _run, shared, _blocks(kernel.plan))
    for block, parts in tqdm(done, "slices", kernel.plan.slices, delay=PATIENCE, disable=not sys.stderr.isatty()):
        _add(totals, parts, kernel.outputs, block)
    return tuple([total if total.shape else total[()] for total in totals])


def _run(shared, block):
    """What the kernel computes of one slice of the arrays."""
    kernel, arrays = shared
    operands = [_in_c_order(x) for x in _slices(arrays, kernel.inputs, block)]
    ready(kernel.plan.part.peak_size * kernel.plan.dtype.itemsize)  # a process of a pool has seen no gradient yet
    return kernel.run(*operands)


def _in_c_order(x):
    """As the slice lies in other processes, too, which rounds alike everywhere."""
    return x.copy() if type(x) is np.ndarray and not x.flags.c_contiguous else x


def _blocks(plan):
    """For each slice a dict from the cut labels to ranges, as slice objects."""
    ranges = []
    for label, count in plan.parts:
        width = plan.sizes[label] // count
        ranges.append([(label, slice(start, start + width)) for start in range(0, width * count, width)])
    return map(dict, product(*ranges))


def _slices(arrays, places, block):
    return [array[_index(*place, block)] for array, place in zip(arrays, places, strict=True)]


def _index(labels, shape, block):
    """Where a slice lies in the whole array; an axis of size 1 stretches to any range."""
    whole = slice(None)
    return tuple([whole if size == 1 else block.get(label, whole) for label, size in zip(labels, shape, strict=True)])


def _add(totals, parts, places, block):
    """Add the outputs for one slice to `totals`, a list that is filled at the first time."""
    if not totals:
        totals.extend(like(part).zeros(shape, part.dtype) for part, (_, shape) in zip(parts, places, strict=True))
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


rule(sum_slices, shared=_pull_back, fresh=True)
