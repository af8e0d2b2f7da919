"""Contraction orders for value and gradient together."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from qad.contract.optimal import LIMIT, optimal_order
from qad.contract.tree import Tree, improve
from qad.core.waiting import waiting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qad.contract.optimal import Labels, Pairs

__all__ = ["find_order", "from_path", "greedy_trees", "random_trees", "sweeps", "to_path"]

QUICK = 8  # operands, of which the best order is found in milliseconds
BATCHES, TRIALS = 16, 64  # random greedy searches, each keeping the best of some trials
BEST = 4  # how many of these trees are improved


@lru_cache(maxsize=512)
def find_order(inputs: tuple[Labels, ...], output: Labels, sizes: tuple[int, ...], variable: tuple[bool, ...]) -> Pairs:
    """Which arrays to contract in which order.

    Exact for up to `qad.contract.optimal.LIMIT` operands.  For more, greedy trees of cotengrust and sweeps
    are rerooted and improved piece by piece, all under the cost of value and gradient together.

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
    network = inputs, output, sizes, variable
    found = [*greedy_trees(inputs, output, sizes)]
    for seed in range(BATCHES):
        found += random_trees(inputs, output, sizes, seed)
    greedy = sorted((Tree(network, pairs) for pairs in found), key=Tree.cost)
    swept = [Tree(network, pairs) for pairs in sweeps(inputs)]
    return min(map(improve, greedy[:BEST] + swept), key=Tree.cost).pairs()


def greedy_trees(inputs: tuple[Labels, ...], output: Labels, sizes: tuple[int, ...]) -> Iterator[Pairs]:
    """Yield the greedy tree as pairs, results numbered on from the operands."""
    import cotengrust  # only large networks need it, and it is no part of `import qad`

    yield cotengrust.optimize_greedy(*_named(inputs, output, sizes), simplify=False, use_ssa=True)


def random_trees(inputs: tuple[Labels, ...], output: Labels, sizes: tuple[int, ...], seed: int) -> Iterator[Pairs]:
    """Yield the best of some random greedy trees."""
    import cotengrust

    search = cotengrust.optimize_random_greedy_track_flops
    yield search(*_named(inputs, output, sizes), ntrials=TRIALS, seed=seed, simplify=False, use_ssa=True)[0]


def _named(inputs, output, sizes):
    """A network as cotengrust takes it: labels are characters."""
    names = [chr(0x100 + label) for label in range(len(sizes))]
    network = [[names[label] for label in term] for term in inputs], [names[label] for label in output]
    return *network, dict(zip(names, map(float, sizes), strict=True))


def sweeps(inputs: tuple[Labels, ...]) -> Iterator[Pairs]:
    """Yield trees that take in one operand after another, near ones first, from two ends that lie far apart.

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
