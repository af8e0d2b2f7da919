"""How many weights of each sector a step of a sweep keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

DISCARDED = 1e-14  # weight per step that is cut off in any case
ALIKE = 1.001  # weight discarded by an old choice of sectors, relative to the best choice, up to which it stays
EQUAL = 1e-9  # weights nearer than this, relative, are of one multiplet: which of them stay is not left to rounding


def kept_weights(values: list[np.ndarray], most: int, cutoff: float = DISCARDED) -> list[int]:
    """How many weights of each sector to keep, `most` in all and leaving out a part of `cutoff`; those of each descend.

    Weights of one multiplet that the cut parts are taken in the order of the sectors.
    """
    sector = np.repeat(np.arange(len(values)), [len(v) for v in values])
    every = np.concatenate(values)
    order = np.argsort(-every, kind="stable")
    every, sector = every[order], sector[order]
    lost = np.cumsum(every[::-1])[::-1]  # by leaving out this one and all behind it
    kept = max(1, min(most, int(np.count_nonzero(lost > cutoff * every.sum()))))
    if kept < len(every):
        near = np.flatnonzero(np.abs(every - every[kept - 1]) <= EQUAL * every[kept - 1])
        sector[near] = np.sort(sector[near], kind="stable")
    return np.bincount(sector[:kept], minlength=len(values)).tolist()


def as_before(
    weights: list[np.ndarray], kept: list[int], charges: list[Any], before: Mapping[Any, int], most: int
) -> list[int]:
    """The dimensions that sectors had, where they hold as much: layouts that recur need no new tables."""
    old = [min(before.get(charge, 0), len(w)) for charge, w in zip(charges, weights, strict=True)]
    allowed = ALIKE * lost_weight(weights, kept) + 10 * DISCARDED
    return old if 0 < sum(old) <= most and lost_weight(weights, old) <= allowed else kept


def lost_weight(weights: list[np.ndarray], kept: list[int]) -> float:
    """The part of the weight that is left out, where so many of each sector are kept; weights descend."""
    lost = sum(np.abs(w[k:]).sum() for w, k in zip(weights, kept, strict=True))
    return float(lost / sum(w.sum() for w in weights))
