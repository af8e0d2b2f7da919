"""Where the values of a program are stored.

Every value is one of: a constant; a register, filled anew in every run (large inputs and results, whatever a function
allocates for itself); a buffer, allocated once, of a small input or of what the compiled loop writes; or a view of a
constant or buffer, which is made once too.  Buffers are in C order, but for a matrix whose transpose is reshaped, as
traces of products do.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.frozen.passes.rewriting import is_view
from qad.frozen.program.functions import RESHAPE, TRANSPOSE, VIEWS, allocates, writes
from qad.frozen.program.program import Step, Var, rebuilt
from qad.frozen.run.compiled import lowering
from qad.frozen.run.compiled.blocks import BLOCK, chains
from qad.frozen.run.compiled.rows import Operand, address_of, in_order, require

if TYPE_CHECKING:
    from qad.frozen.program.program import Program
    from qad.frozen.run.compiled.blocks import ElementwiseChain
    from qad.frozen.run.compiled.rows import RowOperation

ALIGNMENT = 64
SMALL = 1 << 14  # bytes up to which an input is copied into a buffer, per step that reads it, or a result out of one


class Places:
    """The decisions for one program.

    Attributes
    ----------
    dummies : dict of Var -> array
        Of all constants, buffers and views: arrays of the right strides that share one piece of memory.
    buffers : set of Var
        What is allocated once.
    views : dict of Var -> Step
    copies : set of Var
        Buffers that take a copy: of an input, or of a reshaped array whose strides allow no view.
    turned : set of Var
        Buffers in Fortran order.
    viewed : set of Var
        Small arrays of which a view is taken.
    results : set of Var
        Outputs that nothing else reads, and whoever computes them allocates: large ones, without the loop all.
    late : set of Var
        Small results that are made when all else is done, by the call that gathers them.
    rows : dict of Var -> list of RowOperation
        Steps that the compiled loop carries out (`qad.frozen.run.compiled`).
    chains, local : list of ElementwiseChain, set of Var
        Those that it carries out block by block, and what has room for one block only.
    """

    def __init__(self, program: Program, compiled: bool = False):
        self.program: Program = program
        self.compiled: bool = compiled and lowering.pays(program)
        self.rows: dict[Var, list[RowOperation]] = {}
        self.dummies: dict[Var, Any] = dict(program.constants)
        self.buffers: set[Var] = set()
        self.views: dict[Var, Step] = {}
        self.copies: set[Var] = set()
        self.definitions: dict[Var, Step] = {step.out: step for step in program.steps}
        self.turned: set[Var] = turned(self.definitions)
        uses, outputs = program.uses(), [x for x in program.outputs if type(x) is Var and x.kind == "array"]
        self.results: set[Var] = {x for x in outputs if uses[x] == 1 and (x.nbytes > SMALL or not self.compiled)}
        sizes = [x.nbytes for x in (*program.inputs, *self.definitions) if x.kind in ("array", "scalar")]
        self.scratch: np.ndarray = np.empty(max(sizes, default=1), np.uint8)
        for var in program.inputs:
            if var in uses and (var.kind == "scalar" or (var.kind == "array" and var.nbytes <= SMALL * uses[var])):
                self.copies.add(var)
                self._buffer(var)
        self.viewed: set[Var] = {x for s in program.steps if s.fn in VIEWS for x in s.reads() if x.size <= BLOCK}
        for step in program.steps:
            if step.out.kind in ("array", "scalar") and not (step.fn in VIEWS and self._view(step)):
                self._lower(step)
        self.chains: list[ElementwiseChain] = chains(program, self.rows, self.views, self.buffers) if self.rows else []
        self.local: set[Var] = {var for chain in self.chains for var in chain.local}
        self.late: set[Var] = {x for x in self.results - self.rows.keys() if x.nbytes <= SMALL and self._at_the_end(x)}

    def _at_the_end(self, var):
        """Whether what makes a result allocates it, and reads static memory, so that it can be made last of all."""
        step = self.definitions.get(var)
        return step is not None and allocates(step) and all(x in self.dummies for x in step.reads())

    def _lower(self, step):
        """Leave a step to the compiled loop, which writes into a buffer, or into a large result.

        Scalars of other steps lie in buffers, too, where the loop reads them or their function writes there; and so do
        small arrays of which a view is taken, for the loop does not know how views of what a run allocates lie.
        """
        out = step.out
        if out not in self.results:
            self._buffer(out)
        if rows := lowering.lowered(step, self.find):
            self.rows[out] = rows
        elif not (self.compiled or writes(step)) or (out.kind != "scalar" and (writes(step) or out not in self.viewed)):
            self.buffers.discard(out)
            self.dummies.pop(out, None)

    def _view(self, step):
        """Make the step a view of static memory, or a copy into a buffer where its strides allow none."""
        reads = step.reads()
        if len(reads) != 1 or reads[0] not in self.dummies:
            return False
        (source,) = reads
        if self.compiled and step.fn is operator.getitem and step.out.kind == "scalar":
            index = step.args[1] if type(step.args[1]) is tuple else (step.args[1],)
            step = Step(step.fn, (source, index if any(i is ... for i in index) else (*index, ...)), {}, step.out)
        made = step.fn(*rebuilt(step.args, self.dummies.__getitem__), **step.kwargs)
        if isinstance(made, np.ndarray) and (np.may_share_memory(made, self.dummies[source]) or not made.size):
            self.dummies[step.out] = made
            self.views[step.out] = step
            return True
        if step.fn is not RESHAPE or not is_view(step) or step.out in self.results:
            return False
        self._buffer(step.out)
        if rows := lowering.lowered(step, self.find):
            self.rows[step.out] = rows
        else:
            self.copies.add(step.out)
        return True

    def find(self, var: Var) -> Operand:
        """The operand that a Var is for the compiled loop; raises `Unknown` where it is not known where that lies."""
        require(self.compiled)
        if var in self.dummies:
            value = self.dummies[var]
            require(value.dtype.isnative and value.flags.aligned)
            return Operand.of(value, None if var in self.program.constants else var)
        require(var.kind == "array" and var.shape and var.dtype.isnative)
        require(var not in self.definitions or self.definitions[var].fn not in VIEWS)  # whose entries may lie apart
        return Operand(var, var.shape, in_order(var.shape, var.dtype.itemsize), var.dtype.char)

    def _buffer(self, var):
        self.buffers.add(var)
        self.dummies[var] = self.laid_out(var, self.scratch)

    def laid_out(self, var: Var, memory: np.ndarray) -> np.ndarray:
        """The array of a buffer at the beginning of a piece of memory."""
        return np.ndarray(var.shape, var.dtype, memory, order="F" if var in self.turned else "C")


def turned(definitions: dict[Var, Step]) -> set[Var]:
    """Matrices whose transpose is reshaped: in Fortran order both are views.  A reshaped one is copied in C order."""
    reshaped = [definitions.get(step.args[0]) for step in definitions.values() if step.fn is RESHAPE]
    found = (step.args[0] for step in reshaped if step and step.fn is TRANSPOSE and step.args[1] == (1, 0))
    return {x for x in found if x not in definitions or definitions[x].fn is not RESHAPE}


# -- how buffers share memory: what one held is overwritten by the next when it is not needed any more ----------------


def aligned(size: int) -> np.ndarray:
    """So many bytes of memory."""
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -address_of(raw) % ALIGNMENT
    return raw[start : start + size]


def memory_plan(places: Places) -> tuple[dict[Var, int], int]:
    """Places for the buffers of a program in one block of memory: offsets in bytes, and the size of the block."""
    offsets, end, holes = {}, 0, {}  # sizes of holes by their offsets, no two adjacent
    begun, ended = {}, {}
    for var, (first, last) in lives(places).items():
        size = BLOCK * var.dtype.itemsize if var in places.local else var.nbytes
        size = -(-max(size, 1) // ALIGNMENT) * ALIGNMENT
        begun.setdefault(first, []).append((var, size))
        ended.setdefault(last, []).append((var, size))
    for number in range(-1, len(places.program.steps)):
        for var, size in begun.get(number, ()):
            room, at = min([(room, at) for at, room in holes.items() if room >= size], default=(size, end))
            offsets[var], end = at, max(end, at + size)
            holes.pop(at, None)
            if room > size:
                holes[at + size] = room - size
        for var, size in ended.get(number, ()):
            at = offsets[var]
            size += holes.pop(at + size, 0)
            before = next((start for start, room in holes.items() if start + room == at), at)
            holes[before] = holes.get(before, 0) + size
    return offsets, end


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
        read = -1 if step.out in places.views else len(steps) if step.out in places.late else number
        if step.out not in places.buffers and not allocates(step):
            read = max(read, last.get(step.out, -1))
        for var in step.reads():
            last[var] = max(read, last.get(var, -1))
    return last
