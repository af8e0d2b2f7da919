"""Chains of large arrays on several threads, each of which carries out some of the blocks.

The blocks are the same for any number of threads, and a sum adds up those of the blocks in their order, so that results
are the same to the last bit, whichever thread takes which blocks.  A thread has a table of its own, into which the loop
writes, and rooms of its own for what is local to a block.
"""

from __future__ import annotations

from itertools import accumulate, count
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.core.threads import kernels
from qad.frozen.compiled import table
from qad.frozen.compiled.blocks import BLOCK
from qad.frozen.memory_plan import address_of, aligned
from qad.frozen.program import Var
from qad.native.sharing import WORTH, in_rounds, share

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.frozen.compiled.rows import Row

    Loop: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], None]
    Address: TypeAlias = Callable[[Any], tuple[int, int]]

PARTS = 4  # of the blocks for each thread: one whose processor is busy takes fewer
BASES, ADVANCES = (slice(at, at + 3) for at in (table.BASE, table.ADVANCE))


def pays(blocks: int, rows: Sequence[Row]) -> bool:
    """Whether it pays to start threads for a part of a table."""
    return blocks > 1 and blocks * BLOCK * len(rows) > WORTH


class Shares:
    """The compiled loop for a table of one part, whose blocks threads share; called as the loop itself.

    Parameters
    ----------
    native : function
        The compiled loop.
    blocks, rows : int, list of Row
    address : function
        Tells of what holds an operand its address and the number of the array that is given.
    local : set of Var
        What has room for one block.
    """

    def __init__(self, native: Loop, blocks: int, rows: Sequence[Row], address: Address, local: set[Var]):
        self.native: Loop = native
        self.blocks: int = blocks
        self.rows: Sequence[Row] = rows
        self.address: Address = address
        self.local: set[Var] = {
            x.holder for row in rows for x in row.operands if type(x.holder) is Var and x.holder in local
        }
        self.tables: list[Table] = []
        self.held: list[np.ndarray] = []

    def __call__(self, bounds: np.ndarray, numbers: np.ndarray, places: np.ndarray, status: np.ndarray) -> None:
        threads = min(kernels(), self.blocks)
        if threads == 1:
            self.native(bounds, numbers, places, status)
            return
        while len(self.tables) < threads:
            self.tables.append(Table(self.rows, self.elsewhere() if self.tables else self.address))
        tables, parts = self.tables[:threads], min(PARTS * threads, self.blocks)
        numbered = count()

        def work(_, thread):
            while (part := next(numbered)) < parts:  # one thread at a time takes a number
                tables[thread].run(self.native, *share(self.blocks, part, parts), self.blocks, places)

        in_rounds(work, [0], threads)
        for own in tables:
            numbers[:, table.STATUS] |= own.numbers[:, table.STATUS]
            own.numbers[:, table.STATUS] = 0
        status[0] = np.bitwise_or.reduce(numbers[:, table.STATUS])

    def elsewhere(self) -> Address:
        """The function `address` of a thread with rooms of its own; what shares a room shares one there."""
        sizes = {}
        for var in self.local:
            at, _ = self.address(var)
            sizes[at] = max(sizes.get(at, 0), BLOCK * var.dtype.itemsize)
        memory = aligned(sum(sizes.values()))
        self.held.append(memory)
        ends = accumulate(sizes.values(), initial=address_of(memory))
        rooms = dict(zip(sizes, ends, strict=False))

        def address(holder):
            found = self.address(holder)
            if type(holder) is Var and holder in self.local:
                return rooms[found[0]], -1
            return found

        return address


class Table:
    """The table of one thread, which it carries out for some blocks at a time."""

    def __init__(self, rows: Sequence[Row], address: Address):
        self.numbers: np.ndarray = np.array([row.numbers(address) for row in rows], np.int64)
        self.bounds: np.ndarray = np.array([[0, 0, len(rows)]], np.int64)
        self.status: np.ndarray = np.zeros(1, np.int64)
        self.begin: np.ndarray = self.numbers[:, BASES].copy()
        self.last: np.ndarray = self.numbers[:, table.LAST].copy()

    def run(self, native: Loop, first: int, end: int, blocks: int, places: np.ndarray) -> None:
        """Carry out the blocks from `first` to `end`, of which only the last of all may be shorter."""
        self.numbers[:, BASES] = self.begin + first * self.numbers[:, ADVANCES]
        self.numbers[:, table.LAST] = self.last if end == blocks else self.numbers[:, table.COUNT]
        self.bounds[0, 0] = end - first
        native(self.bounds, self.numbers, places, self.status)
