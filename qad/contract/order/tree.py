"""Contraction trees and their cost.

Each pair costs the product of all its index sizes in the forward pass, and as much again for each side that holds a
variable.
"""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from qad.contract.order.optimal import Labels, Pairs

    Network: TypeAlias = tuple[tuple[Labels, ...], Labels, tuple[int, ...], tuple[bool, ...]]

__all__ = ["Tree"]


class Tree:
    """A rooted contraction tree of a network.

    Parameters
    ----------
    network : tuple
        ``inputs, output, sizes, variable`` as in `qad.contract.order.optimal.optimal_order`.
    pairs : sequence of pairs of int
        The tree; results are numbered on from the operands.

    Attributes
    ----------
    children : dict
        Inner node -> its two children.  Operands are the nodes 0 ... n-1.
    legs : dict
        Node -> frozenset of the labels of its array.
    variables : dict
        Node -> number of variable operands below it.
    """

    network: Network
    sizes: tuple[int, ...]
    count: int
    children: dict[int, tuple[int, int]]
    legs: dict[int, frozenset[int]]
    variables: dict[int, int]

    def __init__(self, network: Network, pairs: Sequence[tuple[int, int]]):
        self.network = network
        inputs, output, self.sizes, variable = network
        self.count = len(inputs)
        self.legs = dict(enumerate(map(frozenset, inputs)))
        self.variables = dict(enumerate(map(int, variable)))
        self.children = dict(enumerate(pairs, self.count))
        holders = Counter(label for term in (*inputs, output) for label in term)  # arrays that hold each label
        for node, (left, right) in self.children.items():
            shared = self.legs[left] & self.legs[right]
            holders.subtract(shared)
            gone = {label for label in shared if holders[label] == 1}  # nobody else holds it: it is summed
            self.legs[node] = (self.legs[left] | self.legs[right]) - gone
            self.variables[node] = self.variables[left] + self.variables[right]

    def size(self, labels: Iterable[int]) -> int:
        """The number of elements of an array with these labels."""
        return prod(self.sizes[label] for label in labels)

    def cost(self) -> int:
        """Multiply-adds, value and gradient."""
        return sum(
            self.size(self.legs[one] | self.legs[two]) * (1 + (self.variables[one] > 0) + (self.variables[two] > 0))
            for one, two in self.children.values()
        )

    def pairs(self) -> Pairs:
        """The tree as pairs, children before parents."""
        return tuple(self.children.values())
