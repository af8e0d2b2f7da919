"""quimb's splits of a matrix in two factors that meet at a bond, for losses that contract this bond.

Such a loss sees only the product of the factors, so that equal singular values are no obstacle; qad's split knows
that, and refuses losses that do see the basis of the bond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from quimb.tensor import decomp

from qad import linalg
from qad.extend import like, unrecorded, value_of
from qad.linalg.truncation.split import tied

if TYPE_CHECKING:
    from typing import Any

    from qad.typing import Array

    Split = tuple[Array | None, Array | None, Array | None]

__all__ = ["qr_split", "register_splits", "svd_split"]

NONE = None
BOTH: int = decomp.get_Usq_sqVH
LEFT: int = decomp.get_Us_VH
RIGHT: int = decomp.get_U_sVH
# single factors: which pair they belong to, and whether they are its left or its right one
HALVES: dict[int, tuple[int, int]] = {
    decomp.get_Usq: (BOTH, 0), decomp.get_sqVH: (BOTH, 1), decomp.get_Us: (LEFT, 0), decomp.get_VH: (LEFT, 1),
    decomp.get_U: (RIGHT, 0), decomp.get_sVH: (RIGHT, 1),
}  # fmt: skip


def register_splits() -> None:
    """Register the splits of the backend "qad" with quimb's functions that dispatch by autoray."""
    decomp.svd_truncated.register("qad")(svd_split)
    decomp.svd_via_eig_truncated.register("qad")(svd_split)
    decomp.qr_stabilized.register("qad")(qr_split)


def svd_split(
    x: Array, cutoff: float = -1.0, cutoff_mode: Any = 4, max_bond: int = -1, absorb: Any = BOTH, renorm: int = 0,
    info: dict[str, Any] | None = None, **_: Any,
) -> Split:  # fmt: skip
    """``quimb.tensor.decomp.svd_truncated`` of a recorded matrix, with its arguments.

    Where the singular values are asked for by themselves, or where `x` is a stack, the decomposition is
    `qad.linalg.svd`; how many values are kept is decided on bare values, as quimb decides it.
    """
    absorb, mode = decomp._ABSORB_MAP[absorb], decomp._CUTOFF_MODE_MAP[cutoff_mode]
    how = {"cutoff": cutoff, "cutoff_mode": mode, "max_bond": max_bond, "renorm": renorm, "info": info}
    if absorb in (NONE, decomp.get_s) or x.ndim > 2:
        u, s, vh = linalg.svd(x, full_matrices=False) if absorb != decomp.get_s else (x, linalg.svdvals(x), x)
        return decomp._trim_and_renorm_svd_result(u, s, vh, absorb=absorb, **how)
    kept, factor = _kept(x, how)
    pair, side = HALVES.get(absorb, (absorb, None))
    left, right = _weighted(*linalg.split(x, kept), pair)
    if factor is not None:
        left, right = _renormed(left, right, factor(x, left, right), pair)
    return (None if side == 1 else left), None, (None if side == 0 else right)


def _kept(x, how):
    """How many singular values quimb would keep of the bare `x`, and what finds the factor that it scales them by."""
    s = np.linalg.svd(value_of(x), compute_uv=False)
    vectors = np.eye(len(s), dtype=s.dtype)
    _, few, _ = decomp._trim_and_renorm_svd_result(vectors, s, vectors, absorb=NONE, **how)
    if len(few) == len(s) or not how["renorm"]:
        return len(few), None
    return len(few), _norm_ratio if how["renorm"] == 2 else _trace_ratio


def _norm_ratio(x, left, right):
    """The Frobenius norm of all singular values over that of those that are kept."""
    return np.linalg.norm(x) / np.linalg.norm(left @ right)


def _trace_ratio(x, left, right):
    """The sum of all singular values over that of those that are kept."""
    s = linalg.svdvals(x)
    return np.sum(s) / np.sum(s[: left.shape[1]])


def _weighted(left, right, pair):
    """The factors with the singular values in the right one or in the left one, in the basis of the decomposition."""
    if pair == RIGHT:
        return _isometric(left, right)
    if pair == LEFT:
        q, r = _isometric(right.mT, left.mT)
        return r.mT, q.mT
    return left, right


def _isometric(left, right):
    """``Q, R`` with the product of `left` and `right`, where Q spans the columns of `left`, which are orthogonal."""
    q, r = linalg.qr(left)
    sign = np.sign(np.diagonal(value_of(unrecorded(r))).real)
    return q * sign, sign[:, None] * (r @ right)


def _renormed(left, right, factor, pair):
    """The factors, the singular values scaled by `factor`."""
    if pair == BOTH:
        return left * np.sqrt(factor), np.sqrt(factor) * right
    return (left, factor * right) if pair == RIGHT else (left * factor, right)


def qr_split(x: Array, absorb: Any = RIGHT, stabilized: bool = True, **_: Any) -> Split:
    """``quimb.tensor.decomp.qr_stabilized`` of a recorded matrix: Q R, or L Q for `absorb` on the left.

    A matrix without full rank that has at least as many columns as rows (rows as columns for L Q) has a square Q, which
    is kept where it is: a loss of the product changes by what R changes, and others are refused.
    """
    absorb = decomp._ABSORB_MAP[absorb]
    pair, side = HALVES.get(absorb, (absorb, None))
    if pair == LEFT:
        q, r = _qr(x.mT, stabilized)
        left, right = r.mT, q.mT
    else:
        left, right = _qr(x, stabilized)
    return (None if side == 1 else left), None, (None if side == 0 else right)


def _qr(x, stabilized):
    bare = value_of(unrecorded(x))
    q, r = np.linalg.qr(bare)
    diagonal = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    rank_lost = diagonal.size and (
        diagonal.min(-1) <= 10 * max(x.shape[-2:]) * np.finfo(r.dtype).eps * diagonal.max(-1)
    )
    if np.any(rank_lost) and x.ndim == 2 and x.shape[0] <= x.shape[1]:
        q, r = tied(like(bare).asarray(q), q.conj().T @ x)
    else:
        q, r = linalg.qr(x)
    if not stabilized:
        return q, r
    diagonal = np.diagonal(value_of(unrecorded(r)), axis1=-2, axis2=-1)
    phase = np.where(diagonal == 0, 1, np.sign(diagonal.real)).astype(r.dtype)
    return q * phase[..., None, :], phase[..., :, None] * r
