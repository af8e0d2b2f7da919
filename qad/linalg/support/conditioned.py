"""Matrices so nearly of lower rank that rounding spoils a derivative which divides by their smallest value.

The relative rounding of such a value, and of all that is divided by it, is ``u`` of ``tolerances.py`` times the
condition number.  Rules of QR and LU multiply by ``R^-1``, and each further derivative does so once more: a derivative
of order k has the k-th power of the condition number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import like
from qad.linalg.equations.triangular import solve_upper
from qad.linalg.support import tolerances
from qad.linalg.support.check import batch_entry, largest_entry

if TYPE_CHECKING:
    from qad.typing import DTypeLike


def check_condition(condition: np.ndarray, dtype: DTypeLike, owner: str, advice: str, order: int = 1) -> None:
    """Raise where rounding is above ``eps**(1/4)`` of a derivative of this `order`, by `condition` numbers (...)."""
    bad = np.argwhere(~(tolerances.lost(dtype) * condition**order <= 1.0))
    if len(bad):
        raise ArgumentError(
            f"{owner}{batch_entry(bad[0])}: the matrix is so nearly of lower rank (its condition number is "
            f"{condition[tuple(bad[0])]:.1e}) that rounding would be more than {tolerances.quarter(dtype):.0e} of a "
            f"derivative of order {order}. {advice}"
        )


def check_triangle(r: np.ndarray, part: int, order: int, owner: str) -> None:
    """Raise where rounding is too much of a derivative of this `order` for which a part of R is inverted.

    Parameters
    ----------
    r : array (..., k, n)
        Upper triangular factors of plain numbers. Rules refuse singular ones themselves.
    part : int
        The size of the leading block of R that is inverted.
    order : int
    owner : str
        Who asks, for the message.
    """
    if part <= 0 or not r.size:
        return
    block = r[..., :part, :part]
    if (np.diagonal(block, axis1=-2, axis2=-1) == 0).any():
        return
    inverse = solve_upper(block, like(r).eye(part, dtype=r.dtype))
    condition = np.maximum(largest_entry(inverse) * largest_entry(r), 1.0)
    advice = (
        f"Scale the first {part} columns, if their sizes differ, or write the loss without the factors, by the matrix "
        "itself or qad.linalg.svd"
    )
    check_condition(condition, r.dtype, owner, advice, order)
