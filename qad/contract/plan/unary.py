"""Steps on one operand: diagonals, sums over labels of its own, stretched axes of size 1, the order of axes.

`reduce` takes an operand to the labels that the rest of the network knows; `spread` is its transpose.  Both are
linear, and each is the other's derivative.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import like, primitive, rule
from qad.extend.structure import CONTRACTIONS

if TYPE_CHECKING:
    from typing import Any

    from qad.typing import Array

__all__ = ["Single", "single", "reduce", "spread"]


class Single:
    """How to take an operand to an output term: immutable, shared through the cache of `single`.

    Attributes
    ----------
    labels, out : tuple of int
        The operand's labels (repeated ones ask for a diagonal) and the labels kept, each once; the others are summed.
    shape, out_shape : tuple of int
    """

    __slots__ = ("labels", "out", "shape", "out_shape", "_sums", "_order", "_merged", "_spread")
    labels: tuple[int, ...]
    out: tuple[int, ...]
    shape: tuple[int, ...]
    out_shape: tuple[int, ...]

    def __init__(self, labels: tuple[int, ...], out: tuple[int, ...], shape: tuple[int, ...]):
        self.labels, self.out, self.shape = labels, out, shape
        size = dict(zip(labels, shape, strict=True))
        self.out_shape = tuple(size[label] for label in out)
        merged = tuple(dict.fromkeys(labels))
        self._sums = tuple(axis for axis, label in enumerate(merged) if label not in out)
        kept = tuple(label for label in merged if label in out)
        self._order = tuple(map(kept.index, out)) if kept != out else None
        self._merged = merged, tuple(size[label] for label in merged)
        self._spread = tuple(map(out.index, kept)), tuple(size[label] if label in out else 1 for label in merged)

    def run(self, a: Array) -> Array:
        """View the diagonals, sum the other labels, put the axes in order."""
        labels, _ = self._merged
        if labels != self.labels:
            a = np.einsum(a, self.labels, labels)
        if self._sums:
            a = np.add.reduce(a, self._sums, a.dtype)
        return a if self._order is None else a.transpose(self._order)

    def run_back(self, g: Array) -> Array:
        """The transpose: axes put back, sums broadcast, diagonals embedded in zeros."""
        order, ones = self._spread
        labels, shape = self._merged
        if self._order is not None:
            g = g.transpose(order)
        if self._sums:
            g = np.broadcast_to(g.reshape(ones), shape)
        if labels == self.labels:
            return g
        result = like(g).zeros(self.shape, g.dtype)
        np.einsum(result, self.labels, labels)[...] = g  # a view of the diagonals
        return result

    def __repr__(self) -> str:
        return f"Single({self.labels} -> {self.out}, {self.shape})"

    def __reduce__(self) -> tuple[Any, ...]:
        return single, (self.labels, self.out, self.shape)


@lru_cache(maxsize=4096)
def single(labels: tuple[int, ...], out: tuple[int, ...], shape: tuple[int, ...]) -> Single:
    """The recipe of a step on one operand, from a bounded cache; arguments as the attributes of `Single`."""
    return Single(labels, out, shape)


def _with_batch(recipe, size):
    label = 1 + max(recipe.labels, default=-1)
    return single((label, *recipe.labels), (label, *recipe.out), (size, *recipe.shape))


@primitive
def reduce(a: Array, *, recipe: Single) -> Array:
    """Take one operand to its output term as a `Single` says."""
    return recipe.run(a)


@primitive
def spread(g: Array, *, recipe: Single) -> Array:
    """The transpose of `reduce`: broadcast over summed labels, zeros off the diagonals."""
    return recipe.run_back(g)


rule(
    reduce,
    lambda g, ans, a, *, recipe: spread(g, recipe=recipe),
    linear=True,
    batch=lambda batched, a, *, recipe: reduce(a, recipe=_with_batch(recipe, len(a))),
    shows=True,
)
CONTRACTIONS[reduce] = lambda a, *, recipe: (recipe.labels, recipe.out)
rule(
    spread,
    lambda g, ans, a, *, recipe: reduce(g, recipe=recipe),
    linear=True,
    batch=lambda batched, g, *, recipe: spread(g, recipe=_with_batch(recipe, len(g))),
    shows=True,
)
