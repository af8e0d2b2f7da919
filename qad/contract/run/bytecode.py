"""A contraction as a table of numbers: what `qad.contract.run.compiled.loop` carries out on one block of memory.

Where the arrays are small, Python's own time for views and calls exceeds that of the products.  So the pairs of a plan
are written down once, as numbers: products of matrices, elementwise products, and copies that bring an operand's axes
in order.  Every array is a piece of a block, at a place that is known beforehand.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qad.contract.run.table import LoopTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qad.contract.order.optimal import Labels
    from qad.contract.plan.data import PlanData
    from qad.contract.run.pair import Pair


__all__ = ["Bytecode"]


class Bytecode:
    """The forward and the backward pass of a plan for some operands, for blocks of any dtype.

    Parameters
    ----------
    plan : PlanData
    steps, back : sequences
        The steps of the forward pass and of the backward pass, as in `qad.contract.run.execute.Execution`.
    kept : sequence of int
        The nodes that the backward pass needs.

    Attributes
    ----------
    leaves : tuple of int
        The nodes that are given: operands, and what constants make.
    inputs : int
        They lie one after another at the beginning of the forward block, this many elements.
    forward, backward : arrays of int64
    size, back_size : int
        Elements of the blocks.
    """

    sizes: Sequence[int]
    terms: Sequence[Labels]
    leaves: tuple[int, ...]
    inputs: int
    forward: np.ndarray
    backward: np.ndarray
    size: int
    back_size: int

    def __init__(
        self,
        plan: PlanData,
        steps: Sequence[tuple[int, int, int, Pair]],
        kept: Sequence[int],
        back: Sequence[tuple[int, int, int, Pair | None, Pair | None]],
    ):
        self.sizes, self.terms = plan.sizes, plan.terms
        made = {node for node, *_ in steps}
        self.leaves = tuple(sorted({child for _, left, right, _ in steps for child in (left, right)} - made))
        pieces, made = self._forward(steps, kept)
        self._backward(back, pieces, made)
        self._values = self._views(pieces)

    def _forward(self, steps, kept):
        """Write `forward`; returns where the values lie at its end, and in which order their products left them."""
        table = LoopTable(self.sizes, True)
        pieces = {node: table.piece(self.terms[node]) for node in self.leaves}
        self.inputs = table.top
        made = {node: piece.labels for node, piece in pieces.items()}
        for node, left, right, _ in steps:
            out, *used = table.product(pieces[left], pieces[right], self.terms[node])
            for child, piece in zip((left, right), used, strict=True):
                inner = child not in self.leaves
                if inner and piece is not pieces[child]:
                    table.release(pieces[child])
                pieces[child] = piece  # in an order that suits the backward pass too
                if inner and child not in kept:
                    table.release(piece)
            pieces[node], made[node] = out, out.labels
        self.forward, self.size = table.code(), table.top
        return pieces, made

    def _backward(self, steps, pieces, made):
        """Write `backward`.

        The cotangents of the leaves lie at the beginning of the block, those of one shape side by side; any other is
        asked for in the order in which its value was made.
        """
        table, root = LoopTable(self.sizes, False), len(self.terms) - 1
        homes = self._homes(table, steps)
        found = {root: table.piece(made[root])}
        self._root = self._views(found)
        for node, left, right, to_left, to_right in steps:
            sides = [(child, other) for child, other, to in ((left, right, to_left), (right, left, to_right)) if to]
            cotangent = found[node]
            for child, other in sides:
                found[child], *used = table.product(cotangent, pieces[other], made[child], homes.get(child))
                for piece, before in zip(used, (cotangent, pieces[other]), strict=True):
                    if piece is not before:
                        table.release(piece)
            table.release(cotangent)
        self.backward, self.back_size = table.code(), table.top

    def _homes(self, table, steps):
        """Reserve memory for the cotangents of all leaves, and note in `_stacks` which form a stack."""
        wanted = sorted(
            {
                child
                for _, *pair, to_left, to_right in steps
                for child, to in zip(pair, (to_left, to_right), strict=True)
                if to and child in self.leaves
            }
        )
        shape = {node: tuple([self.sizes[label] for label in self.terms[node]]) for node in wanted}
        homes, self._stacks = {}, []
        for one in dict.fromkeys(shape.values()):
            nodes, start = [node for node in wanted if shape[node] == one], table.top
            homes |= {node: table.piece(self.terms[node]) for node in nodes}
            self._stacks.append((nodes, slice(start, table.top), (len(nodes), *one)))
        return homes

    def values(self, block: np.ndarray, nodes: Iterable[int]) -> dict[int, np.ndarray]:
        """The values of nodes, views of a forward block, by node."""
        return _pieces(block, self._values, nodes)

    def seed(self, block: np.ndarray) -> np.ndarray:
        """The cotangent of the result, a view of a backward block, to be written."""
        (root,) = self._root
        return _pieces(block, self._root, (root,))[root]

    def cotangents(self, block: np.ndarray) -> dict[int, np.ndarray]:
        """The cotangents of the leaves, views of a backward block, by node."""
        found = {}
        for nodes, place, shape in self._stacks:
            stack = block[place].reshape(shape)
            found.update(
                zip(nodes, stack if len(shape) > 1 else [stack[i, ...] for i in range(len(nodes))], strict=True)
            )
        return found

    def _views(self, pieces):
        """For each node where it lies, its shape there, and if need be how to transpose and reshape it."""
        found = {}
        for node, piece in pieces.items():
            term = self.terms[node]
            wide = tuple([label for label in term if self.sizes[label] != 1])
            order = tuple(map(piece.labels.index, wide)) if wide != piece.labels else None
            there, shape = (tuple([self.sizes[label] for label in labels]) for labels in (piece.labels, term))
            found[node] = slice(piece.start, piece.start + prod(there)), shape if order is None else there, order, shape
        return found


def _pieces(block, places, nodes):
    found = {}
    for node in nodes:
        place, there, order, shape = places[node]
        array = block[place].reshape(there)
        found[node] = array if order is None else array.transpose(order).reshape(shape)
    return found
