"""Where the values of a program are stored.

Every value is one of: a constant; a register, filled anew in every run (inputs, results, whatever a function
allocates for itself); a buffer, allocated once and written with ``out=``; or a view of a constant or buffer, which
is made once too.  What is written into by the program itself stays in registers.

Which views exist depends on layouts in memory; that is found out on dummies, arrays of the right strides that share
one piece of memory.
"""

from __future__ import annotations

import operator
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from qad.frozen.passes.rewriting import is_view
from qad.frozen.program.functions import RESHAPE, TRANSPOSE, VIEWS, Method, allocates, writes
from qad.frozen.program.program import Step, Var, is_guard, layout_of, rebuilt
from qad.frozen.run.compiled import lowering
from qad.frozen.run.compiled.blocks import chains

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.frozen.program.program import Program
    from qad.frozen.run.compiled.blocks import Chain
    from qad.frozen.run.compiled.rows import Row

    Layout: TypeAlias = tuple[int, ...] | None  # axes from the slowest to the fastest, None for C order

COPIED_IN = 1 << 14  # bytes up to which an input is copied into a buffer
SMALL = 1 << 14  # bytes of a result whose operands are kept until the end


class Places:
    """The decisions for one program.

    Attributes
    ----------
    dummies : dict of Var -> array
        Of all constants, buffers and views.
    buffers : dict of Var -> layout
        Of what is written with ``out=``.
    views : dict of Var -> Step
    own : set of Var
        What is written into, and must share memory with nothing else.
    copies : set of Var
        Buffers that take a copy: of an input, or of a reshaped array whose layout allows no view.
    rows : dict of Var -> list of Row
        Steps that the compiled loop carries out (`qad.frozen.run.compiled`).
    chains, local : list of Chain, set of Var
        Those that it carries out block by block, and what has room for one block only.
    """

    def __init__(self, program: Program, compiled: bool = False):
        self.program: Program = program
        self.compiled: bool = compiled and lowering.pays(program)
        self.rows: dict[Var, list[Row]] = {}
        self.dummies: dict[Var, Any] = {}
        self.buffers: dict[Var, Layout] = {}
        self.views: dict[Var, Step] = {}
        self.copies: set[Var] = set()
        self.scratch: np.ndarray = np.empty(max([_bytes(var) for var in _vars(program)], default=1), np.uint8)
        self.uses: dict[Var, int] = program.uses()
        self.definitions: dict[Var, Step] = program.definitions()
        self.results: Any = _results(program, self.uses)
        pinned = program.pinned()
        self.own: set[Var] = _own(program, pinned)
        self.last: set[Var] = set()  # results that are computed when all else is done, straight into the caller's hands
        self.demand: dict[Var, Layout] = demand(program)
        for var, value in program.constants.items():
            self.dummies[var] = value
        self.find: Callable[..., Any] = lowering.finder(self)
        for var in program.inputs:
            self._place_input(var)
        for step in program.steps:
            if step.mutates is None and step.out.root not in pinned and not is_guard(step):
                self._place(step)
        self.chains: list[Chain] = chains(self) if self.rows else []
        self.local: set[Var] = {var for chain in self.chains for var in chain.local}

    def allocated(self, var: Var) -> bool:
        """Whether a result is a newly allocated array."""
        return var in self.rows or (self.definitions.get(var) is not None and allocates(self.definitions[var]))

    def static(self, var: Var) -> bool:
        """Whether the array of a Var is known before the run."""
        return var in self.dummies

    def _place_input(self, var):
        if var.kind == "scalar" or (var.kind == "array" and var in self.demand and var.nbytes <= COPIED_IN):
            self.copies.add(var)
            self._buffer(var, self.demand.get(var))

    def _place(self, step):
        out = step.out
        if out.kind not in ("array", "scalar"):
            return
        if step.fn in VIEWS and self._view(step):
            return
        if self.compiled and self._lower(step):
            return
        if out in self.results and out.nbytes > 0:
            if out.nbytes <= SMALL and self._is_last(step):
                self.last.add(out)
            return
        if writes(step, out):
            self._buffer(out, self._layout(step))

    def _lower(self, step):
        """Leave a step to the compiled loop, which writes into a buffer, or into a large result."""
        out = step.out
        if out not in self.results or out.nbytes <= SMALL:
            self._buffer(out, self._layout(step))
        rows = lowering.lowered(step, self.find)
        if rows:
            self.rows[out] = rows
        elif out in self.buffers:
            del self.buffers[out], self.dummies[out]
        return bool(rows)

    def _is_last(self, step):
        """Whether a result can be computed when all else is done, from what is known before the run."""
        ready = all(type(x) is not Var or self.static(x) for x in step.args)
        return ready and allocates(step) and not step.kwargs and step.fn is not np.concatenate

    def _layout(self, step):
        """The order of axes of the result: that of the operands where they agree, so that ufuncs run along memory."""
        if needs_c_order(step):
            return None
        operands = [x for x in step.args if type(x) is Var and x.shape == step.out.shape]
        if not all(map(self.static, operands)):
            return step.out.layout
        layouts = {layout_of(self.dummies[x]) for x in operands}
        return layouts.pop() if len(layouts) == 1 else None

    def _view(self, step):
        """Make the step a view of static memory, or a copy into a buffer where its layout allows none."""
        reads = step.reads()
        if len(reads) != 1 or not self.static(reads[0]):
            return False
        (source,) = reads
        if self.compiled and step.fn is operator.getitem and step.out.kind == "scalar":
            index = step.args[1] if type(step.args[1]) is tuple else (step.args[1],)
            step = Step(step.fn, (source, index if any(i is ... for i in index) else (*index, ...)), {}, step.out)
        made = step.fn(*rebuilt(step.args, self.dummies.__getitem__), **step.kwargs)
        if not isinstance(made, np.ndarray):
            made = np.asarray(made)
        elif np.may_share_memory(made, self.dummies[source]) or not made.size:
            self.dummies[step.out] = made
            self.views[step.out] = step
            return True
        if step.fn is RESHAPE and step.out not in self.results:
            self._buffer(step.out, None)
            if rows := lowering.lowered(step, self.find) if self.compiled else None:
                self.rows[step.out] = rows
            else:
                self.copies.add(step.out)
            return True
        return False

    def _buffer(self, var, layout):
        self.buffers[var] = layout
        self.dummies[var] = laid_out(self.scratch, var, layout)


def needs_c_order(step: Step) -> bool:
    """Whether `step` can only write into an array in C order."""
    return type(step.fn) is Method or step.fn is np.dot


def laid_out(memory: Any, var: Var, layout: Layout) -> np.ndarray:
    """An array for `var` at the beginning of a piece of memory, its axes in this order."""
    if layout is None:
        return np.ndarray(var.shape, var.dtype, memory)
    shape = tuple([var.shape[axis] for axis in layout])
    back = sorted(range(len(layout)), key=layout.__getitem__)
    return np.ndarray(shape, var.dtype, memory).transpose(back)


def _own(program, pinned):
    """What is written into and had memory of its own when it was recorded: a replay may make it a view.

    NumPy's numbers are copied by every function; those of a program may be entries of its buffers.
    """
    made = (step for step in program.steps if step.mutates is None and step.out.root is step.out in pinned)
    return {step.out for step in made if not allocates(step)}


def _results(program, uses):
    """Outputs that are used by nothing else: whoever computes them allocates them."""
    return {x for x in program.outputs if type(x) is Var and x.kind == "array" and uses[x] == 1}


def _vars(program):
    yield from program.inputs
    yield from (step.out for step in program.steps)


def _bytes(var):
    return var.nbytes if var.kind in ("array", "scalar") else 0


# -- orders of axes -----------------------------------------------------------------------------------------------
# A reshape of a transposed array is a view if the array lies in memory in the transposed order; of all orders that
# readers ask for in this way, an input's buffer takes the one that is asked for most.


def demand(program: Program) -> dict[Var, tuple[int, ...] | None]:
    """Of each array that is read, through views too, the layout that is asked for; None for C order."""
    definitions, read, votes = program.definitions(), set(), {}

    def base(var):
        """What `var` is a view of, and the permutation on the way, None where there is more on it."""
        axes = tuple(range(len(var.shape or ())))
        while (step := definitions.get(var)) is not None and step.fn in VIEWS and step.mutates is None:
            if axes is not None:
                turned = step.fn is TRANSPOSE and is_view(step)  # of memory that is written into it has any form
                axes = tuple(step.args[1][axis] for axis in axes) if turned else None
            var = step.reads()[0]
        return var, axes

    for step in program.steps:
        for var in step.reads():
            source, axes = base(var)
            if step.fn not in VIEWS:
                read.add(source)
            if step.fn is RESHAPE and axes is not None:
                votes.setdefault(source, Counter())[axes] += 1
    for x in program.outputs:
        if type(x) is Var:
            read.add(base(x)[0])
    return {var: _winner(votes.get(var), len(var.shape)) for var in read if var.kind == "array"}


def _winner(votes, ndim):
    if not votes:
        return None
    best = votes.most_common(1)[0][0]
    return None if best == tuple(range(ndim)) else best
