"""How many elements are alive at once while a plan is executed, forward and backward."""

from math import prod

__all__ = ["peak_size"]


def peak_size(prepare, steps, held, shapes):
    """The largest number of elements alive at once beyond the operands.

    Forward, an intermediate goes when its pair is done, unless the gradient needs it: the tape keeps both operands of
    a pair of which one depends on a variable.  Backward, a pair's operands go with the cotangent of its result, and the
    gradients of the operands stay.

    Parameters
    ----------
    prepare, steps : sequences
        The steps of a `Plan` on single operands and on pairs.
    held : sequence of bool
        Per node, whether it depends on a variable.
    shapes : sequence of tuples of int
        Of the operands.
    """
    sizes = [0] * len(shapes)
    for number, recipe in prepare:
        sizes[number] = prod(recipe.out_shape)
    sizes += [prod(recipe.shapes[2]) for _, _, recipe in steps]
    alive = peak = sum(sizes[: len(shapes)])
    for node, (left, right, _) in enumerate(steps, len(shapes)):
        alive += sizes[node]
        peak = max(peak, alive)
        if not (held[left] or held[right]):
            alive -= sizes[left] + sizes[right]
    if not any(held):
        return peak
    alive += sizes[-1]
    for node, (left, right, recipe) in reversed(list(enumerate(steps, len(shapes)))):
        if not held[node]:
            continue
        alive += sum(prod(recipe.shapes[side]) for side, child in enumerate((left, right)) if held[child])
        peak = max(peak, alive)
        alive -= sizes[node] + sizes[left] + sizes[right]
    return max(peak, alive)
