"""``tr(A @ B) = sum A * B^T``: a product of which only the trace is used is not formed."""

import numpy as np

from qad.freeze.functions import RESHAPE, TRANSPOSE, method
from qad.freeze.passes.rewriting import derived, rewrite
from qad.freeze.program import Step

__all__ = ["traces"]

DIAGONAL = method("diagonal")


def traces(program):
    """Fuse; the number of traces."""
    uses, known = program.uses(), program.constants

    def visit(step, definitions):
        product = _product_under(step, definitions, known)
        if product is None or uses[product.out] > 1:
            return None
        a, b = product.args
        turned = derived(TRANSPOSE, (b, (1, 0)), b.shape[::-1], b.dtype, b.root)
        flat = [derived(RESHAPE, (x, (x.size,)), (x.size,), x.dtype, x.root) for x in (a, turned.out)]
        return [turned, *flat, Step(np.dot, (flat[0].out, flat[1].out), {}, step.out)]

    return rewrite(program, visit)


def _product_under(step, definitions, known):
    """The product of two matrices whose trace `step` takes, as the tape writes it: the diagonal times ones."""
    if step.fn is not np.dot:
        return None
    diagonal, ones = step.args
    diagonal = definitions.get(diagonal)
    if diagonal is None or diagonal.fn is not DIAGONAL or len(diagonal.args) > 1 or diagonal.kwargs:
        return None
    product = definitions.get(diagonal.args[0])
    if product is None or product.fn is not np.dot or len(product.out.shape) != 2:
        return None
    if product.out.shape[0] != product.out.shape[1]:
        return None
    return product if ones in known and (known[ones] == 1).all() else None
