"""``tr(A @ B) = sum A * B^T``: a product of which only the trace is used is not formed.  Twice as fast, 30x30."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.frozen.passes.rewriting import derived, reshaped
from qad.frozen.program.functions import DIAGONAL, TRANSPOSE, method
from qad.frozen.program.program import Step

if TYPE_CHECKING:
    from qad.frozen.passes.rewriting import Visitor
    from qad.frozen.program.program import Program

TRACES = (np.trace, method("trace"))


def traces(program: Program) -> Visitor:
    """The visitor that rewrites traces."""
    uses, known = program.uses(), program.constants

    def visit(step, definitions):
        product = _product_under(step, definitions, known)
        if product is None or uses.get(product.out, 0) > 1:
            return None
        a, b = product.args
        turned = derived(TRANSPOSE, (b, (1, 0)), b.shape[::-1], b.dtype)
        flat = [reshaped(x, (x.size,)) for x in (a, turned.out)]
        return [turned, *flat, Step(np.dot, (flat[0].out, flat[1].out), {}, step.out)]

    return visit


def _product_under(step, definitions, known):
    """The product whose trace `step` takes, by name or as the tape writes it: the diagonal times ones."""
    if step.fn in TRACES and len(step.args) == 1 and not step.kwargs:
        traced = step.args[0]
    else:
        diagonal = definitions.get(step.args[0]) if step.fn is np.dot else None
        if diagonal is None or diagonal.fn is not DIAGONAL or len(diagonal.args) > 1 or diagonal.kwargs:
            return None
        ones = step.args[1]
        if ones not in known or not (known[ones] == 1).all():
            return None
        traced = diagonal.args[0]
    product = definitions.get(traced)
    square = len(traced.shape) == 2 and traced.shape[0] == traced.shape[1]
    same = step.out.dtype == traced.dtype  # traces of short integers are long ones
    return product if square and same and product is not None and product.fn is np.dot else None
