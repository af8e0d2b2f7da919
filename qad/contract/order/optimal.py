"""The optimal contraction order of a small network, value and gradient together.

Dynamic programming over subsets of operands.  A pair costs the product of all its index sizes in the forward pass and
the same once more for each side that holds a variable, because the cotangent of that side is a product of the same
three arrays.  The sum over a tree therefore counts what value and gradient execute, and minimising it over rooted trees
also chooses where the root lies (Evenbly and Pfeifer, arXiv:1310.8023, for the case that all are variable).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import TypeAlias

    Labels: TypeAlias = tuple[int, ...]
    Pairs: TypeAlias = tuple[tuple[int, int], ...]  # the order of a contraction

__all__ = ["optimal_order", "LIMIT"]

LIMIT = 12  # operands: some 50 ms; every further one takes three times as long
TIE = 1e-10  # among orders of equal cost the one that writes less


@lru_cache(maxsize=1024)
def optimal_order(
    inputs: tuple[Labels, ...], output: Labels, sizes: tuple[int, ...], variable: tuple[bool, ...]
) -> tuple[Pairs, float]:
    """The cheapest order, over all trees, outer products included.

    Parameters
    ----------
    inputs : tuple of tuples of int
        Labels of each operand, each once, at most `LIMIT` operands.
    output : tuple of int
        Labels of the result.
    sizes : tuple of int
        The size of each label.
    variable : tuple of bool
        Which operands need a gradient; none: only the forward cost counts.

    Returns
    -------
    pairs : tuple of pairs of int
        Which two to contract next; results are numbered on from the operands.
    cost : float
        Multiply-adds, forward and backward.
    """
    count = len(inputs)
    sizes = np.array(sizes, float)
    legs = _legs(inputs, output, len(sizes))
    written = _size(legs, sizes)
    weight = (np.arange(1 << count) & sum(1 << i for i, flag in enumerate(variable) if flag)) != 0
    best, choice = np.zeros(1 << count), np.zeros(1 << count, np.int64)
    for number in range(2, count + 1):
        whole, part = _splits(count, number)
        other = whole[:, None] ^ part
        cost = best[part] + best[other]
        pair = written[whole][:, None] * _size(legs[part] & legs[other] & ~legs[whole][:, None], sizes)
        cost += pair * (1.0 + weight[part] + weight[other])
        chosen = cost.argmin(axis=1)
        rows = np.arange(len(whole))
        best[whole] = cost[rows, chosen] + TIE * written[whole]
        choice[whole] = part[rows, chosen]
    return _pairs(choice, count), float(best[-1])


def _legs(inputs, output, labels):
    """For every subset of operands: which labels its contraction keeps, as booleans (subsets, labels)."""
    subsets = np.arange(1 << len(inputs))
    everyone = len(subsets) - 1
    legs = np.zeros((len(subsets), labels), bool)
    for label in range(labels):
        holders = sum(1 << i for i, term in enumerate(inputs) if label in term)
        outside = True if label in output else (holders & ~subsets & everyone) != 0
        legs[:, label] = ((holders & subsets) != 0) & outside
    return legs


def _size(legs, sizes):
    return np.where(legs, sizes, 1.0).prod(axis=-1)


@lru_cache(maxsize=128)
def _splits(count, number):
    """All subsets of `number` operands among `count`, and for each its parts that hold its first operand."""
    members = np.array(list(combinations(range(count), number)), np.int64)
    bits = np.left_shift(1, members)
    chosen = np.arange(1 << (number - 1))[:-1]  # which of the other members join the first
    joins = (chosen[:, None] >> np.arange(number - 1)) & 1
    return bits.sum(axis=1), bits[:, :1] + bits[:, 1:] @ joins.T


def _pairs(choice, count):
    """The tree below the full set as pairs, children before parents."""
    pairs, numbers = [], {1 << i: i for i in range(count)}

    def visit(whole):
        if whole not in numbers:
            part = int(choice[whole])
            pairs.append((visit(part), visit(whole ^ part)))
            numbers[whole] = count + len(pairs) - 1
        return numbers[whole]

    visit((1 << count) - 1)
    return tuple(pairs)
