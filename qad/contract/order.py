"""Contraction orders for value and gradient together."""

from functools import lru_cache

from qad.contract.initial_trees import starting_trees
from qad.contract.optimal import LIMIT, optimal_order
from qad.contract.tree import Tree, improve
from qad.core.waiting import waiting

__all__ = ["find_order", "to_path", "from_path"]

QUICK = 8  # operands, of which the best order is found in milliseconds
BEST = 2  # how many of each kind of starting tree are improved


@lru_cache(maxsize=512)
def find_order(inputs, output, sizes, variable):
    """Which arrays to contract in which order.

    Exact for up to `qad.contract.optimal.LIMIT` operands.  For more, sweeps and greedy trees of cotengrust are
    rerooted and improved piece by piece, all under the cost of value and gradient together.

    Parameters
    ----------
    inputs : tuple of tuples of int
        Labels of each operand, each once; every label in two operands at least, or in one and the output.
    output : tuple of int
        Labels of the result.
    sizes : tuple of int
        The size of each label.
    variable : tuple of bool
        Which operands need a gradient.

    Returns
    -------
    tuple of pairs of int
        Results are numbered on from the operands.
    """
    if len(inputs) < 2:
        return ()
    if len(inputs) <= QUICK:
        return optimal_order(inputs, output, sizes, variable)[0]
    with waiting("planning a contraction, once for networks of this structure"):
        return order_of_many(inputs, output, sizes, variable)


def order_of_many(inputs, output, sizes, variable):
    """`find_order` of a network that may take its time."""
    if len(inputs) <= LIMIT:
        return optimal_order(inputs, output, sizes, variable)[0]
    network = inputs, output, sizes, variable
    found = []
    for kind in starting_trees(inputs, output, sizes):
        trees = sorted((Tree(network, pairs) for pairs in kind), key=Tree.cost)
        found += [improve(tree) for tree in trees[:BEST]]
    return min(found, key=Tree.cost).pairs()


def to_path(pairs, count):
    """Numbered pairs as opt_einsum's path: positions in a list from which operands go and to whose end results come."""
    alive, path = list(range(count)), []
    for number, pair in enumerate(pairs):
        places = tuple(sorted(map(alive.index, pair)))
        path.append(places)
        for place in reversed(places):
            alive.pop(place)
        alive.append(count + number)
    return tuple(path)


def from_path(path, count):
    """The inverse of `to_path`; None where the path does not reduce `count` operands to one, two at a time."""
    alive, pairs = list(range(count)), []
    for places in path:
        if len(places) != 2 or len(set(places)) != 2 or not all(0 <= place < len(alive) for place in places):
            return None
        pairs.append(tuple(alive[place] for place in places))
        alive = [node for node in alive if node not in pairs[-1]] + [count + len(pairs) - 1]
    return tuple(pairs) if len(alive) == 1 else None
