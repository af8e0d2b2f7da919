"""Chains of elementwise functions of large arrays, carried out block by block: what is between them stays in the cache.

A chain is a run of steps of one size.  What only the chain itself reads has room for one block; other arrays are
written whole, and none of them shares memory with another that the chain uses, for it writes the first block of the
last step before it reads the second block of the first.  A sum of all entries is one of the sums of the blocks.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from qad.frozen.program.program import Var
from qad.frozen.run.compiled.lowering import added, begun
from qad.frozen.run.compiled.rows import Operand

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Set

    from qad.frozen.program.program import Program, Step
    from qad.frozen.run.compiled.rows import RowOperation

    Part: TypeAlias = tuple[int, list[RowOperation]]  # how many blocks, and the rows for each

BLOCK = 2048  # numbers
FEWEST = 2  # steps of a chain


class ElementwiseChain:
    """Steps that are carried out block by block.

    Attributes
    ----------
    size : int
        Of the arrays.
    steps : list of (int, Step, list of RowOperation)
        With their numbers in the program.
    outs, local : set of Var
        What they make, and what of that only they read.
    sums : dict of Var -> Var
        For each sum over all entries the array of the sums of blocks.
    """

    def __init__(self, size: int):
        self.size: int = size
        self.steps: list[tuple[int, Step, list[RowOperation]]] = []
        self.outs: set[Var] = set()
        self.local: set[Var] = set()
        self.sums: dict[Var, Var] = {}
        self.blocks: int = -(-size // BLOCK)

    @property
    def span(self) -> tuple[int, int]:
        """The numbers of its first and last step."""
        return self.steps[0][0], self.steps[-1][0]

    def add(self, number: int, step: Step, rows: list[RowOperation]) -> None:
        self.steps.append((number, step, rows))
        self.outs.add(step.out)
        if len(rows) > 1:
            self.sums[step.out] = Var((self.blocks,), step.out.dtype)

    def needs_all_of(self, row: RowOperation, views: Mapping[Var, Step]) -> bool:
        """Whether a row reads, for every entry, one that is known only when the chain has ended.

        Operands lie side by side, or are one number for all entries: a sum of the chain, or an entry of what it writes,
        however many views of it, broadcast ones too, are between.
        """
        for operand, stride in zip(row.operands[:-1], row.steps, strict=False):
            var = operand.holder
            if stride or type(var) is not Var:
                continue
            while var in views:
                var = views[var].reads()[0]
            if var in self.outs:
                return True
        return False

    def parts(self) -> list[Part]:
        """Parts of a table: sums begin, all blocks, sums of the sums of blocks."""
        before, during, after = [], [], []
        for _, step, rows in self.steps:
            if step.out not in self.sums:
                during.append(self.row(rows[0]))
                continue
            room = Operand.of(np.empty(self.blocks, step.out.dtype), self.sums[step.out])
            out = rows[0].operands[-1]
            before += begun(room)
            during.append(self.row(rows[1], room))
            after += begun(out) + added(room, out.with_axes(room.shape, (0,)))
        return [(1, before), (self.blocks, during), (1, after)]

    def row(self, row: RowOperation, room: Operand | None = None) -> RowOperation:
        """A row for one block; a sum goes to `room`."""
        advance = [
            0 if isinstance(x.holder, Var) and x.holder in self.local else BLOCK * step
            for x, step in zip(row.operands, row.steps, strict=True)
        ]
        if room:
            item = room.strides[0]
            row = row._replace(operands=(room, row.operands[1], room))
            advance = [item, advance[1], item]
        last = self.size - (self.blocks - 1) * BLOCK
        return row._replace(count=BLOCK, last=last, advance=tuple(advance))


def chains(
    program: Program, lowered: Mapping[Var, list[RowOperation]], views: Mapping[Var, Step], buffers: Set[Var]
) -> list[ElementwiseChain]:
    """The chains of a program, some steps of which are lowered to rows; what stays within a chain is one of buffers."""
    found, chain = [], None
    for number, step in enumerate(program.steps):
        rows = lowered.get(step.out)
        size = rows and length(rows)
        if step.out in views:
            continue
        if chain and (size != chain.size or chain.needs_all_of(rows[-1], views)):
            chain = None
        if size and not chain:
            chain = ElementwiseChain(size)
            found.append(chain)
        if size:
            chain.add(number, step, rows)
    found = [chain for chain in found if len(chain.steps) >= FEWEST]
    uses = program.uses() if found else {}
    for chain in found:
        within = Counter(var for _, step, _ in chain.steps for var in step.reads())
        arrays = chain.outs - set(chain.sums)
        chain.local = {var for var in arrays if var in buffers and uses.get(var, 0) == within[var]}
    return found


def length(rows: list[RowOperation]) -> int | None:
    """How long the arrays of an elementwise function or a sum of all entries are; None of others and small ones."""
    row = rows[-1]
    if row.around or row.dims or row.count < 2 * BLOCK:
        return None
    items = [np.dtype(x.char).itemsize for x in row.operands]
    if any(step not in (0, item) for step, item in zip(row.steps, items, strict=True)):
        return None
    is_sum = len(rows) == 2 and row.steps == (0, items[1], 0)
    return row.count if is_sum or (len(rows) == 1 and row.steps[-1] == items[-1]) else None


def parts(
    steps: Iterable[Step], lowered: Mapping[Var, list[RowOperation]], known: Iterable[ElementwiseChain]
) -> list[Part]:
    """The parts of the table of some steps that are lowered to rows, one after another; some are in chains."""
    whose = {step.out: chain for chain in known for _, step, _ in chain.steps}
    found = []
    for chain, run in groupby(steps, lambda step: whose.get(step.out)):
        found += chain.parts() if chain else [(1, [row for step in run for row in lowered[step.out]])]
    return [(blocks, rows) for blocks, rows in found if rows]
