"""The order of axes in memory in which the readers of an array need no copy.

A reshape of a transposed array is a view if the array lies in memory in the transposed order; of all orders that
readers ask for in this way, an input's buffer takes the one that is asked for most.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from qad.frozen.passes.rewriting import is_view
from qad.frozen.program.functions import RESHAPE, TRANSPOSE, VIEWS
from qad.frozen.program.program import Var

if TYPE_CHECKING:
    from qad.frozen.program.program import Program


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
