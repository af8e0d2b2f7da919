"""How many values a truncation keeps, and the basis of what it keeps."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import stack_of
from qad.linalg.functions.funm_herm import funm_herm
from qad.linalg.functions.norm import norm
from qad.linalg.support import tolerances
from qad.linalg.support.degeneracy import width
from qad.linalg.support.guarded import guarded
from qad.linalg.support.hermitian_parts import adjoint, hermitian
from qad.linalg.truncation.rule import kept, tied

if TYPE_CHECKING:
    from qad.typing import Array


def rank_of(
    s: np.ndarray,
    max_rank: int | None,
    cutoff: float | None,
    relative: bool,
    multiplets: str,
    size: int,
    level: int = 3,
) -> int:
    """How many of the descending sizes `s` (..., k), of matrices of that largest `size`, to keep."""
    if multiplets not in ("warn", "drop", "cut"):
        raise ArgumentError(f'multiplets={multiplets!r}: write "warn", "drop" or "cut"')
    how = {"relative": relative, "size": size, "zeros": True, "drop": multiplets == "drop", "least": 0}
    k = max([kept([row], max_rank, None, cutoff, **how)[0] for row in s.reshape(-1, s.shape[-1])], default=0)
    while multiplets == "drop" and tied(s, k, size):  # by another example of a batch
        k -= 1
    if k < 1:
        raise ArgumentError(
            f"truncation leaves nothing (max_rank={max_rank}, cutoff={cutoff}): keep one value at least"
        )
    if multiplets == "warn" and tied(s, k, size):
        warnings.warn(
            f"truncation to rank {k} cuts through degenerate values ({s.reshape(-1, s.shape[-1])[0, k - 1]:.6g}), of "
            'which the choice is arbitrary: write multiplets="drop" to leave them all out',
            RuntimeWarning,
            stacklevel=level,
        )
    return k


def has_gap(s: np.ndarray, k: int) -> bool:
    """Whether something is discarded, and a gap separates it from what is kept, by which derivatives may divide."""
    return k < s.shape[-1] and bool((s[..., k - 1] - s[..., k] > width(s)).all())


def check_gap(s: np.ndarray, k: int, owner: str = "split") -> None:
    """Raise where a derivative of a truncation to rank k would depend on which of coinciding values are kept."""
    if k < s.shape[-1] and not has_gap(s, k):
        raise ArgumentError(
            f"{owner}: rank {k} cuts through degenerate singular values, of which the choice is arbitrary and has no "
            'derivative: write multiplets="drop", or take a rank, of a chain a bond, that keeps all of them or none'
        )


def lost_in_split(s: np.ndarray, k: int, shape: tuple[int, ...], order: int) -> bool:
    """Whether `split` at rank k divides by the last of the kept values too often for derivatives of this `order`.

    It divides by it once for each order where something is outside of the spaces that are kept, else once less.
    """
    if not order:
        return False
    times = order if k < max(shape) else order - 1
    last = s[..., k - 1] / np.maximum(s[..., 0], tolerances.tiny(s.dtype))
    return bool((tolerances.lost(s.dtype) > last**times).any())


def discarded(rest: Array, s: np.ndarray, k: int) -> Array:
    """The norm (...) of what is left out, `rest`, of a matrix of the sizes `s` of which `k` are kept.

    It has no derivative that rounding leaves certain where what is left out is nearly nothing, and is a constant where
    that is zero to rounding.
    """
    if k == s.shape[-1]:
        return norm(rest, axis=(-2, -1))
    ratio = s[..., k] / np.where(s[..., 0] > 0.0, s[..., 0], 1.0)
    nothing, dtype = ratio <= tolerances.zero(s.dtype, max(rest.shape[-2:])), s.dtype
    lost = stack_of(~nothing & (ratio <= tolerances.lost(dtype)))

    def check(g, order):
        if (lost & (g != 0)).any():
            raise ArgumentError(
                "truncation: so little is discarded that rounding would be more than 1e-4 of the derivative of its "
                "norm. Leave the error out of the loss, or take its square, np.sum(abs(a)**2) - np.sum(s**2)"
            )

    return guarded(norm(np.where(nothing[..., None, None], 0.0, rest), axis=(-2, -1)), check=check)


def orthonormal(b: Array) -> Array:
    """``b (b^H b)^-1/2``, a basis that is smooth in `b` (..., n, k)."""
    return b @ funm_herm(lambda w: 1 / np.sqrt(w), hermitian(adjoint(b) @ b))
