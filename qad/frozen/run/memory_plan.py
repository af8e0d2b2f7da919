"""How buffers share memory: what one of them held is overwritten by the next when it is not needed any more."""

from __future__ import annotations

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
        self._holes = []  # pairs (offset, size), no two adjacent
        begin, end = {}, {}
        for var, (first, last) in lives(places).items():
            size = BLOCK * var.dtype.itemsize if var in places.local else var.nbytes
            size = -(-max(size, 1) // ALIGNMENT) * ALIGNMENT
            begin.setdefault(first, []).append((var, size))
            end.setdefault(last, []).append((var, size))
        for number in range(-1, len(places.program.steps)):
            for var, size in begin.get(number, ()):
                self.offsets[var] = self._take(size)
            for var, size in end.get(number, ()):
                self._give(self.offsets[var], size)

    def _take(self, size):
        """The smallest hole that is large enough, else the end of the block."""
        found = min((hole for hole in self._holes if hole[1] >= size), key=lambda hole: hole[1], default=None)
        if found is None:
            self.size += size
            return self.size - size
        self._holes.remove(found)
        if found[1] > size:
            self._holes.append((found[0] + size, found[1] - size))
        return found[0]

    def _give(self, offset, size):
        """A hole, one with those beside it."""
        beside = [hole for hole in self._holes if hole[0] == offset + size or sum(hole) == offset]
        for hole in beside:
            self._holes.remove(hole)
        self._holes.append((min([offset, *(hole[0] for hole in beside)]), size + sum(hole[1] for hole in beside)))


def lives(places: Places) -> dict[Var, tuple[int, int]]:
    """For each buffer the numbers of the steps that first write it and last read it; in chains of blocks, whose blocks
    are needed together, those of the chain."""
    last, program = _last_uses(places), places.program
    chained = {n: chain.span for chain in places.chains for n in range(chain.span[0], chain.span[1] + 1)}
    made = [(-1, var) for var in program.inputs] + [(n, step.out) for n, step in enumerate(program.steps)]
    found = {room: chain.span for chain in places.chains for room in chain.sums.values()}
    for first, var in made:
        if var in places.buffers:
            end = max(first, last.get(var, first))
            if var not in places.local:
                first, end = chained.get(first, (first,))[0], chained.get(end, (end,))[-1]
            found[var] = first, end
    return found


def _last_uses(places):
    """For each value the number of the last step that reads it, also through whatever may show its memory.

    Results are read at the end.  A step returns no view only if it writes into its own buffer or always allocates.  The
    steps are gone through backwards, so that what becomes of a value is known where it is made.
    """
    steps = places.program.steps
    last = {x: len(steps) for x in places.program.outputs if type(x) is Var}
    for number in reversed(range(len(steps))):
        step = steps[number]
        read = -1 if step.out in places.views else number
        if step.out not in places.buffers and not allocates(step):
            read = max(read, last.get(step.out, -1))
        for var in step.reads():
            last[var] = max(read, last.get(var, -1))
    return last
