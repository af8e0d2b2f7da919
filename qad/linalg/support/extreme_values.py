"""How values that are equal share the derivative of the largest or the smallest one.

Values are known to ``10 n eps`` of the largest, and those that are closer to each other count as equal.  Vectors are
known to ``eps / gap``.  Between that gap and the gap at which vectors have four digits left, the derivative cannot be
attributed to one value or to several, and is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import stack_of, unrecorded
from qad.linalg.support import tolerances
from qad.linalg.support.check import batch_entry

if TYPE_CHECKING:
    from qad.typing import Array


def shares(s: Array, index: int) -> Array:
    """Weights (..., k), of sum one, of the descending singular values `s` in the derivative of number `index`.

    Raises
    ------
    ArgumentError
        If others are so close to it, and not equal, that their vectors are not known.
    """
    _require_known(stack_of(s), index)
    s = unrecorded(s)
    members = np.abs(s - s[..., index][..., None]) <= tolerances.zero(s.dtype, s.shape[-1]) * s[..., :1]
    return members / members.sum(axis=-1, keepdims=True)


def _require_known(s, index):
    largest, one = s[..., :1], s[..., index][..., None]
    gap, least = np.abs(s - one), tolerances.zero(s.dtype, s.shape[-1]) * largest
    near = (gap > least) & (gap < tolerances.lost(s.dtype) * largest)
    near &= one > least  # the norm at a value that is zero has subgradient zero
    bad = np.argwhere(near)
    if len(bad):
        *batch, i = bad[0]
        at = tuple(batch)
        raise ArgumentError(
            f"norm{batch_entry(batch)}: the {'smallest' if index else 'largest'} singular value {one[at][0]:.17g} and "
            f"{s[at][i]:.17g} (number {i}) are not equal, but so close that their vectors, which its derivative needs, "
            "are known to less than four digits. Keep the values apart, or use a smooth function of all "
            "of them"
        )
