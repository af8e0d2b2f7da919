"""A whole network on the tape.

Where plain arrays are recorded on one reverse level, a network is one node: its forward pass keeps the intermediates
that a needed cotangent is a product with, its backward pass walks the same pairs in reverse, two products for a pair at
most.  In forward mode and in higher orders the pairs are recorded one by one: they are linear in each operand, so
tangents pass through them as values do.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from qad.contract.notation.operands import alike
from qad.contract.plan.unary import reduce, spread
from qad.contract.run.execute import execution
from qad.contract.run.pair import contract
from qad.core.errors import GradientTypeError
from qad.extend import ARRAY_TYPES, Tensor, like, primitive, rule
from qad.extend.memory import is_buffer, mark, settled, shows
from qad.extend.recording import PRIMITIVES, highest, note, records, split

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from qad.contract.plan.data import PlanData
    from qad.contract.run.execute import State
    from qad.typing import Array


__all__ = ["contracted", "network", "record", "with_cotangents"]


def record(plan: PlanData, operands: Sequence[Array], wanted: tuple[int, ...]) -> Array:
    """Contract a list of operands that are not all plain arrays, those numbered `wanted` variable."""
    level = highest(operands)
    if any(map(is_buffer, operands)):  # of one operand the result may be a view
        return (
            _pairs(plan, operands)[-1] if len(operands) == 1 else contracted(plan, list(map(settled, operands)), wanted)
        )
    values, nodes = split(operands, level)
    kinds = {x.dtype for x in values}
    if "O" in {kind.kind for kind in kinds}:
        number = [x.dtype.kind for x in values].index("O")
        raise GradientTypeError(
            f'expression "{plan.expression.text}": operand {number} is an object array, which has no gradient: '
            "write array.astype(float) or array.astype(complex)"
        )
    if level.number < 0:  # of constants
        plain = ARRAY_TYPES.issuperset(map(type, values))  # and not traced by qad.freeze, nor of another library
        value = contracted(plan, list(values), ()) if plain else _pairs(plan, values)[-1]
        if not any(type(x) is Tensor for x in operands):
            return value
        out = Tensor(value)
        if len(operands) == 1 and shows(value, values[0]):
            mark(out, operands[0], partial(_constant, plan), ())
        return out
    recorded = level.direction == "backward" and level.open
    if len(plan.steps) > 2 and recorded and ARRAY_TYPES.issuperset(map(type, values)):
        options = {"plan": plan, "wanted": wanted}
        if not level.quick and not records(level):
            return network(*operands, **options)
        p = PRIMITIVES[network]  # what `network` itself would look for is known here
        ans, kept = p.raw(*values, **options)
        own, options = execution(plan, wanted), {**options, "kept": kept}
        return note(p, values, options, ans, nodes, level, own.read)
    return _pairs(plan, [x.value if type(x) is Tensor and not x.requires_grad else x for x in operands])[-1]


def contracted(plan: PlanData, operands: list[Any], wanted: tuple[int, ...]) -> Array:
    """Contract all operands, a list that fits and is used up, where those numbered `wanted` are recorded; no slices."""
    operands = alike(operands)
    if wanted or not ARRAY_TYPES.issuperset(map(type, operands)):
        return record(plan, operands, wanted)
    return execution(plan, ()).forward(operands)[0]


def _constant(plan, *operands):
    """The network of arrays that were constant, recorded where one is not any more."""
    return record(plan, operands, ())


def _pairs(plan, operands):
    """The values of all nodes, recorded one by one where they are Tensors."""
    values = list(operands)
    for number, recipe in plan.prepare:
        values[number] = reduce(values[number], recipe=recipe)
    for left, right, recipe in plan.steps:
        values.append(contract(values[left], values[right], recipe=recipe))
    return values


@primitive(keeps=True)
def network(*operands: Array, plan: PlanData, wanted: tuple[int, ...]) -> tuple[Any, State]:
    """Contract a network of plain arrays, and keep what the backward pass for the operands `wanted` needs."""
    return execution(plan, wanted).forward(operands)


def _cotangents(needed, g, ans, *operands, plan, wanted, kept=None):
    """Cotangents of the operands `needed`, which are those `wanted`: the pairs in reverse."""
    own = execution(plan, wanted)
    if not ARRAY_TYPES.issuperset(map(type, operands)):
        found = _recorded(plan, own, g, dict(enumerate(_pairs(plan, operands))))
    else:
        kept = own.forward(operands)[1] if kept is None else kept
        plain = type(g) in ARRAY_TYPES
        found = own.backward(g, operands, kept) if plain else _recorded(plan, own, g, own.intermediates(operands, kept))
    return _operand_cotangents(plan, found, needed)


def _recorded(plan, own, g, values):
    """The backward pass, pair by pair, recorded where there are Tensors."""
    found = {len(plan.terms) - 1: g}
    for node, left, right, to_left, to_right in own.steps:
        c = found.pop(node)
        if to_left is not None:
            found[left] = contract(c, values[right], recipe=to_left)
        if to_right is not None:
            found[right] = contract(values[left], c, recipe=to_right)
    return found


def _operand_cotangents(plan, found, needed):
    """The cotangents of operands as the caller gave them; newly allocated, or views of what is."""
    for number, recipe in plan.prepare:
        if number in found:
            found[number] = spread(found[number], recipe=recipe) * 1
    return [found[number] for number in needed]


rule(network, shared=_cotangents, fresh=True)


def with_cotangents(
    g: Array | None, operands: Sequence[Array], plan: PlanData, needed: Collection[int]
) -> tuple[Array, Any]:
    """The result, and the cotangents of the operands `needed` where `g` (None for 1) is that of the result."""
    own = execution(plan, tuple(sorted(needed)))
    if not ARRAY_TYPES.issuperset(map(type, operands if g is None else (g, *operands))):
        values = _pairs(plan, operands)
        value, g = values[-1], like(values[-1]).ones(values[-1].shape, values[-1].dtype) if g is None else g
        found = _recorded(plan, own, g, dict(enumerate(values)))
    else:
        value, state = own.forward(operands)
        g = like(value).ones(value.shape, value.dtype) if g is None else g
        found = own.backward(g, operands, state)
    return value, _operand_cotangents(plan, found, needed)
