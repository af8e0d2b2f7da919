"""The steps of a contraction: the order, the axes of every node, the steps on single operands and on pairs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from qad.contract.notation.parse import label_sizes
from qad.contract.order.order import find_order
from qad.contract.order.tree import Tree
from qad.contract.plan.lower import canonical
from qad.contract.plan.unary import single
from qad.contract.run.pair import pair

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from qad.contract.notation.parse import Expression
    from qad.contract.order.optimal import Labels, Pairs
    from qad.contract.plan.unary import Single
    from qad.contract.run.pair import Pair

    Network: TypeAlias = tuple[tuple[Labels, ...], Labels, tuple[int, ...], tuple[bool, ...]]
    Preparations: TypeAlias = tuple[tuple[int, Single], ...]
    Steps: TypeAlias = tuple[tuple[int, int, Pair], ...]

__all__ = ["network_of", "stages"]


def stages(
    expression: Expression,
    shapes: tuple[Labels, ...],
    variables: tuple[int, ...],
    pairs: Iterable[tuple[int, int]] | None = None,
) -> tuple[Pairs, tuple[Labels, ...], Preparations, Steps]:
    """The fields `pairs`, `terms`, `prepare` and `steps` of a plan; in the given order, or in the best one."""
    sizes = label_sizes(expression, shapes)
    network = network_of(expression, shapes, sizes, variables)
    pairs = find_order(*network) if pairs is None else tuple(pairs)
    terms = _layout(network, pairs)
    return pairs, tuple(terms), _preparations(expression, shapes, terms), _steps(pairs, terms, sizes)


def network_of(
    expression: Expression, shapes: tuple[Labels, ...], sizes: Labels, variables: tuple[int, ...]
) -> Network:
    """What is left to order after the steps on single operands.

    A repeated label is a diagonal, a stretched axis is dropped (the other operands carry its label), and a label that
    only one operand holds is summed at once.
    """
    terms = [
        tuple(dict.fromkeys(label for label, size in zip(labels, shape, strict=True) if size == sizes[label]))
        for labels, shape in zip(expression.inputs, shapes, strict=True)
    ]
    holders = Counter(label for term in (*terms, expression.output) for label in term)
    terms = tuple(tuple(label for label in term if holders[label] > 1) for term in terms)
    return terms, expression.output, sizes, tuple(number in variables for number in range(len(shapes)))


def _layout(network, pairs):
    """The labels of all nodes: results have those of the left operand first, as a product of matrices leaves them."""
    tree, terms = Tree(network, pairs), list(network[0])
    for node, (left, right) in enumerate(pairs[:-1], len(terms)):
        terms.append(tuple(label for label in dict.fromkeys(terms[left] + terms[right]) if label in tree.legs[node]))
    return [*terms, network[1]] if pairs else [network[1]]


def _preparations(expression, shapes, terms):
    """The steps on single operands: those that change something, and that of a network of one operand."""
    return tuple(
        (number, single(*canonical((labels, term)), shape))
        for number, (labels, term, shape) in enumerate(
            zip(expression.inputs, terms[: len(shapes)], shapes, strict=True)
        )
        if labels != term or len(shapes) == 1
    )


def _steps(pairs, terms, sizes):
    """The steps on pairs: two nodes and a recipe."""
    steps = []
    for node, (left, right) in enumerate(pairs, len(pairs) + 1):
        labels = terms[left], terms[right], terms[node]
        steps.append((left, right, pair(labels, tuple(tuple(sizes[label] for label in term) for term in labels))))
    return tuple(steps)
