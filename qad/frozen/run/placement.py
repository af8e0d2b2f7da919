"""Where the values of a program are stored.

Every value is one of: a constant; a register, filled anew in every run (large inputs and results, whatever a function
allocates for itself); a buffer, allocated once and written with ``out=``; or a view of a constant or buffer, which
is made once too.  Buffers are in C order, but for a matrix whose transpose is reshaped, as traces of products do.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.frozen.passes.rewriting import is_view
from qad.frozen.program.functions import RESHAPE, TRANSPOSE, VIEWS, writes
from qad.frozen.program.program import Step, Var, rebuilt
from qad.frozen.run.compiled import lowering
from qad.frozen.run.compiled.blocks import chains

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.frozen.program.program import Program
    from qad.frozen.run.compiled.blocks import Chain
    from qad.frozen.run.compiled.rows import Row

SMALL = 1 << 14  # bytes up to which an input is copied into a buffer, and a result out of one


class Places:
    """The decisions for one program.

    Attributes
    ----------
    dummies : dict of Var -> array
        Of all constants, buffers and views: arrays of the right strides that share one piece of memory.
    buffers : set of Var
        What is written with ``out=``.
    views : dict of Var -> Step
    copies : set of Var
        Buffers that take a copy: of an input, or of a reshaped array whose strides allow no view.
    turned : set of Var
        Buffers in Fortran order.
    results : set of Var
        Large outputs that nothing else reads: whoever computes them allocates them.
    rows : dict of Var -> list of Row
        Steps that the compiled loop carries out (`qad.frozen.run.compiled`).
    chains, local : list of Chain, set of Var
        Those that it carries out block by block, and what has room for one block only.
    """

    def __init__(self, program: Program, compiled: bool = False):
        self.program: Program = program
        self.compiled: bool = compiled and lowering.pays(program)
        self.rows: dict[Var, list[Row]] = {}
        self.dummies: dict[Var, Any] = dict(program.constants)
        self.buffers: set[Var] = set()
        self.views: dict[Var, Step] = {}
        self.copies: set[Var] = set()
        self.definitions: dict[Var, Step] = program.definitions()
        self.turned: set[Var] = turned(self.definitions)
        uses, outputs = program.uses(), [x for x in program.outputs if type(x) is Var and x.kind == "array"]
        self.results: set[Var] = {x for x in outputs if uses[x] == 1 and x.nbytes > SMALL}
        sizes = [x.nbytes for x in (*program.inputs, *self.definitions) if x.kind in ("array", "scalar")]
        self.scratch: np.ndarray = np.empty(max(sizes, default=1), np.uint8)
        self.find: Callable[..., Any] = lowering.finder(self)
        for var in program.inputs:
            if var in uses and (var.kind == "scalar" or (var.kind == "array" and var.nbytes <= SMALL)):
                self.copies.add(var)
                self._buffer(var)
        for step in program.steps:
            if step.out.kind in ("array", "scalar"):
                self._place(step)
        self.chains: list[Chain] = chains(self) if self.rows else []
        self.local: set[Var] = {var for chain in self.chains for var in chain.local}

    def static(self, var: Var) -> bool:
        """Whether the array of a Var is known before the run."""
        return var in self.dummies

    def _place(self, step):
        out = step.out
        if step.fn in VIEWS and self._view(step):
            return
        if not (self.compiled and self._lower(step)) and out not in self.results and writes(step, out):
            self._buffer(out)

    def _lower(self, step):
        """Leave a step to the compiled loop, which writes into a buffer, or into a large result."""
        out = step.out
        if out not in self.results:
            self._buffer(out)
        rows = lowering.lowered(step, self.find)
        if rows:
            self.rows[out] = rows
        elif out in self.buffers:
            self.buffers.remove(out)
            del self.dummies[out]
        return bool(rows)

    def _view(self, step):
        """Make the step a view of static memory, or a copy into a buffer where its strides allow none."""
        reads = step.reads()
        if len(reads) != 1 or not self.static(reads[0]):
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
        if rows := lowering.lowered(step, self.find) if self.compiled else None:
            self.rows[step.out] = rows
        else:
            self.copies.add(step.out)
        return True

    def _buffer(self, var):
        self.buffers.add(var)
        self.dummies[var] = self.laid_out(var, self.scratch)

    def laid_out(self, var: Var, memory: np.ndarray) -> np.ndarray:
        """The array of a buffer at the beginning of a piece of memory."""
        return np.ndarray(var.shape, var.dtype, memory, order="F" if var in self.turned else "C")


def turned(definitions: dict[Var, Step]) -> set[Var]:
    """Matrices whose transpose is reshaped: in Fortran order both are views."""
    reshaped = [definitions.get(step.args[0]) for step in definitions.values() if step.fn is RESHAPE]
    return {step.args[0] for step in reshaped if step and step.fn is TRANSPOSE and step.args[1] == (1, 0)}
