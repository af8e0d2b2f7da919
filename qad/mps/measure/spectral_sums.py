"""Sums over singular values, such as entropies are made of, whose derivatives need no gaps."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import defvjp, primitive
from qad.linalg import funm_svd
from qad.linalg import norm as matrix_norm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.typing import Array, Real

LEAST_ORDER = 0.5  # below it an entropy weighs singular values that rounding hides more than it can tell
UNRESOLVED = 50.0  # in units of rounding: singular values below it, where the largest is about 1, are taken for zero


@primitive
def spectral_sum(matrix: Array, *, power: float, log: bool) -> Real:
    """``sum s**power``, or ``-sum s**power log s``, over the singular values s that rounding does not hide."""
    s = np.linalg.svd(matrix, compute_uv=False)
    return term(s, power, log).sum()


def term(s: Array, power: float, log: bool, slope: bool = False) -> Array:
    """What one singular value adds, or the derivative of that."""
    there = s > UNRESOLVED * np.finfo(s.dtype).eps
    safe = np.where(there, s, 1.0)
    if slope:
        factor, power = (-power * np.log(safe) - 1.0 if log else power), power - 1
    else:
        factor = -np.log(safe) if log else 1.0
    return np.where(there, safe**power * factor, 0.0)


@cache
def slope_of(power: float, log: bool) -> Callable[[Array], Array]:
    """The slope as a function of singular values alone, the same one at every call."""
    return partial(term, power=power, log=log, slope=True)


defvjp(spectral_sum, lambda g, ans, matrix, *, power, log: g * funm_svd(slope_of(power, log), matrix).conj())


def entropy_of(matrices: Sequence[Array], order: float, power: float) -> Real:
    """The entropy of probabilities ``s**power`` over the singular values of all matrices, which add up to 1.

    Matrices of Schmidt values have power 2, density matrices 1.
    """
    if order == 1:
        return power * sum(spectral_sum(m, power=power, log=True) for m in matrices)
    if order == np.inf:
        return -power * np.log(np.stack([matrix_norm(m, 2, (-2, -1)) for m in matrices]).max())
    total = sum(spectral_sum(m, power=float(power * order), log=False) for m in matrices)
    return np.log(total) / (1 - order)


def check_order(order: Any) -> float:
    """The order of an entropy as a float; raises where it makes no sense, or where rounding would be weighed."""
    if np.ndim(order) != 0 or not isinstance(order, (int, float, np.number)) or not order >= LEAST_ORDER:
        raise ArgumentError(
            f"the order of an entropy is a number from 1/2 to infinity, not {order!r}: 1 is von Neumann's, 2 the "
            "logarithm of the purity; lower ones weigh Schmidt values that rounding hides"
        )
    return float(order)
