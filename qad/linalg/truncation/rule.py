"""How many values a truncation keeps: one rule for matrices, symmetric tensors, sweeps and evolutions.

1. Singular values that are zero to rounding, ``s <= 10 n eps s_max`` of matrices with at most n rows and columns, are
   not kept, except where a bond has to stay fillable.
2. The fewest are kept whose rest weighs at most a given part of all, every one of them above a cutoff, at most so many.
3. Neighbours with ``s_i - s_(i+1) <= eps**(3/8) s_i`` are of one multiplet, and so are weights, which are squares, at
   twice that.  A cut through one keeps all of it where that fits; else it leaves all of it out, where it and all behind
   it weigh no more than 1e-14, or on demand; else it takes them in the order of the sectors, so that which of them stay
   is not left to rounding.

Values of several sectors, each descending, are cut together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.linalg.support import tolerances

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["kept", "lost", "nonzero", "restored", "tied"]


def kept(
    values: Sequence[np.ndarray],
    most: int | None = None,
    weight: float | None = None,
    cutoff: float | None = None,
    *,
    relative: bool = True,
    size: int | None = None,
    zeros: bool = False,
    squared: bool = False,
    drop: bool = False,
    least: int = 1,
) -> list[int]:
    """How many values of each sector to keep.

    Parameters
    ----------
    values : list of arrays
        Of each sector, descending.
    most : int, optional
        Of all sectors together.
    weight : float, optional
        The part of the sum of squares that may be left out.
    cutoff : float, optional
        Values have to be above it: above ``cutoff * s_max`` if `relative`.
    relative : bool
    size : int, optional
        The largest number of rows or columns of a sector; by default of values.
    zeros : bool
        Values that are zero to rounding may be kept.
    squared : bool
        The values are weights, that is, squares: the eigenvalues of a density matrix.  Those that are zero to rounding
        may be kept.
    drop : bool
        Of a multiplet that does not fit nothing is kept.
    least : int
        So many are kept in any case, if there are.

    Returns
    -------
    list of int
    """
    every, sector = _together(values)
    if not len(every):
        return [0] * len(values)
    end = int(nonzero(every, size or max(map(len, values))))
    k = _fewest(every, weight, squared)
    most = len(every) if most is None else max(0, min(most, len(every)))
    if cutoff is not None:
        k = min(k, int(np.count_nonzero(every > (cutoff * every[0] if relative else cutoff))))
    if not (zeros or squared):
        k = min(k, end)
    k = min(max(k, least), most)
    first, last = _multiplet(every, k, end, squared)
    if last <= most:
        k = last
    elif first >= least and (drop or _weigh_nothing(every, first, squared)):
        k = first
    elif sector is not None:
        sector[first:last] = np.sort(sector[first:last], kind="stable")
    return [k] if sector is None else np.bincount(sector[:k], minlength=len(values)).tolist()


def lost(values: Sequence[np.ndarray], ranks: Sequence[int], squared: bool = False) -> float:
    """The part of the weight that is left out, where so many of each sector are kept."""
    if not squared:
        values = [s**2 for s in values]
    rest = sum(np.abs(w[k:]).sum() for w, k in zip(values, ranks, strict=True))
    return float(rest / (sum(w.sum() for w in values) or 1.0))


def restored(values: Sequence[np.ndarray], ranks: Sequence[int]) -> float:
    """What the values that are kept are multiplied by so that they have the norm of all."""
    whole, left = sum(s @ s for s in values), sum(s[:k] @ s[:k] for s, k in zip(values, ranks, strict=True))
    return np.sqrt(whole / left) if left and any(k < len(s) for s, k in zip(values, ranks, strict=True)) else 1.0


def nonzero(s: np.ndarray, size: int) -> np.ndarray:
    """How many of the descending values `s` (..., n) are not zero to rounding, of matrices of that largest `size`."""
    return (s > tolerances.empty(s.dtype, size) * s[..., :1]).sum(axis=-1)


def tied(s: np.ndarray, k: int, size: int | None = None) -> bool:
    """Whether values number k - 1 and k of some row of `s` (..., n) are of one multiplet, and not zero."""
    if not 0 < k < s.shape[-1]:
        return False
    last = s[..., k - 1]
    filled = last > tolerances.empty(s.dtype, size or s.shape[-1]) * s[..., 0]
    return bool((filled & (last - s[..., k] <= tolerances.multiplet(s.dtype) * last)).any())


def _together(values):
    """All values, descending, and the sector of each; None for a single sector."""
    if len(values) == 1:
        return values[0], None
    every = np.concatenate(values) if values else np.zeros(0)
    order = np.argsort(-every, kind="stable")
    return every[order], np.repeat(np.arange(len(values)), [len(v) for v in values])[order]


def _fewest(every, weight, squared):
    """How many have to be kept for the others to weigh no more than that."""
    if weight is None:
        return len(every)
    rest = np.cumsum((every if squared else every**2)[::-1])[::-1]  # of this one and all behind it
    return int(np.count_nonzero(rest > weight * rest[0]))


def _weigh_nothing(every, first, squared):
    """Whether this value and all behind it hardly count."""
    weights = every if squared else every**2
    return bool(weights[first:].sum() <= tolerances.WEIGHTLESS * weights.sum())


def _multiplet(every, k, end, squared):
    """Where the multiplet begins and ends through which a cut after the first k goes; k twice for none."""
    width = tolerances.multiplet(every.dtype) * (2 if squared else 1)
    first = last = k
    while 0 < last < end and every[last - 1] - every[last] <= width * every[last - 1]:
        last += 1
    while last > k and first > 0 and (first == k or every[first - 1] - every[first] <= width * every[first - 1]):
        first -= 1
    return first, last
