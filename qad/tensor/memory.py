"""How many elements are alive at once while a plan is executed, forward and backward."""

from math import prod

from qad.tensor.network import program

__all__ = ["peak_size"]


def peak_size(plan):
    """The largest number of elements alive at once beyond the operands.

    Forward, an intermediate goes when its pair is done, unless the backward pass needs it.  Those stay until its end;
    a cotangent goes when both products with it are done, and the gradients of the operands stay.  Copies that a
    product makes of an operand for itself are not counted.
    """
    count = len(plan.shapes)
    wanted = program(plan, plan.variables)
    sizes = [0] * count
    for number, recipe in plan.prepare:
        sizes[number] = prod(recipe.out_shape)
    sizes += [prod(recipe.shapes[2]) for _, _, recipe in plan.steps]
    alive = peak = sum(sizes[:count])
    for node, (left, right, _) in enumerate(plan.steps, count):
        alive += sizes[node]
        peak = max(peak, alive)
        alive -= sum(sizes[child] for child in (left, right) if child not in wanted.kept)
    if not wanted.steps:
        return peak
    alive += sizes[-1]  # the cotangent of the result
    for node, _, _, to_left, to_right in wanted.steps:
        alive += sum(prod(recipe.shapes[2]) for recipe in (to_left, to_right) if recipe is not None)
        peak = max(peak, alive)
        alive -= sizes[node]
    return peak
