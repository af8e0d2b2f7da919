"""How buffers share memory: what one of them held is overwritten by the next when it is not needed any more."""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING

import numpy as np

from qad.frozen.program.functions import allocates
from qad.frozen.program.program import Var
from qad.frozen.run.compiled.blocks import BLOCK

if TYPE_CHECKING:
    from qad.frozen.run.placement import Places

ALIGNMENT = 64


def address_of(array: np.ndarray) -> int:
    """Where the entries of an array begin."""
    return array.__array_interface__["data"][0]


def aligned(size: int) -> np.ndarray:
    """So many bytes of memory."""
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -address_of(raw) % ALIGNMENT
    return raw[start : start + size]


class MemoryPlan:
    """Places for the buffers of a program in one block of memory.

    Attributes
    ----------
    offsets : dict of Var -> int
        In bytes.
    size : int
        Of the block.
    """

    def __init__(self, places: Places):
        self.offsets: dict[Var, int] = {}
        self.size: int = 0
        self.places: Places = places
        self._holes = []  # pairs (offset, size), in order, no two adjacent
        last, until = _last_uses(places), _ends(places)
        begin, ending = _begins(places), {}
        for var in places.copies.intersection(places.program.inputs):
            self._take(var)
            ending.setdefault(until(var, last.get(var, -1)), []).append(var)
        for number in range(len(places.program.steps)):
            for var in begin.get(number, ()):
                self._take(var)
                ending.setdefault(until(var, max(last.get(var, number), number)), []).append(var)
            for gone in ending.pop(number, ()):
                self._give(self.offsets[gone], self._aligned(gone))

    def _take(self, var):
        """The smallest hole that is large enough, else the end of the block."""
        size = self._aligned(var)
        found = min((hole for hole in self._holes if hole[1] >= size), key=lambda hole: hole[1], default=None)
        if found is None:
            at_the_end = self._holes and sum(self._holes[-1]) == self.size
            offset, whole = self._holes[-1] if at_the_end else (self.size, 0)
            found, self.size = (offset, whole), offset + size
            if at_the_end:
                self._holes.pop()
        else:
            self._holes.remove(found)
            if found[1] > size:
                insort(self._holes, (found[0] + size, found[1] - size))
        self.offsets[var] = found[0]

    def _aligned(self, var):
        size = BLOCK * var.dtype.itemsize if var in self.places.local else var.nbytes
        return -(-max(size, 1) // ALIGNMENT) * ALIGNMENT

    def _give(self, offset, size):
        """A hole, one with those beside it."""
        beside = [hole for hole in self._holes if hole[0] == offset + size or sum(hole) == offset]
        for hole in beside:
            self._holes.remove(hole)
        insort(self._holes, (min([offset, *(hole[0] for hole in beside)]), size + sum(hole[1] for hole in beside)))


def _begins(places):
    """For each number of a step what is first written there: in chains of blocks, all that is written whole."""
    found = {n: [step.out] for n, step in enumerate(places.program.steps) if step.out in places.buffers}
    for chain in places.chains:
        first, whole = chain.span[0], [step.out for _, step, _ in chain.steps if step.out not in places.local]
        for number, step, _ in chain.steps:
            found[number] = [step.out] if step.out in places.local else []
        found[first] = [*found[first], *(var for var in whole if var in places.buffers), *chain.sums.values()]
    return found


def _ends(places):
    """The function that tells until which step an array is kept: to the end of the chain if all blocks are needed."""
    ends = {n: chain.span[1] for chain in places.chains for n in range(chain.span[0], chain.span[1] + 1)}
    return lambda var, number: number if var in places.local else ends.get(number, number)


def _last_uses(places):
    """For each value the number of the last step that reads it, also through whatever may show its memory.

    Results are read at the end.  A step returns no view only if it writes into its own buffer or always allocates.  The
    steps are gone through backwards, so that what becomes of a value is known where it is made.
    """
    steps = places.program.steps
    last = {x: len(steps) for x in places.program.outputs if type(x) is Var}
    for number in reversed(range(len(steps))):
        step = steps[number]
        read = -1 if step.out in places.views else len(steps) if step.out in places.last else number
        if step.out not in places.buffers and not allocates(step):
            read = max(read, last.get(step.out, -1))
        for var in step.reads():
            last[var] = max(read, last.get(var, -1))
    return last
