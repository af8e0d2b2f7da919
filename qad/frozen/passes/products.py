"""The transpose of a product is the product of the transposes: ``(A @ B).T = B.T @ A.T``.

BLAS reads transposed factors as they are, and the product then lies in memory in the order in which it is read.
"""

import numpy as np

from qad.frozen.functions import TRANSPOSE
from qad.frozen.passes.rewriting import derived
from qad.frozen.program import Step

__all__ = ["products"]


def products(program):
    """The visitor that turns products which are only read as transposes."""
    uses = program.uses()

    def visit(step, definitions):
        if step.fn is not TRANSPOSE or step.args[1] != (1, 0) or uses.get(step.args[0], 0) > 1:
            return None
        product = definitions.get(step.args[0])
        if product is None or product.fn is not np.dot or any(len(x.shape) != 2 for x in product.args):
            return None
        a, b = product.args
        turned = [derived(TRANSPOSE, (x, (1, 0)), x.shape[::-1], x.dtype, x.root) for x in (b, a)]
        return [*turned, Step(np.dot, (turned[0].out, turned[1].out), {}, step.out)]

    return visit
