"""The conjugate of a sum of which some terms are conjugates: ``conj(a + conj(b) + c) = conj(a + c) + b``.

The gradient of a real loss is of this kind: contributions of kets and of bras come together in one sum, which is
conjugated in the end.  One conjugation is left of all.
"""

import numpy as np

from qad.frozen.functions import RESHAPE, TRANSPOSE
from qad.frozen.passes.rewriting import derived
from qad.frozen.program import Step

__all__ = ["sums"]


def sums(program):
    """The visitor that rewrites sums."""
    uses = program.uses()

    def visit(step, definitions):
        if step.fn is not np.conjugate or step.out.kind != "array":
            return None
        terms = _terms(step.args[0], definitions, uses, True)
        if len(terms) < 2:
            return None
        views = [_conjugated(x, definitions, uses) for x in terms]
        if not any(views) or any(x.shape != step.out.shape or x.dtype != step.out.dtype for x in terms):
            return None
        steps = []
        bras = [_view(steps, *view) for view in views if view]
        kets = [x for x, view in zip(terms, views, strict=True) if not view]
        total = _sum(steps, bras)
        if kets:
            steps.append(derived(np.conjugate, (_sum(steps, kets),), step.out.shape, step.out.dtype))
            total = _sum(steps, [total, steps[-1].out])
        if not steps or steps[-1].out is not total:
            return total
        steps[-1] = Step(steps[-1].fn, steps[-1].args, {}, step.out)
        return steps

    return visit


def _terms(x, definitions, uses, top=False):
    """The terms of a sum whose partial sums nobody else reads."""
    step = definitions.get(x)
    if step is None or step.fn is not np.add or (uses.get(x, 0) > 1 and not top) or not _alike(step):
        return [x]
    return [term for part in step.args for term in _terms(part, definitions, uses)]


def _alike(step):
    out = step.out
    return all(getattr(x, "shape", None) == out.shape and x.dtype == out.dtype for x in step.args)


def _conjugated(x, definitions, uses):
    """The array whose conjugate `x` shows, and the views on the way; None where there is no conjugate."""
    chain = []
    while (step := definitions.get(x)) is not None and step.fn in (TRANSPOSE, RESHAPE) and uses.get(x, 0) == 1:
        chain.append(step)
        x = step.args[0]
    if step is not None and step.fn is np.conjugate and uses.get(x, 0) == 1:
        return step.args[0], chain[::-1]
    return None


def _view(steps, x, chain):
    for step in chain:
        steps.append(derived(step.fn, (x, step.args[1]), step.out.shape, step.out.dtype, x.root))
        x = steps[-1].out
    return x


def _sum(steps, terms):
    total = terms[0]
    for term in terms[1:]:
        steps.append(derived(np.add, (total, term), total.shape, total.dtype))
        total = steps[-1].out
    return total
