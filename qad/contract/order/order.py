"""Contraction orders for value and gradient together."""

from __future__ import annotations

from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING

from qad.contract.order.anneal import STEPS, anneal
from qad.contract.order.optimal import LIMIT, optimal_order
from qad.contract.order.tree import Tree
from qad.core.process.waiting import waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from qad.contract.order.optimal import Labels, Pairs
    from qad.contract.order.tree import Network

__all__ = ["find_order", "from_path", "searched", "to_path"]

QUICK = 8  # operands, of which the best order is found in milliseconds
STARTS, SWEEPS = 3, 300  # annealed in each round; most sweeps over a tree at each temperature of the first round
SHARE = 10_000  # multiply-adds of a contraction that are worth another exchange of the search for its order
MOST = 10_000_000  # exchanges, from which on no further round begins


@lru_cache(maxsize=512)
def find_order(inputs: tuple[Labels, ...], output: Labels, sizes: tuple[int, ...], variable: tuple[bool, ...]) -> Pairs:
    """Which arrays to contract in which order.

    Exact for up to `qad.contract.order.optimal.LIMIT` operands.  For more, cotengrust's greedy tree and two sweeps are
    annealed under the cost of value and gradient together, the longer the more the contraction itself will cost.

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


def order_of_many(
    inputs: tuple[Labels, ...], output: Labels, sizes: tuple[int, ...], variable: tuple[bool, ...]
) -> Pairs:
    """`find_order` of a network that may take its time."""
    if len(inputs) <= LIMIT:
        return optimal_order(inputs, output, sizes, variable)[0]
    best, tried = None, 0
    for number, tree in enumerate(searched((inputs, output, sizes, variable), lambda: False)):
        best = tree if best is None else min(best, tree, key=Tree.cost)
        tried += STARTS * STEPS * min(len(inputs), SWEEPS) * len(inputs) << number
        if tried >= min(best.cost() // SHARE, MOST):
            return best.pairs()
    raise AssertionError("the rounds have no end")


def searched(network: Network, over: Callable[[], bool]) -> Iterator[Tree]:
    """Yield the best tree of each round of annealing; a round tries twice as many exchanges as the one before.

    Once `over` says yes, the round comes to its end.
    """
    starts = [Tree(network, pairs) for pairs in (_greedy(*network[:3]), *_swept(network[0]))]
    for number in count():
        found = []
        for place, start in enumerate(starts):
            sweeps = min(start.count, SWEEPS) << number
            found.append(anneal(start, sweeps, STARTS * number + place, over))
            if over():
                break
        yield min(found, key=Tree.cost)


def _greedy(inputs, output, sizes):
    """The greedy tree as pairs, results numbered on from the operands."""
    import cotengrust  # only large networks need it, and it is no part of `import qad`

    names = [chr(0x100 + label) for label in range(len(sizes))]
    network = [[names[label] for label in term] for term in inputs], [names[label] for label in output]
    extent = dict(zip(names, map(float, sizes), strict=True))
    return cotengrust.optimize_greedy(*network, extent, simplify=False, use_ssa=True)


def _swept(inputs):
    """Trees that take in one operand after another, near ones first, from two ends that lie far apart.

    So a physicist contracts a sandwich of chains, for which greedy trees cost two to four times as much.
    """
    one = _by_distance(inputs, _by_distance(inputs, 0)[-1])
    for first, *others in (one, _by_distance(inputs, one[-1])):
        nodes = (first, *range(len(inputs), 2 * len(inputs)))
        yield list(zip(nodes, others, strict=False))


def _by_distance(inputs, start):
    """All operands in order of their distance from `start`; those not connected to it come last."""
    holders = {}
    for number, term in enumerate(inputs):
        for label in term:
            holders.setdefault(label, []).append(number)
    found, queue = {start: True}, [start]
    for number in queue:
        new = dict.fromkeys(other for label in inputs[number] for other in holders[label] if other not in found)
        queue += new
        found |= new
    return [*found, *(number for number in range(len(inputs)) if number not in found)]


def to_path(pairs: Pairs, count: int) -> Pairs:
    """Numbered pairs as opt_einsum's path: positions in a list from which operands go and to whose end results come."""
    alive, path = list(range(count)), []
    for number, pair in enumerate(pairs):
        places = tuple(sorted(map(alive.index, pair)))
        path.append(places)
        for place in reversed(places):
            alive.pop(place)
        alive.append(count + number)
    return tuple(path)


def from_path(path: Sequence[Sequence[int]], count: int) -> Pairs | None:
    """The inverse of `to_path`; None where the path does not reduce `count` operands to one, two at a time."""
    alive, pairs = list(range(count)), []
    for places in path:
        if len(places) != 2 or len(set(places)) != 2 or not all(0 <= place < len(alive) for place in places):
            return None
        pairs.append(tuple(alive[place] for place in places))
        alive = [node for node in alive if node not in pairs[-1]] + [count + len(pairs) - 1]
    return tuple(pairs) if len(alive) == 1 else None
