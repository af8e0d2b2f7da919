"""Sectors of a bond that stay as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qad.linalg.truncation.rule import lost

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

DISCARDED = 1e-14  # weight per step that is cut off in any case
ALIKE = 1.001  # the old sizes of sectors stay if they discard at most this times what the best sizes discard


def as_before(
    weights: list[np.ndarray], kept: list[int], charges: list[Any], before: Mapping[Any, int], most: int
) -> list[int]:
    """The dimensions that sectors had, where they hold as much: layouts that recur need no new tables."""
    old = [min(before.get(charge, 0), len(w)) for charge, w in zip(charges, weights, strict=True)]
    allowed = ALIKE * lost(weights, kept, squared=True) + 10 * DISCARDED
    return old if 0 < sum(old) <= most and lost(weights, old, squared=True) <= allowed else kept
