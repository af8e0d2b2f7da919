"""A whole network as one node of the tape.

The forward pass keeps the intermediates that a needed cotangent is a product with; the backward pass walks the same
pairs in reverse, two products for a pair at most.  Seen from the tape this is one primitive with several results, so
it costs no recording per pair; its rule is written in `contract`, which records itself, so higher orders need nothing
else.
"""

from functools import lru_cache

import numpy as np

from qad.core.vmap import vmap
from qad.extend import Tensor, defbatch, defvjp, primitive
from qad.tensor.pair import contract
from qad.tensor.single import reduce, spread

__all__ = ["network", "with_cotangents"]


@primitive
def network(*operands, plan, wanted):
    """Contract a network and keep what the cotangents of the operands `wanted` need.

    Returns
    -------
    tuple of arrays
        The result, then the values of the nodes ``program(plan, wanted).kept``.
    """
    return _contracted(operands, plan, wanted, lambda a, recipe: recipe.run(a), lambda a, b, recipe: recipe.run(a, b))


def _contracted(operands, plan, wanted, prepare, join):
    kept = program(plan, wanted).kept
    values = list(operands)
    for number, recipe in plan.prepare:
        values[number] = prepare(values[number], recipe=recipe)
    found = {node: values[node] for node in kept if node < len(operands)}
    value = values[-1]
    for node, (left, right, recipe) in enumerate(plan.steps, len(operands)):
        value = join(values[left], values[right], recipe=recipe)
        values[left] = values[right] = None
        values.append(value)
        if node in kept:
            found[node] = value
    return (value, *[found[node] for node in kept])


class Program:
    """What the backward pass of a plan does for some operands: immutable, cached by `program`.

    Attributes
    ----------
    kept : tuple of int
        Nodes whose values it needs, beyond the operands themselves.
    steps : tuple
        For each pair that has something to do, from the root down: the result's node, the operands' nodes, the recipes
        of their cotangents, None where one is not needed.
    """

    __slots__ = ("kept", "steps")

    def __init__(self, plan, wanted):
        count = len(plan.shapes)
        held = set(wanted)
        needed, steps = set(), []
        for node, (left, right, recipe) in enumerate(plan.steps, count):
            to_left, to_right = left in held, right in held
            if to_left or to_right:
                held.add(node)
                needed.update(child for child, side in ((right, to_left), (left, to_right)) if side)
                steps.append((node, left, right, recipe.left if to_left else None, recipe.right if to_right else None))
        prepared = {number for number, _ in plan.prepare}
        self.kept = tuple(sorted(node for node in needed if node >= count or node in prepared))
        self.steps = tuple(reversed(steps))


@lru_cache(maxsize=2048)
def program(plan, wanted):
    """The backward program of a plan for the operands `wanted`, a tuple of numbers."""
    return Program(plan, wanted)


def _cotangents(needed, g, ans, *operands, plan, wanted):
    """Cotangents of the operands `needed`: the pairs in reverse.

    In higher orders cotangents of kept intermediates arrive as well; they join those that come from above.
    """
    kept = program(plan, wanted).kept
    values = dict(enumerate(operands))
    values.update(zip(kept, ans[1:], strict=True))
    root = len(operands) + len(plan.steps) - 1
    found = {node: c for node, c in zip((root, *kept), g, strict=True) if c is not None}
    recorded = any(type(x) is Tensor for x in (*operands, *found.values()))
    for node, left, right, to_left, to_right in program(plan, needed).steps:
        c = found.pop(node, None)
        if c is None:
            continue
        if to_left is not None:
            part = contract(c, values[right], recipe=to_left) if recorded else to_left.run(c, values[right])
            found[left] = found[left] + part if left in found else part
        if to_right is not None:
            part = contract(values[left], c, recipe=to_right) if recorded else to_right.run(values[left], c)
            found[right] = found[right] + part if right in found else part
    recipes = dict(plan.prepare)
    return [_operand_cotangent(found.get(number), operands[number], recipes.get(number)) for number in needed]


def _operand_cotangent(c, operand, recipe):
    """The cotangent of an operand as the caller gave it, newly allocated."""
    if c is None:  # only the value of an intermediate beside it was used
        return operand * 0
    return c if recipe is None else spread(c, recipe=recipe) * 1


defvjp(network, shared=_cotangents, fresh=True)


def _batch(batched, *operands, plan, wanted):
    """Pair by pair, each of which knows what to do."""
    axes = tuple([0 if stacked else None for stacked in batched])
    return vmap(lambda *xs: _contracted(xs, plan, wanted, reduce, contract), axes)(*operands)


defbatch(network, _batch)


def with_cotangents(g, operands, plan, needed):
    """The result, and the cotangents of the operands `needed` where `g` (None for 1) is that of the result."""
    recorded = {number for number, x in enumerate(operands) if type(x) is Tensor and x.requires_grad}
    wanted = tuple(sorted(recorded.union(needed)))
    ans = network(*operands, plan=plan, wanted=wanted)
    g = np.ones(ans[0].shape, ans[0].dtype) if g is None else g
    seeds = (g, *[None] * (len(ans) - 1))
    return ans[0], _cotangents(needed, seeds, ans, *operands, plan=plan, wanted=wanted)
