"""A contraction as a table of numbers: what `qad.contract.compiled.loop` carries out on one block of memory.

Where the arrays are small, Python's own time for views and calls exceeds that of the products.  So the pairs of a plan
are written down once, as numbers: products of matrices, elementwise products, and copies that bring an operand's axes
in order.  Every array is a piece of a block, at a place that is known beforehand.
"""

from collections import namedtuple
from itertools import chain
from math import prod

import numpy as np

from qad.contract.costs import MISPLACED
from qad.contract.entries import Copy, Multiply, Product, entry
from qad.contract.pair import outcome

__all__ = ["Bytecode"]

SHORT = 8  # the innermost loop of a copy writes elements side by side, unless it were shorter than this

Piece = namedtuple("Piece", "labels start kept")
Piece.__doc__ = """An array in a block: its labels of more than one value in their order in memory, where it begins,
and whether it is in the block of the forward pass."""


class Bytecode:
    """The forward and the backward pass of a plan for some operands, for blocks of any dtype.

    Parameters
    ----------
    plan : Plan
    steps, back : sequences
        The steps of the forward pass and of the backward pass, as in `qad.contract.execute.Execution`.
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

    def __init__(self, plan, steps, kept, back):
        self.sizes, self.terms = plan.sizes, plan.terms
        made = {node for node, *_ in steps}
        self.leaves = tuple(sorted({child for _, left, right, _ in steps for child in (left, right)} - made))
        pieces, made = self._forward(steps, kept)
        self._backward(back, pieces, made)
        self._values = self._views(pieces)

    def _forward(self, steps, kept):
        """Write `forward`; returns where the values lie at its end, and in which order their products left them."""
        table = Table(self.sizes, True)
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
        table, root = Table(self.sizes, False), len(self.terms) - 1
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

    def values(self, block, nodes):
        """The values of nodes, views of a forward block, by node."""
        return _pieces(block, self._values, nodes)

    def seed(self, block):
        """The cotangent of the result, a view of a backward block, to be written."""
        (root,) = self._root
        return _pieces(block, self._root, (root,))[root]

    def cotangents(self, block):
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


class Table:
    """Entries for one block, and which of its memory is in use."""

    def __init__(self, sizes, kept):
        self.sizes, self.kept, self.entries, self.free, self.top = sizes, kept, [], [], 0

    def code(self):
        """The entries as one array; each begins with its kind and ends where the next begins."""
        return np.array(list(chain(*self.entries)), np.int64)

    def size(self, labels):
        return prod([self.sizes[label] for label in labels])

    def piece(self, labels):
        """Memory for an array, in a gap if there is one."""
        labels = tuple([label for label in labels if self.sizes[label] != 1])
        size = self.size(labels)
        for place, (start, length) in enumerate(self.free):
            if length >= size:
                self.free[place] = start + size, length - size
                return Piece(labels, start, self.kept)
        self.top += size
        return Piece(labels, self.top - size, self.kept)

    def release(self, piece):
        self.free.append((piece.start, self.size(piece.labels)))
        self.free.sort(key=lambda gap: gap[1])

    def product(self, left, right, term, home=None):
        """Entries for one pair, its result in the order of `term` if that comes for free, or at `home` in any case.

        Returns
        -------
        tuple of three Pieces
            The result, and both operands in the order of axes in which they were used.
        """
        term = tuple([label for label in term if self.sizes[label] != 1])
        batch, summed = outcome(left.labels, right.labels, term)
        if not summed:
            return self.multiply(left, right, term, home), left, right
        _, order, sums, swap, copies = min(self.forms(left, right, term), key=lambda form: form[0])
        sides = []
        for side, copied in zip((left, right), copies, strict=True):
            loose = _free(term, side.labels, batch, summed)
            sides.append(self.copy(side, (*order, *loose, *sums)) if copied else side)
        return self.matrices(*(sides[::-1] if swap else sides), order, sums, home), *sides

    def forms(self, left, right, term):
        """Ways to make a pair a product of matrices: (cost, batch labels, summed labels, whether the second operand
        comes first, whether either is copied)."""
        batch, summed = outcome(left.labels, right.labels, term)
        for copies in ((False, False), (False, True), (True, False), (True, True)) if summed else ():
            fixed = [side.labels for side, copied in zip((left, right), copies, strict=True) if not copied]
            orders = {tuple(filter(batch.__contains__, labels)) for labels in fixed} or {
                tuple(filter(batch.__contains__, term))
            }
            sums = {tuple(filter(summed.__contains__, labels)) for labels in fixed} or {
                tuple(filter(summed.__contains__, left.labels))
            }
            if len(orders) > 1 or len(sums) > 1 or not all(_is_matrix(labels, batch, summed) for labels in fixed):
                continue
            (order,), (sums,) = orders, sums
            cost = sum(self.size(side.labels) for side, copied in zip((left, right), copies, strict=True) if copied)
            one, two = (
                _free(term if copied else side.labels, side.labels, batch, summed)
                for side, copied in zip((left, right), copies, strict=True)
            )
            for swap, result in ((False, (*order, *one, *two)), (True, (*order, *two, *one))):
                yield cost + (result != term) * MISPLACED * self.size(term), order, sums, swap, copies

    def matrices(self, first, second, batch, sums, home=None):
        """A product of matrices, or of stacks of them."""
        shared = {*batch, *sums}
        rows, columns = (tuple([label for label in side.labels if label not in shared]) for side in (first, second))
        m, k, n, count = map(self.size, (rows, sums, columns, batch))
        turned_first = first.labels[len(batch) :] != (*rows, *sums)
        turned_second = second.labels[len(batch) :] != (*sums, *columns)
        labels = (*batch, *rows, *columns)
        out = home if home is not None and home.labels == labels else self.piece(labels)
        sides, form = (first.kept, first.start, second.kept, second.start), turned_first + 2 * turned_second
        self.entries.append(entry(Product(*sides, out.start, m, k, n, form, count)))
        if home is None or out is home:
            return out
        self.release(out)
        return self.copy(out, home.labels, home)

    def multiply(self, left, right, term, home=None):
        """Nothing is summed: an elementwise product, both operands spread over the axes of the result."""
        out = home or self.piece(term)
        axes = self.axes(term, left.labels, right.labels) or [(1, 0, 0)]
        fields = Multiply(left.kept, left.start, right.kept, right.start, out.start, len(axes))
        self.entries.append(entry(fields, *chain(*zip(*axes, strict=True))))
        return out

    def copy(self, piece, labels, home=None):
        """Another order of axes, long ones copied by the innermost loops."""
        out = home or self.piece(labels)
        axes = self.axes(labels, piece.labels, labels)
        axes = [(1, 0, 0)] * (3 - len(axes)) + sorted(axes, key=lambda axis: (axis[2] == 1 and axis[0] >= SHORT, axis))
        fields = Copy(piece.kept, piece.start, out.start, len(axes))
        self.entries.append(entry(fields, *chain(*zip(*axes, strict=True))))
        return out

    def axes(self, order, *arrays):
        """For the labels of `order` the size, and the steps in arrays of other labels; one axis for those that stay
        side by side."""
        axes = []
        for label, *steps in zip(order, *(self.strides(labels, order) for labels in arrays), strict=True):
            size = self.sizes[label]
            if axes and axes[-1][1:] == tuple([step * size for step in steps]):
                size *= axes.pop()[0]
            axes.append((size, *steps))
        return axes

    def strides(self, labels, order):
        """The distance of neighbours along each label of `order` in an array; 0 where it lacks the label."""
        return [self.size(labels[labels.index(label) + 1 :]) if label in labels else 0 for label in order]


def _free(order, labels, batch, summed):
    """The labels that are neither batch nor summed, in an order."""
    return tuple([label for label in order if label in labels and label not in batch and label not in summed])


def _is_matrix(labels, batch, summed):
    """Whether an array is a stack of matrices as it lies: batch labels, then two runs of free and summed ones."""
    kinds = [0 if label in batch else 1 + (label in summed) for label in labels]
    changes = [kind for place, kind in enumerate(kinds) if place == 0 or kinds[place - 1] != kind]
    return len(set(changes)) == len(changes) and 0 not in changes[1:]
