"""Sums of entries that share an index (scatter), the transpose of picking entries by index (gather)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import is_foreign, like, primitive, rule

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike


class Indices:
    """Where each entry of a last axis goes, sorted once.

    Parameters
    ----------
    indices : sequence of int, length E
    size : int
        Length of the axis that results.
    """

    __slots__ = ("indices", "size", "_order", "_starts", "_reached")
    indices: np.ndarray
    size: int

    def __init__(self, indices: ArrayLike, size: int):
        self.indices, self.size = np.asarray(indices, np.intp), int(size)
        order = self.indices.argsort(kind="stable")
        self._reached, self._starts = np.unique(self.indices[order], return_index=True)
        self._order = None if np.array_equal(order, np.arange(len(order))) else order

    def add(self, x: np.ndarray) -> np.ndarray:
        """Sums (..., size) of the entries of `x` (..., E) that share an index."""
        if is_foreign(x):
            out = like(x).zeros((*x.shape[:-1], self.size), x.dtype)
            np.add.at(out, (..., self.indices), x)
            return out
        x = x if self._order is None else x[..., self._order]
        sums = np.add.reduceat(x, self._starts, -1) if x.shape[-1] != len(self._reached) else x
        if len(self._reached) == self.size:
            return sums if sums is not x or self._order is not None else x.copy()
        out = np.zeros((*x.shape[:-1], self.size), x.dtype)
        out[..., self._reached] = sums
        return out


@primitive
def scatter(x: Array, *, indices: Indices) -> Array:
    """`Indices.add` as a primitive."""
    return indices.add(x)


@primitive
def gather(x: Array, *, indices: Indices) -> Array:
    """The entries of the last axis at `indices`."""
    return x[..., indices.indices]


rule(scatter, lambda g, ans, x, *, indices: gather(g, indices=indices), linear=True, fresh=True)
rule(gather, lambda g, ans, x, *, indices: scatter(g, indices=indices), linear=True, fresh=True)
