"""The frame of most passes: a walk over the steps, each of which is kept, replaced, or found to be another value."""

from qad.freeze.guards import is_guard
from qad.freeze.program import Step, Var, rebuilt

__all__ = ["derived", "rewrite", "touches"]


def rewrite(program, visit):
    """Offer every step to ``visit(step, definitions)``; the number of changes.

    It returns None (keep the step), a Var (the value is that one), or a list of steps of which the last makes the
    value.  `definitions` knows the steps so far by what they make.  Steps that touch memory which the program
    writes into are not offered.
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
            definitions[each.out] = each
        steps.extend(made)
    program.steps = steps
    program.outputs = [current(x) if type(x) is Var else x for x in program.outputs]
    return changes


def touches(step, pinned):
    """Whether a step has to do with memory that the program writes into, given by its roots."""
    if not pinned:
        return False
    return step.mutates is not None or step.out.root in pinned or any(var.root in pinned for var in step.reads())


def derived(fn, args, shape, dtype, root=None, kwargs=None):
    """A new step, and the array that it makes; `root` is that of what it is a view of."""
    return Step(fn, args, kwargs or {}, Var(tuple(shape), dtype, "array", None, root))
