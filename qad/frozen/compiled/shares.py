"""Chains of large arrays on several threads, each of which carries out some of the blocks.

The blocks are the same for any number of threads, and a sum adds up those of the blocks in their order, so that results
are the same to the last bit.  A thread has a table of its own, into which the loop writes, and rooms of its own for
what is local to a block.
"""

from itertools import accumulate

import numpy as np

from qad.core.threads import kernels
from qad.frozen.compiled import table
from qad.frozen.compiled.blocks import BLOCK
from qad.frozen.memory_plan import address_of, aligned
from qad.frozen.program import Var
from qad.native.sharing import WORTH, in_rounds, share

__all__ = ["Shares", "pays"]


def pays(blocks, rows):
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

    def __init__(self, native, blocks, rows, address, local):
        self.native, self.blocks, self.rows, self.address = native, blocks, rows, address
        self.local = {x.holder for row in rows for x in row.operands if type(x.holder) is Var and x.holder in local}
        self.tables, self.held = [], []

    def __call__(self, bounds, numbers, places, status):
        threads = min(kernels(), self.blocks)
        if threads == 1:
            self.native(bounds, numbers, places, status)
            return
        if threads != len(self.tables):
            self.held = []
            self.tables = [self.table(thread, threads, places) for thread in range(threads)]
        tables = self.tables
        in_rounds(lambda _, thread: self.native(*tables[thread]), [0], threads)
        status[0] = 0
        for _, own, _, met in tables:
            status[0] |= met[0]
            numbers[:, table.STATUS] |= own[:, table.STATUS]
            own[:, table.STATUS] = 0

    def table(self, thread, threads, places):
        """The arguments of the loop for one thread."""
        first, end = share(self.blocks, thread, threads)
        address = self.elsewhere() if thread else self.address
        numbers = [moved(row, first, end == self.blocks).numbers(address) for row in self.rows]
        bounds = np.array([[end - first, 0, len(self.rows)]], np.int64)
        return bounds, np.array(numbers, np.int64), places, np.zeros(1, np.int64)

    def elsewhere(self):
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


def moved(row, first, to_the_end):
    """The row as it begins with a later block, and ends with the last one or before."""
    operands = [x._replace(offset=x.offset + first * step) for x, step in zip(row.operands, row.advance, strict=True)]
    return row._replace(operands=tuple(operands), last=row.last if to_the_end else row.count)
