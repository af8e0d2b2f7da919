"""Contraction trees whose neighbouring nodes exchange operands.

A tree becomes any other by such exchanges: where one operand of a pair was itself made of a pair, ``(A B) C`` turns
into ``(A C) B`` or ``(C B) A``.  Only two costs change, those of value and gradient at the two nodes.
"""

from __future__ import annotations

from functools import cache
from math import inf, log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.contract.order.tree import Tree

__all__ = ["ACCURACY", "DRAWS", "FACTOR", "LOW", "WORD", "Exchanger"]

DRAWS = 1024  # different numbers between 0 and 1 that decide whether an exchange is accepted
WORD = 63  # labels in a word of 64 bits
ACCURACY = 12  # bits behind the point of logarithms of sizes, which are integers
FACTOR, LOW = 2083801278, (1 << 32) - 1  # random bits: a product of the lower half, the upper half carried (Marsaglia)


class Exchanger:
    """A tree that changes; nodes keep their numbers, and operands are 0 ... count-1.

    Sets of labels are integers, of which each label is one bit.  `qad.contract.run.compiled.exchange` takes the same
    steps.

    Attributes
    ----------
    count : int
        Of operands.
    left, right, held : lists of int
        For each node its children, and whether there is a variable below it.
    legs : list of int
        For each node the set of its labels.
    costs : list of float
        For each inner node the multiply-adds of value and gradient.
    weights : list of int
        For each word of a set the logarithm of the size of its labels.
    whole, part : lists of float
        Powers of 2: of integers, and of the fractions behind the point.
    draw : int
        The state of the random numbers.
    """

    count: int
    left: list[int]
    right: list[int]
    held: list[int]
    legs: list[int]
    costs: list[float]
    weights: list[int]
    masks: list[tuple[int, int]]
    whole: list[float]
    part: list[float]
    draw: int

    def __init__(self, tree: Tree, seed: int):
        nodes = range(2 * tree.count - 1)
        self.count, self.draw = tree.count, 7919 * seed + 12345
        bits, self.weights = _numbered(tree.sizes)
        self.legs = [sum(1 << bits[label] for label in tree.legs[node] if label in bits) for node in nodes]
        self.held = [int(tree.variables[node] > 0) for node in nodes]
        self.left, self.right = ([tree.children.get(node, (0, 0))[side] for node in nodes] for side in (0, 1))
        words = range(len(self.weights))
        self.masks = [
            (sum(((1 << WORD) - 1) << WORD * word for word in words if self.weights[word] == weight), weight)
            for weight in dict.fromkeys(self.weights)
        ]
        most = WORD * sum(self.weights) >> ACCURACY
        self.whole = [2.0**power if power < 1024 else inf for power in range(most + 1)]
        self.part = _fractions()
        self.costs = [0.0 if node < tree.count else self.cost(self.left[node], self.right[node]) for node in nodes]

    def size(self, labels: int) -> float:
        """The number of elements of an array with these labels."""
        power = 0
        for mask, weight in self.masks:
            power += weight * (labels & mask).bit_count()
        return self.whole[power >> ACCURACY] * self.part[power & (1 << ACCURACY) - 1]

    def cost(self, one: int, two: int) -> float:
        """Multiply-adds of the pair of two nodes."""
        return self.size(self.legs[one] | self.legs[two]) * (1 + self.held[one] + self.held[two])

    def sweep(self, times: int, limits: Sequence[float]) -> None:
        """Try an exchange at all inner nodes, so many times; `limits` says which growths of the cost are accepted."""
        left, right, held, legs, costs, size = self.left, self.right, self.held, self.legs, self.costs, self.size
        draw, count = self.draw, self.count
        for parent in [*range(count, 2 * count - 1)] * times:
            draw = FACTOR * (draw & LOW) + (draw >> 32)
            child, other = (right[parent], left[parent]) if draw & 1 else (left[parent], right[parent])
            if child < count:
                child, other = other, child
                if child < count:
                    continue
            one, two = (right[child], left[child]) if draw & 2 else (left[child], right[child])
            joined = legs[one] | legs[other]
            kept = joined & (legs[two] | legs[parent])
            below = held[one] | held[other]
            lower = size(joined) * (1 + held[one] + held[other])
            upper = size(kept | legs[two]) * (1 + below + held[two])
            if lower + upper <= (costs[child] + costs[parent]) * limits[draw >> 22 & DRAWS - 1]:
                left[child], right[child], held[child], legs[child] = one, other, below, kept
                left[parent], right[parent] = child, two
                costs[child], costs[parent] = lower, upper
        self.draw = draw

    def pairs(self) -> list[tuple[int, int]]:
        """The tree as pairs, children before parents."""
        numbers, found = list(range(2 * self.count - 1)), []
        order = [2 * self.count - 2]
        for node in order:
            order += [child for child in (self.left[node], self.right[node]) if child >= self.count]
        for node in reversed(order):
            found.append((numbers[self.left[node]], numbers[self.right[node]]))
            numbers[node] = self.count + len(found) - 1
        return found


@cache
def _fractions():
    """Powers of 2 from 1 to 2."""
    return [2.0 ** (power / (1 << ACCURACY)) for power in range(1 << ACCURACY)]


def _numbered(sizes):
    """The bit of each label, those of one size in words of their own; for each word the logarithm of that size."""
    bits, weights = {}, []
    for size in sorted({size for size in sizes if size > 1}):
        labels = [label for label, other in enumerate(sizes) if other == size]
        first = WORD * len(weights)
        bits.update((label, first + place) for place, label in enumerate(labels))
        weights += [round(log2(size) * (1 << ACCURACY))] * -(-len(labels) // WORD)
    return bits, weights
