"""Contraction trees: their cost, their root, and the improvement of annealed ones piece by piece.

A tree without a root says which arrays meet where; each inner vertex joins three messages and costs the product of its
index sizes once for every message that is needed.  With a root, the forward pass needs the messages towards it and the
gradient those towards the variables.  A root between two variables, or right at one, makes every forward message one
that the gradient needs too, so no other root is better.
"""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import TYPE_CHECKING

from qad.contract.order.optimal import LIMIT, optimal_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from qad.contract.order.optimal import Labels, Pairs

    Network: TypeAlias = tuple[tuple[Labels, ...], Labels, tuple[int, ...], tuple[bool, ...]]

__all__ = ["Tree", "improve"]

PIECE = 8  # operands of the piece that is replaced by its optimum
ROUNDS = 6  # sweeps over the tree at most; each stops where nothing improves
assert PIECE <= LIMIT


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
    root : int
    """

    network: Network
    sizes: tuple[int, ...]
    count: int
    children: dict[int, tuple[int, int]]
    legs: dict[int, frozenset[int]]
    variables: dict[int, int]
    root: int

    def __init__(self, network: Network, pairs: Sequence[tuple[int, int]]):
        self.network = network
        inputs, output, self.sizes, variable = network
        self.count = len(inputs)
        self.legs = dict(enumerate(map(frozenset, inputs)))
        self.variables = dict(enumerate(map(int, variable)))
        self.children = {}
        holders = Counter(label for term in (*inputs, output) for label in term)
        for node, (left, right) in enumerate(pairs, self.count):
            self.join(node, left, right, holders)
        self.root = self.count + len(pairs) - 1

    def join(self, node: int, left: int, right: int, holders: Counter[int]) -> None:
        """Make `node` the parent of two others.

        `holders` counts the arrays that hold each label; a label that nobody else holds is summed.
        """
        shared = self.legs[left] & self.legs[right]
        for label in shared:
            holders[label] -= 1
        gone = {label for label in shared if holders[label] == 1}
        self.children[node] = left, right
        self.legs[node] = (self.legs[left] | self.legs[right]) - gone
        self.variables[node] = self.variables[left] + self.variables[right]

    def size(self, labels: Iterable[int]) -> int:
        """The number of elements of an array with these labels."""
        return prod(self.sizes[label] for label in labels)

    def forward_cost(self, node: int) -> int:
        """Multiply-adds of the forward pass at an inner node."""
        left, right = self.children[node]
        return self.size(self.legs[left] | self.legs[right])

    def cost(self, nodes: Iterable[int] | None = None) -> int:
        """Multiply-adds, value and gradient, at all inner nodes or at some."""
        return sum(
            self.forward_cost(node) * (1 + sum(self.variables[child] > 0 for child in self.children[node]))
            for node in (self.children if nodes is None else nodes)
        )

    def below(self, top: int) -> list[int]:
        """Inner nodes from `top` down, parents first."""
        order, stack = [], [top]
        while stack:
            node = stack.pop()
            if node in self.children:
                order.append(node)
                stack.extend(self.children[node])
        return order

    def pairs(self) -> Pairs:
        """The tree as pairs, children before parents."""
        numbers = {node: node for node in range(self.count)}
        found = []
        for node in reversed(self.below(self.root)):
            left, right = self.children[node]
            found.append((numbers[left], numbers[right]))
            numbers[node] = self.count + len(found) - 1
        return tuple(found)


def improve(tree: Tree, over: Callable[[], bool]) -> Tree:
    """Lower the joint cost of a tree: move the root, and replace pieces by their optimum until none improves.

    Or until `over` says yes, which is asked at each node.
    """
    for _ in range(ROUNDS):
        tree, improved = rerooted(tree), False
        for node in tree.below(tree.root):
            if over():
                return rerooted(tree)
            improved |= node in tree.children and _replace_piece(tree, node)
        if not improved:
            break
    return rerooted(tree)


def rerooted(tree: Tree) -> Tree:
    """The same tree with its root on the smallest edge that lies between variables; open networks keep theirs."""
    inputs, output, _, variable = tree.network
    if output or len(inputs) < 3:
        return tree
    total = sum(variable)
    left, right = tree.children[tree.root]

    def fits(node):
        below = tree.variables[node]
        return not total or 0 < below < total or (below > 0 and (node < tree.count or node in (left, right)))

    neighbours = {node: list(pair) for node, pair in tree.children.items() if node != tree.root}
    edges = {node: parent for parent, pair in neighbours.items() for node in pair}
    edges[left] = right
    for node, parent in list(edges.items()):
        neighbours.setdefault(node, []).append(parent)
    if right in neighbours:
        neighbours[right].append(left)
    else:
        neighbours[right] = [left]
    place = min(filter(fits, edges), key=lambda node: tree.size(tree.legs[node]), default=None)
    if place is None:  # the root is at the only variable already
        return tree
    return Tree(tree.network, _oriented(neighbours, place, edges[place], tree.count))


def _oriented(neighbours, one, two, count):
    """Pairs of the tree whose root is the edge between two nodes."""
    order, stack = [], [(one, two), (two, one)]
    while stack:
        node, above = stack.pop()
        if node >= count:
            inner = [other for other in neighbours[node] if other != above]
            order.append((node, inner))
            stack.extend((other, node) for other in inner)
    numbers = {node: node for node in range(count)}
    pairs = []
    for node, inner in reversed(order):
        pairs.append(tuple(numbers[other] for other in inner))
        numbers[node] = count + len(pairs) - 1
    return (*pairs, (numbers[one], numbers[two]))


def _replace_piece(tree, top):
    """Replace the uppermost part of the tree below `top` by its optimum; whether that lowered the cost."""
    inner, leaves = _piece(tree, top)
    if len(leaves) < 3:
        return False
    numbers = {}
    terms = tuple(
        tuple(numbers.setdefault(label, len(numbers)) for label in sorted(tree.legs[leaf])) for leaf in leaves
    )
    output = tuple(numbers[label] for label in sorted(tree.legs[top]))
    held = tuple(tree.variables[leaf] > 0 for leaf in leaves)
    pairs, cost = optimal_order(terms, output, tuple(tree.sizes[label] for label in numbers), held)
    if cost >= tree.cost(inner) * (1 - 1e-9):
        return False
    _graft(tree, top, inner, leaves, pairs)
    return True


def _piece(tree, top):
    """Inner nodes and leaves of a connected piece below `top`, grown where the tree is most expensive."""
    inner, leaves = [top], list(tree.children[top])
    while len(leaves) < PIECE:
        open_nodes = [leaf for leaf in leaves if leaf in tree.children]
        if not open_nodes:
            break
        node = max(open_nodes, key=tree.forward_cost)
        leaves.remove(node)
        leaves.extend(tree.children[node])
        inner.append(node)
    return inner, leaves


def _graft(tree, top, inner, leaves, pairs):
    """Put another order of the same leaves in the place of a piece; its top keeps its number."""
    holders = Counter(label for node in (*leaves, top) for label in tree.legs[node])
    for node in inner:
        del tree.children[node]
    nodes = [*leaves, *inner[1:], top]
    for node, (left, right) in zip(nodes[len(leaves) :], pairs, strict=True):
        tree.join(node, nodes[left], nodes[right], holders)
