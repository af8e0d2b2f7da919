"""Conjugate gradients, for operators that are Hermitian and positive.

Reference: M. R. Hestenes and E. Stiefel, J. Res. Natl. Bur. Stand. 49, 409 (1952).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.linalg.support.lengths import length

if TYPE_CHECKING:
    from collections.abc import Callable

    Product = Callable[[np.ndarray], np.ndarray]


def descent(matvec: Product, r: np.ndarray, target: float, m: int, precondition: Product | None) -> np.ndarray:
    """The correction for a residual `r`, by `m` products at most, or fewer if what is left is below `target`.

    Parameters
    ----------
    precondition : callable or None
        An approximate inverse of the operator, Hermitian and positive; its scale is arbitrary.

    Raises
    ------
    ArgumentError
        Where the operator or its preconditioner turns out not to be positive.
    """
    x, direction, before = np.zeros_like(r), np.zeros_like(r), 1.0
    for k in range(m):
        z = r if precondition is None else precondition(r)
        now = _positive(r, z, "the preconditioner")
        direction = z + (now / before if k else 0.0) * direction
        moved = matvec(direction)
        step = now / _positive(direction, moved, "the operator")
        x, r, before = x + step * direction, r - step * moved, now
        if length(r) <= target:
            break
    return x


def _positive(v, image, what):
    """``<v, A v>``, which is above 0."""
    found = float(np.vdot(v, image).real)
    if not found > 0:
        raise ArgumentError(
            f"linear_solve: {what} is not positive: <v, A v> is {found:.3g} for a vector of the search; "
            "positive=False solves other equations"
        )
    return found
