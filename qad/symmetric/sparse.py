"""Products with small constant tensors that are nearly empty, such as the site tensors of an operator.

Each entry that is not zero adds blocks of the other tensor, times the entry, to blocks of the result.  That takes a
pass over the data for each entry, no matrices, and any layout of the result comes at no cost.  For plain arrays, as in
sweeps: it is no primitive.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qad.symmetric.blocks.kernels import added, parted
from qad.symmetric.blocks.layout import layout
from qad.symmetric.tensor import bare

if TYPE_CHECKING:
    from qad.symmetric.blocks.layout import Layout, Pairing
    from qad.symmetric.tensor import SymTensor

__all__ = ["Entries", "applied"]


class Entries:
    """The entries of a constant symmetric tensor that are not zero.  Immutable, hashed by identity.

    Attributes
    ----------
    layout : Layout
        Of the tensor.
    numbers, offsets : array of int (entries, legs)
        The sector of each entry on each leg, and its place within the sector.
    values : array (entries,)
    """

    __slots__ = ("layout", "numbers", "offsets", "values")
    layout: Layout
    numbers: np.ndarray
    offsets: np.ndarray
    values: np.ndarray

    def __init__(self, tensor: SymTensor):
        dense = tensor.to_dense()
        places = np.argwhere(dense)
        self.layout, self.values = tensor.layout, dense[tuple(places.T)]
        self.numbers, self.offsets = np.empty_like(places), np.empty_like(places)
        for axis, leg in enumerate(tensor.legs):
            starts = np.array(leg.starts)
            self.numbers[:, axis] = np.searchsorted(starts, places[:, axis], side="right") - 1
            self.offsets[:, axis] = places[:, axis] - starts[self.numbers[:, axis]]


def applied(
    entries: Entries, x: SymTensor, axes: tuple[tuple[int, ...], tuple[int, ...]], order: tuple[int, ...], split: int
) -> SymTensor:
    """The contraction of `x` with a nearly empty tensor, its legs in any order.

    Parameters
    ----------
    entries : Entries
    x : SymTensor
        Of plain numbers.
    axes : two tuples of int
        The axes of `x`, and those of the other tensor, that join each other.
    order : tuple of int
        Of the legs that are left, those of `x` in front: leg i of the result is leg ``order[i]`` of these.
    split : int
        How many legs of the result are rows.
    """
    plan = planned(x.layout, entries, *axes, order, split)
    dtype = np.result_type(x.dtype, entries.values)
    out = np.zeros(plan.out.size, dtype)
    added(np.ascontiguousarray(x.data, dtype), out, plan.rows, entries.values[plan.chosen].astype(dtype))
    return bare(plan.out, out)


class SparseProduct(NamedTuple):
    """Which blocks are added to which (`kernels.parted`), the entry that each is multiplied with, and the result."""

    rows: np.ndarray
    chosen: np.ndarray
    out: Layout


@lru_cache(maxsize=2048)
def planned(
    source: Layout, entries: Entries, ones: tuple[int, ...], twos: tuple[int, ...], order: tuple[int, ...], split: int
) -> SparseProduct:
    """How to apply a nearly empty tensor, from a bounded cache."""
    small = entries.layout
    free_x = [axis for axis in range(len(source.legs)) if axis not in ones]
    free_e = [axis for axis in range(len(small.legs)) if axis not in twos]
    legs = [source.legs[axis] for axis in free_x] + [small.legs[axis] for axis in free_e]
    total = source.symmetry.plus(source.total, small.total)
    target = layout(tuple([legs[i] for i in order]), split, total, source.symmetry)
    origin, chosen, there = _joined(source.pairing, target.pairing, entries, ones, twos, order)
    read, write = source.arrays, target.arrays
    places = np.argsort(order)  # where each leg stands in the result
    reads, writes = read.strides[origin], write.strides[there]
    starts = read.starts[origin] + (entries.offsets[chosen][:, list(twos)] * reads[:, list(ones)]).sum(axis=1)
    steps = writes[:, places[len(free_x) :]]
    ends = write.starts[there] + (entries.offsets[chosen][:, free_e] * steps).sum(axis=1)
    shapes, kept = read.shapes[origin][:, free_x], writes[:, places[: len(free_x)]]
    table = np.column_stack([starts, ends, shapes, reads[:, free_x], kept])
    table, which = parted(table)
    return SparseProduct(table.reshape(-1), chosen[which], target)


@lru_cache(maxsize=2048)
def _joined(
    source: Pairing,
    target: Pairing,
    entries: Entries,
    ones: tuple[int, ...],
    twos: tuple[int, ...],
    order: tuple[int, ...],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All pairs of a block and an entry that join: the block, the entry, and the block of the result."""
    counts = [len(entries.layout.legs[axis].dims) for axis in twos]
    wanted = codes(source.numbers[:, list(ones)], counts)
    given = codes(entries.numbers[:, list(twos)], counts)
    by_code = np.argsort(given, kind="stable")
    first, last = (np.searchsorted(given[by_code], wanted, side=side) for side in ("left", "right"))
    origin = np.repeat(np.arange(len(wanted)), last - first)
    within = np.arange(len(origin)) - np.repeat(np.cumsum(last - first) - (last - first), last - first)
    chosen = by_code[first[origin] + within]
    free_x = [axis for axis in range(source.numbers.shape[1]) if axis not in ones]
    free_e = [axis for axis in range(entries.numbers.shape[1]) if axis not in twos]
    numbers = np.concatenate([source.numbers[origin][:, free_x], entries.numbers[chosen][:, free_e]], axis=1)
    return origin, chosen, target.find(numbers[:, list(order)])


def codes(numbers: np.ndarray, counts: list[int]) -> np.ndarray:
    """Rows of numbers as one number each."""
    return np.ravel_multi_index(tuple(numbers.T), counts) if counts else np.zeros(len(numbers), np.int64)
