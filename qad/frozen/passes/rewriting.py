"""The frame of most passes: a walk over the steps, each of which is kept, replaced, or found to be another value."""

from qad.frozen.functions import RESHAPE, TRANSPOSE
from qad.frozen.guards import is_guard
from qad.frozen.program import Step, Var, rebuilt, touches

__all__ = ["add_view", "derived", "is_view", "rewrite", "touches", "view_of"]


def rewrite(program, visit):
    """Offer every step to ``visit(step, definitions)``; the number of changes.

    It returns None (keep the step), a Var (the value is that one), or a list of steps of which the last makes the
    value.  `definitions` knows the steps so far by what they make.  Steps that touch memory which the program
    writes into are not offered, nor known: what they read may have changed since.
    """
    pinned, same, definitions, steps, changes = program.pinned(), {}, {}, [], 0

    def current(var):
        return same.get(var, var)

    for step in program.steps:
        if same and any(var in same for var in step.reads()):
            step = Step(step.fn, rebuilt(step.args, current), rebuilt(step.kwargs, current), step.out, step.mutates)
        made = None if is_guard(step) or touches(step, pinned) else visit(step, definitions)
        if made is None:
            made = [step]
        else:
            changes += 1
            if type(made) is Var:
                same[step.out] = made
                continue
            if made[-1].out is not step.out:
                same[step.out] = made[-1].out
        for each in made:
            if not touches(each, pinned):
                definitions[each.out] = each
        steps.extend(made)
    program.steps = steps
    program.outputs = [current(x) if type(x) is Var else x for x in program.outputs]
    return changes


def derived(fn, args, shape, dtype, root=None, kwargs=None):
    """A new step, and the array that it makes; `root` is that of what it is a view of."""
    return Step(fn, args, kwargs or {}, Var(tuple(shape), dtype, "array", None, root))


def is_view(step):
    """Whether a step is a permutation or a reshape in its canonical form."""
    if len(step.args) != 2 or step.kwargs:
        return False
    return (step.fn is RESHAPE and step.args[1] == step.out.shape) or (
        step.fn is TRANSPOSE and type(step.args[1]) is tuple
    )


def view_of(x, definitions):
    """What `x` is a view of, and how: a list of (function, argument, shape before)."""
    chain = []
    while (step := definitions.get(x)) is not None and is_view(step):
        x = step.args[0]
        chain.append((step.fn, step.args[1], x.shape))
    return x, chain[::-1]


def add_view(steps, fn, x, argument):
    """The transpose or reshape of `x`, whose step is appended."""
    shape = argument if fn is RESHAPE else tuple(x.shape[axis] for axis in argument)
    steps.append(derived(fn, (x, argument), shape, x.dtype, x.root))
    return steps[-1].out
