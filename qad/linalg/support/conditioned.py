"""Matrices whose smallest singular value is so nearly zero that rounding spoils a derivative which divides by it.

The relative rounding of such a value, and of all that is divided by it, is `eps` times the condition number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.linalg.support.check import batch_entry

if TYPE_CHECKING:
    from qad.typing import DTypeLike

TERMS = 4  # each of which has that rounding


def check_condition(condition: np.ndarray, dtype: DTypeLike, owner: str, advice: str) -> None:
    """Raise where rounding is more than ``eps**(1/4)`` of a derivative, for `condition` numbers (...)."""
    eps = np.finfo(dtype).eps
    bad = np.argwhere(~(TERMS * eps**0.75 * condition <= 1.0))
    if len(bad):
        raise ArgumentError(
            f"{owner}{batch_entry(bad[0])}: the matrix is so nearly of lower rank (its condition number is "
            f"{condition[tuple(bad[0])]:.1e}) that rounding would be more than {eps**0.25:.0e} of the derivative. "
            f"{advice}"
        )
