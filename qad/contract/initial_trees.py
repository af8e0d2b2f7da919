"""Contraction trees of large networks to start an improvement from: random greedy ones, and sweeps.

A sweep takes in one operand after another, near ones first, as a physicist contracts a chain from one end.  Greedy
trees suit networks without a long direction, sweeps those with one; piecewise improvement then repairs either.
"""

from math import prod

__all__ = ["starting_trees"]

BATCHES, TRIALS = 4, 8  # random greedy searches, each keeping the best of some trials


def starting_trees(inputs, output, sizes):
    """Some complete trees as pairs, results numbered on from the operands."""
    import cotengrust  # only large networks need it, and it is no part of `import qad`

    terms = [[chr(0x100 + label) for label in term] for term in inputs]
    result = [chr(0x100 + label) for label in output]
    extent = {chr(0x100 + label): float(size) for label, size in enumerate(sizes)}
    found = [cotengrust.optimize_greedy(terms, result, extent, simplify=False, use_ssa=True)]
    for seed in range(BATCHES):
        found.append(
            cotengrust.optimize_random_greedy_track_flops(
                terms, result, extent, ntrials=TRIALS, seed=seed, simplify=False, use_ssa=True
            )[0]
        )
    return [[tuple(pair) for pair in pairs] for pairs in found], _sweeps(inputs, output, sizes)


def _sweeps(inputs, output, sizes):
    """Sweeps from two ends of the network that lie far apart, and from one operand beside the first."""
    holders = {}
    for number, term in enumerate(inputs):
        for label in term:
            holders.setdefault(label, []).append(number)
    first = _distances(inputs, holders, 0)[-1]
    order = _distances(inputs, holders, first)
    return [_sweep(inputs, output, sizes, holders, start) for start in dict.fromkeys((first, order[-1], order[1]))]


def _distances(inputs, holders, start):
    """Operands in order of their distance from `start`; parts that are not connected to it come last."""
    found = dict.fromkeys([start])
    queue = [start]
    for number in queue:
        for label in inputs[number]:
            queue += [other for other in holders[label] if other not in found]
            found.update(dict.fromkeys(holders[label]))
    return [*found, *(number for number in range(len(inputs)) if number not in found)]


def _sweep(inputs, output, sizes, holders, start):
    """Of the nearest operands that touch what is contracted already, take the one that leaves the smallest array."""
    order = _distances(inputs, holders, start)
    level = _levels(inputs, holders, order)
    waiting, legs, pairs, node = set(order[1:]), set(inputs[start]), [], start
    kept = set(output)

    def remaining(number):
        return [
            label
            for label in legs.union(inputs[number])
            if label in kept or any(other in waiting and other != number for other in holders[label])
        ]

    while waiting:
        touching = {other for label in legs for other in holders[label] if other in waiting} or waiting
        nearest = min(level[number] for number in touching)
        chosen = min(
            (number for number in touching if level[number] == nearest),
            key=lambda number: (prod(sizes[label] for label in remaining(number)), number),
        )
        legs = set(remaining(chosen))
        waiting.remove(chosen)
        pairs.append((node, chosen))
        node = len(inputs) + len(pairs) - 1
    return pairs


def _levels(inputs, holders, order):
    """The distance of every operand from the first of `order`."""
    level = {order[0]: 0}
    for number in order:
        here = level.setdefault(number, len(order))
        for label in inputs[number]:
            for other in holders[label]:
                level.setdefault(other, here + 1)
    return level
