"""Conjugates where they are smallest: ``conj(A) @ conj(B) = conj(A @ B)``, and ``conj(conj(A) @ B) = A @ conj(B)``.

A product is turned into the conjugate of that of the conjugates where fewer entries are then conjugated; a dot
product with a conjugate is one call, and conjugates nothing.
"""

import numpy as np

from qad.frozen.passes.rewriting import add_view, derived, is_view, view_of
from qad.frozen.program import Step

__all__ = ["conjugates"]


def conjugates(program):
    """The visitor that turns products."""
    return _Conjugates(program).visit


class _Conjugates:
    """What is known of a program: `made`, the conjugate of each array that has one, and who reads what."""

    def __init__(self, program):
        self.uses = program.uses()
        self.made = {step.args[0]: step.out for step in program.steps if step.fn is np.conjugate}
        self.reader = {x: step for step in program.steps for x in step.reads()}

    def visit(self, step, definitions):
        """What a product becomes."""
        if step.fn not in (np.dot, np.matmul) or step.kwargs or any(x.dtype.kind != "c" for x in step.reads()):
            return None
        if step.out.kind == "scalar" and len(step.args[0].shape) == 1:
            return self.vdot(step, definitions)
        if step.out.kind != "array":
            return None
        sides = [self.side(x, definitions) for x in step.args]
        gain = sum(gone - new for _, _, gone, new in sides)
        if gain + (step.out.size if self.is_conjugated(step.out) else -step.out.size) <= 0:
            return None
        steps, operands = [], []
        for x, chain, _, new in sides:
            if new:
                steps.append(derived(np.conjugate, (x,), x.shape, x.dtype))
                x = steps[-1].out
            for fn, argument, _ in chain:
                x = add_view(steps, fn, x, argument)
            operands.append(x)
        steps.append(derived(step.fn, tuple(operands), step.out.shape, step.out.dtype))
        return [*steps, Step(np.conjugate, (steps[-1].out,), {}, step.out)]

    def vdot(self, step, definitions):
        """``conj(x) . y`` without the conjugate."""
        for x, y in (step.args, step.args[::-1]):
            base, chain, gone, _ = self.side(x, definitions)
            if gone:
                steps = []
                for fn, argument, _ in chain:
                    base = add_view(steps, fn, base, argument)
                return [*steps, Step(np.vdot, (base, y), {}, step.out)]
        return None

    def side(self, x, definitions):
        """The conjugate of an operand: (array, views of it, entries no longer conjugated, entries newly conjugated)."""
        base, chain = view_of(x, definitions)
        inner = definitions.get(base)
        if inner is not None and inner.fn is np.conjugate:
            return inner.args[0], chain, base.size if self.is_alone(x, base, definitions) else 0, 0
        other = self.made.get(base)
        if other in definitions and self.uses.get(other):
            return other, chain, 0, 0
        return base, chain, 0, base.size

    def is_alone(self, x, base, definitions):
        """Whether nobody but one reader of `x` reads `base`."""
        while self.uses.get(x) == 1 and x is not base:
            x = definitions[x].args[0]
        return self.uses.get(x) == 1

    def is_conjugated(self, x):
        """Whether the conjugate of `x`, or of a view of it, is all that is read."""
        while self.uses.get(x) == 1 and is_view(self.reader.get(x, _NONE)):
            x = self.reader[x].out
        return self.uses.get(x) == 1 and self.reader.get(x, _NONE).fn is np.conjugate


_NONE = Step(None, (), {}, None)
