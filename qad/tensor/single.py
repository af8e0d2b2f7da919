"""Steps on one operand: diagonals, sums over labels of its own, stretched axes of size 1, the order of axes.

`reduce` takes an operand to the labels that the rest of the network knows; `spread` is its transpose.  Both are
linear, and each is the other's derivative.
"""

from functools import lru_cache
from math import prod

import numpy as np

from qad.extend import defvjp, primitive

__all__ = ["Single", "single", "reduce", "spread"]


class Single:
    """How to take an operand to an output term: immutable, shared through the cache of `single`.

    Attributes
    ----------
    labels, out : tuple of int
        The operand's labels (repeated ones ask for a diagonal) and the labels kept, each once; the others are summed.
    shape, out_shape : tuple of int
    """

    __slots__ = ("labels", "out", "shape", "out_shape", "_places", "_inner_shape", "_sums", "_spread_shape", "_order")

    def __init__(self, labels, out, shape):
        self.labels, self.out, self.shape = labels, out, shape
        size = dict(zip(labels, shape, strict=True))
        distinct = tuple(size)
        self.out_shape = tuple(size[label] for label in out)
        self._places = tuple(map(distinct.index, labels))
        self._inner_shape = tuple(size.values())
        self._sums = tuple(axis for axis, label in enumerate(distinct) if label not in out)
        self._spread_shape = tuple(size[label] if label in out else 1 for label in distinct)
        kept = tuple(label for label in distinct if label in out)
        self._order = tuple(map(kept.index, out))

    def run(self, a):
        """View the diagonals, sum the other labels, put the axes in order."""
        if len(self._inner_shape) < len(self.shape):
            a = _diagonals(a, self._places)
        if self._sums:
            if prod(self._inner_shape) == prod(self.out_shape):
                a = a.reshape([self._inner_shape[axis] for axis in range(a.ndim) if axis not in self._sums])
            else:
                a = a.sum(self._sums, dtype=a.dtype)
        return a.transpose(self._order) if a.ndim > 1 else a

    def run_back(self, g):
        """The transpose: axes put back, sums broadcast, diagonals embedded in zeros."""
        if g.ndim > 1:
            g = g.transpose(np.argsort(self._order))
        if self._sums:
            g = np.broadcast_to(g.reshape(self._spread_shape), self._inner_shape)
        if len(self._inner_shape) == len(self.shape):
            return g
        result = np.zeros(self.shape, g.dtype, like=g)
        np.einsum(result, self._places, range(len(self._inner_shape)))[...] = g  # a view of the diagonals
        return result

    def __repr__(self):
        return f"Single({self.labels} -> {self.out}, {self.shape})"

    def __reduce__(self):
        return single, (self.labels, self.out, self.shape)


def _diagonals(a, places):
    """A view in which the axes that share a place are one axis; places count up in order of first appearance."""
    for axis in range(len(places) - 1, -1, -1):
        first = places.index(places[axis])
        if first < axis:
            a = np.moveaxis(a.diagonal(0, first, axis), -1, first)
            places = places[:axis] + places[axis + 1 :]
    return a


@lru_cache(maxsize=4096)
def single(labels, out, shape):
    """The recipe of a step on one operand, from a bounded cache; arguments as the attributes of `Single`."""
    return Single(labels, out, shape)


@primitive
def reduce(a, *, recipe):
    """Take one operand to its output term as a `Single` says."""
    return recipe.run(a)


@primitive
def spread(g, *, recipe):
    """The transpose of `reduce`: broadcast over summed labels, zeros off the diagonals."""
    return recipe.run_back(g)


defvjp(reduce, lambda g, ans, a, *, recipe: spread(g, recipe=recipe), linear=True)
defvjp(spread, lambda g, ans, a, *, recipe: reduce(g, recipe=recipe), linear=True)
