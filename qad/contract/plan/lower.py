"""Lowering: a pairwise contraction as one product of matrices, with as few copies as possible.

The labels of a pair fall into four groups: summed (in both operands only), batch (in both and the result), and the
free labels of either operand.  A group whose labels lie side by side in memory is one axis of a matrix without a copy,
and BLAS takes either order of the two axes.  Where the groups are interleaved, the outer ones may become loop axes of
``matmul``, or the operand is copied; a small cost model decides.  The result is a Python expression in ``a`` and ``b``
made of views and one product, which is compiled once and printed by ``print(plan)``.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from typing import TypeAlias

    Three: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # for both operands and the result

__all__ = ["_Problem", "canonical", "lowered"]

# nanoseconds of one core, for complex128, beyond multiply-adds; only ratios matter (``python -m benchmarks.costs``)
PRODUCT_CALL, MATMUL_CALL = 150.0, 1000.0  # one product of a stack; the stack
SMALLER_OPERAND, LARGER_OPERAND, RESULT = 2.0, 0.6, 0.75  # per element
COPY_CALL, COPY_ELEMENT, COPY_RUN = 500.0, 2.0, 6.0  # a run: elements whose distance stays the same on both sides
MISPLACED = 0.75  # of a copy: the reader of a result in the wrong order may have to copy it


def canonical(terms: Iterable[Iterable[Hashable]]) -> tuple[tuple[int, ...], ...]:
    """The same terms with labels numbered in order of first appearance, so that equal structures share a cache."""
    numbers = {}
    return tuple(tuple(numbers.setdefault(label, len(numbers)) for label in term) for term in terms)


def lowered(labels: Three, shapes: Three) -> str:
    """The cheapest way to contract two operands that lie C-contiguous in memory.

    Parameters
    ----------
    labels : three tuples of int
        Of the operands and the result; no label twice in one, each in at least two of the three.
    shapes : three tuples of int

    Returns
    -------
    str
        An expression in ``a`` and ``b`` whose value has the axes of the result.
    """
    problem = _Problem(labels, shapes)
    if not problem.summed:
        return problem.multiply()
    if not problem.out:
        return problem.full()
    return problem.matrix(*min(problem.choices(), key=lambda choice: problem.cost(*choice)))


class _Problem:
    """One pair, its labels of size 1 taken out: they never move data."""

    def __init__(self, labels, shapes):
        self.sizes = sizes = {
            label: size
            for term, shape in zip(labels, shapes, strict=True)
            for label, size in zip(term, shape, strict=True)
        }
        self.shapes = shapes
        self.left, self.right, self.out = (tuple([label for label in term if sizes[label] != 1]) for term in labels)
        both = set(self.left).intersection(self.right)
        self.batch = both.intersection(self.out)
        self.summed = both.difference(self.out)

    def size(self, labels):
        return prod([self.sizes[label] for label in labels])

    def copy_cost(self, labels, order):
        """Of an array, in another order of its axes."""
        run = list(order[-1:])
        for label in order[-2::-1]:
            if labels.index(label) + 1 != labels.index(run[-1]):
                break
            run.append(label)
        runs = self.size(set(order).difference(run))
        return COPY_CALL + COPY_ELEMENT * self.size(order) + COPY_RUN * runs

    def multiply(self):
        """Nothing is summed: an elementwise product, both operands spread over the axes of the result."""
        axes = [[label] for label in self.out]
        one = self.view("a", self.left, self.shapes[0], _only(axes, self.left))
        two = self.view("b", self.right, self.shapes[1], _only(axes, self.right))
        return _reshaped(f"({one} * {two})", tuple(self.size(axis) for axis in axes), self.shapes[2])

    def full(self):
        """Everything is summed: a dot product of the flattened operands, the second in the order of the first."""
        one = self.view("a", self.left, self.shapes[0], [self.left])
        two = self.view("b", self.right, self.shapes[1], [self.left])
        return _reshaped(f"{one}.dot({two})", (), self.shapes[2])

    def choices(self):
        """All ways to make it a product of matrices: the form of either operand, and whether the second one leads."""
        same = self.order(self.left) == self.order(self.right)
        for one, two, swap in product(self.forms(self.left), self.forms(self.right), (False, True)):
            if same or one[1] or two[1]:
                yield one, two, swap

    def order(self, labels):
        return [label for label in labels if label in self.summed]

    def forms(self, labels):
        """Ways to see an operand as matrices: (labels looped over, whether it is copied)."""
        free = [label for label in labels if label not in self.summed and label not in self.batch]
        found = [((), True)]
        for split in range(len(labels) + 1):
            loops = tuple(label for label in labels[:split] if label in free)
            if (loops, False) not in found and self.fits(labels, loops):
                found.append((loops, False))
        return found

    def fits(self, labels, loops):
        """Whether the axes left after looping are one or two runs in memory, the innermost axis among them."""
        kinds = [self.kind(label, loops) for label in labels]
        runs = [kind for place, kind in enumerate(kinds) if place == 0 or kinds[place - 1] != kind or kind == "loop"]
        return kinds[-1] != "loop" and runs.count("free") <= 1 and runs.count("sum") <= 1

    def kind(self, label, loops):
        if label in self.summed:
            return "sum"
        return "loop" if label in self.batch or label in loops else "free"

    def groups(self, one, two):
        """For one choice of forms: loop axes, free axes of either operand, summed ones, in the order of the product."""
        looped = self.batch.union(one[0], two[0])
        loops = [label for label in self.out if label in looped]
        summed = self.order(self.right if one[1] and not two[1] else self.left)
        return loops, self.free(self.left, looped, one[1]), self.free(self.right, looped, two[1]), summed

    def cost(self, one, two, swap):
        """Estimated nanoseconds of one choice beyond the multiply-adds."""
        loops, free_left, free_right, summed = self.groups(one, two)
        m, n, k, calls = self.size(free_left), self.size(free_right), self.size(self.summed), self.size(loops)
        small, large = sorted((m * k, k * n))
        cost = calls * (PRODUCT_CALL + SMALLER_OPERAND * small + LARGER_OPERAND * large + RESULT * m * n)
        cost += bool(loops) * MATMUL_CALL
        for form, labels, free, leads in (one, self.left, free_left, not swap), (two, self.right, free_right, swap):
            if form[1]:
                own = [label for label in loops if label in labels]
                cost += self.copy_cost(labels, [*own, *free, *summed] if leads else [*own, *summed, *free])
        order = (*loops, *free_right, *free_left) if swap else (*loops, *free_left, *free_right)
        return cost + (order != self.out and MISPLACED * self.copy_cost(order, self.out))

    def matrix(self, one, two, swap):
        """The expression for one choice."""
        loops, free_left, free_right, summed = self.groups(one, two)
        sides = [("a", self.left, self.shapes[0], free_left), ("b", self.right, self.shapes[1], free_right)]
        first, second = sides[::-1] if swap else sides
        source, shape = self.product(first, second, loops, summed)
        return self.placed(source, shape, (*loops, *first[3], *second[3]))

    def free(self, labels, looped, copied):
        """The free labels of an operand in the order in which the product leaves them."""
        order = self.out if copied else labels
        return [label for label in order if label in labels and label not in looped and label not in self.summed]

    def product(self, first, second, loops, summed):
        """The product of two matrices, or of stacks of them where there are loops, and its shape."""
        one_free, two_free = first[3], second[3]
        if not loops:
            one = self.view(*first[:3], [group for group in (one_free, summed) if group])
            two = self.view(*second[:3], [group for group in (summed, two_free) if group])
            return f"{one}.dot({two})", tuple(self.size(group) for group in (one_free, two_free) if group)
        axes = [[label] for label in loops]
        one = self.view(*first[:3], [*_only(axes, first[1]), one_free, summed])
        two = self.view(*second[:3], [*_only(axes, second[1]), summed, two_free])
        return f"({one} @ {two})", tuple(self.size(group) for group in (*axes, one_free, two_free))

    def placed(self, source, shape, order):
        """The product's axes split into labels and put where the result wants them."""
        if order == self.out:
            return _reshaped(source, shape, self.shapes[2])
        source = _reshaped(source, shape, tuple(self.sizes[label] for label in order))
        source = _transposed(source, [order.index(label) for label in self.out])
        return _reshaped(source, tuple(self.sizes[label] for label in self.out), self.shapes[2])

    def view(self, name, labels, shape, groups):
        """An operand with one axis per group of labels; a group that it lacks is an axis of size 1."""
        runs = [group for group in groups if group]
        place = {label: number for number, run in enumerate(runs) for label in run}
        memory = [list(run) for run in _runs(labels, place.get)]
        sizes = tuple(map(self.size, groups))
        if sorted(memory) == sorted(map(list, runs)):
            order = [memory.index(list(run)) for run in runs]
            text, axes = name, tuple(map(self.size, memory))
        else:
            order = [labels.index(label) for run in runs for label in run]
            text, axes = name, tuple(self.sizes[label] for label in labels)
        if order == sorted(order):
            return _reshaped(text, shape, sizes)
        text = _transposed(_reshaped(text, shape, axes), order)
        return _reshaped(text, tuple(axes[axis] for axis in order), sizes)


def _only(groups, labels):
    """Loop axes as an operand sees them: without the leading ones that it lacks, which broadcasting adds."""
    own = [group if group[0] in labels else [] for group in groups]
    while own and not own[0]:
        own.pop(0)
    return own


def _runs(labels, key):
    """Split a sequence into maximal runs of equal key."""
    runs = []
    for label in labels:
        if runs and key(runs[-1][-1]) == key(label):
            runs[-1].append(label)
        else:
            runs.append([label])
    return runs


def _reshaped(text, current, shape):
    if current == shape:
        return text
    return f"{text}.ravel()" if len(shape) == 1 else f"{text}.reshape({shape})"


def _transposed(text, order):
    if order == sorted(order):
        return text
    if order == [1, 0]:
        return f"{text}.T"
    if order[:-2] == sorted(order[:-2]) and order[-2:] == [len(order) - 1, len(order) - 2]:
        return f"{text}.mT"
    return f"{text}.transpose({tuple(order)})"
