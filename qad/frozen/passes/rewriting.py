"""The frame of most passes: a walk over the steps, each of which is kept, replaced, or found to be another value."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

from qad.frozen.program.functions import RESHAPE, TRANSPOSE
from qad.frozen.program.program import Step, Var, check_value, rebuilt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from qad.frozen.program.program import Program

    Definitions: TypeAlias = dict[Var, Step]  # the steps so far by what they make
    Visitor: TypeAlias = Callable[[Step, Definitions], Var | list[Step] | None]  # see `rewrite`


def rewrite(program: Program, visitors: Mapping[str, Visitor]) -> Counter[str]:
    """Offer every step to the visitors in turn, and what one of them makes of it to those that come after.

    Parameters
    ----------
    program : Program
        Its steps and outputs are replaced.
    visitors : dict of name -> function
        Each is called as ``visit(step, definitions)`` and returns None (keep the step), a Var (the value is that one),
        or a list of steps of which the last makes the value.  `definitions` knows the steps so far by what they make.

    Returns
    -------
    Counter
        How many changes each visitor made.
    """
    same, definitions, steps, changes = {}, {}, [], Counter()
    offers = tuple(visitors.items())

    def offer(step, first):
        step = _substituted(step, same)
        for k in range(first, len(offers)):
            name, visit = offers[k]
            if (made := visit(step, definitions)) is not None:
                changes[name] += 1
                result = made if type(made) is Var else made[-1].out
                if result is not step.out:
                    same[step.out] = _current(result, same)
                for each in made if type(made) is list else ():
                    offer(each, k + 1)
                return
        definitions[step.out] = step
        steps.append(step)

    for step in program.steps:
        offer(step, len(offers) if step.fn is check_value else 0)
    program.steps = steps
    program.outputs = [_current(x, same) if type(x) is Var else x for x in program.outputs]
    return changes


def _current(var, same):
    """What stands for a value now."""
    while var in same:
        var = same[var]
    return var


def _substituted(step, same):
    """A step that reads what stands for its operands now."""
    if same.keys().isdisjoint(step.reads()):
        return step
    args, kwargs = (rebuilt(x, lambda var: _current(var, same)) for x in (step.args, step.kwargs))
    return Step(step.fn, args, kwargs, step.out)


def derived(fn: Callable[..., Any], args: tuple[Any, ...], shape: Sequence[int], dtype: Any) -> Step:
    """A new step, and the array that it makes."""
    return Step(fn, args, {}, Var(tuple(shape), dtype))


def reshaped(x: Var, shape: tuple[int, ...]) -> Step:
    """A new step that reshapes an array."""
    return derived(RESHAPE, (x, shape), shape, x.dtype)


def is_view(step: Step) -> bool:
    """Whether a step is a permutation or a reshape in its canonical form."""
    return len(step.args) == 2 and (
        (step.fn is RESHAPE and step.args[1] == step.out.shape and not step.kwargs)
        or (step.fn is TRANSPOSE and type(step.args[1]) is tuple)
    )
