"""Conjugate gradients, for operators that are Hermitian and positive.

Reference: M. R. Hestenes and E. Stiefel, J. Res. Natl. Bur. Stand. 49, 409 (1952).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.linalg.support.lengths import length, unit_of

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
    product, unit = _in_units(matvec, r)
    precondition = (lambda v: v) if precondition is None else _in_units(precondition, r)[0]
    x, direction, before = np.zeros_like(r), np.zeros_like(r), 1.0
    for k in range(m - 1):  # one product has told the unit
        z = precondition(r)
        now = _positive(r, z, "the preconditioner")
        direction = z + (now / before if k else 0.0) * direction
        moved = product(direction)
        step = now / _positive(direction, moved, "the operator")
        x, r, before = x + step * direction, r - step * moved, now
        if length(r) <= target:
            break
    return x / unit


def _in_units(function, v):
    """A linear function over a power of two, that of what it makes of `v`, if its square is out of reach."""
    unit = unit_of(length(function(v)) / length(v), v.dtype)
    return (lambda x: function(x) / unit), unit


def _positive(v, image, what):
    """``<v, A v>``, which is above 0."""
    found = float(np.vdot(v, image).real)
    if not found > 0:
        raise ArgumentError(
            f"linear_solve: {what} is not positive: <v, A v> is {found:.3g} for a vector of the search; "
            "positive=False solves other equations"
        )
    return found
