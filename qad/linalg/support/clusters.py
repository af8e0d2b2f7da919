"""Second derivatives of losses that see a cluster of nearly or exactly equal values as a whole.

Inside a cluster single vectors turn with ``1 / gap``; a loss that does not depend on them, like that of a projector
onto a kept space, need not follow.  So where the gradient itself is pushed forward (`qad.hvp`, `qad.hessian`),
decompositions return a frame that turns from cluster to cluster only, ``A V = V H`` with H block-diagonal: its diagonal
is `w`, and what stands beside it, N, is zero at the point and has a derivative.  Then

    Omega_ij = (C - [Omega, N])_ij / (w_j - w_i)     between clusters, for C = V^H dA V,
    dN = C                                           within,
    G_H = diag(g_w) + (g_j - g_i) / (w_j - w_i) N    for a symmetric function of the values.

Whether the loss is independent of the vectors within a cluster is checked: the slope of the loss along turns within the
cluster must vanish, at the point and to first order along a test turn of moderate size.  Otherwise the second
derivative is refused.

For singular values U and V turn together, ``A V = U H`` and ``A^H U = V H``, and sums stand where differences do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import core, defbatch, defjvp, like, primitive, stack_of
from qad.linalg.support import tolerances
from qad.linalg.support.degeneracy import far_apart, refuse, same_block, unbroken, vanishing, width
from qad.linalg.support.derivative_order import orders
from qad.linalg.support.gap_quotients import columns_of, over_gaps, pairs, relative, where_moved
from qad.linalg.support.guarded import guarded
from qad.linalg.support.hermitian_parts import skew

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.typing import Array


def clusters(s: np.ndarray, owner: str) -> np.ndarray:
    """Boolean (..., k, k): which two of the sorted bare values `s` (..., k) are too close for a second derivative."""
    size = np.abs(s)
    close = tolerances.lost(s.dtype, 2) * np.maximum(size[..., 1:], size[..., :-1])
    breaks = np.abs(np.diff(s, axis=-1)) > np.maximum(close, width(s)[..., None])
    if owner == "svd":
        breaks |= vanishing(s)[..., 1:]  # null spaces are no clusters: there values have kinks
    return unbroken(breaks) & ~like(s).eye(s.shape[-1], dtype=bool)


def beside(s: np.ndarray, v: np.ndarray, owner: str) -> np.ndarray:
    """N at the point, (..., k, k) of the dtype of the vectors `v`; without entries where there is no cluster."""
    k = 0 if far_apart(s) or not clusters(s, owner).any() else s.shape[-1]
    return like(v).zeros((*s.shape[:-1], k, k), v.dtype)


def beside_of(ans: Sequence[Array], i: int) -> Array | None:
    """N, which is number `i` of the answers of a decomposition, or None where there is no cluster."""
    return ans[i] if len(ans) > i and ans[i].shape[-1] else None


def conjugate(n: Array | None) -> Array | None:
    return None if n is None else n.conj()


def moderate_turn(c: np.ndarray, s: np.ndarray, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A turn within clusters along which a loss is checked, and the derivative of N; `c` is Hermitian, all is bare."""
    i = like(s).arange(1, s.shape[-1] + 1)
    sizes = 1 + np.modf(np.multiply.outer(i, i) * 0.6180339887)[0]  # no two alike, lest slopes cancel
    largest, moved = np.abs(s).max(axis=-1)[..., None, None], np.abs(c).max(axis=(-2, -1), keepdims=True)
    largest = np.where(largest > tolerances.unit(s.dtype) * moved, largest, np.maximum(moved, tolerances.tiny(s.dtype)))
    c = np.where(inside, c, 0.0)
    turn = c * np.sign(i - i[:, None]) * sizes / largest
    return turn, c + (s[..., :, None] - s[..., None, :]) * turn


def quotients(
    x: Array, s: Array, n: Array | None, *, kind: str, owner: str, degenerate: str, gs: Array | None = None, **how: Any
) -> Array:
    """`over_gaps` in a backward pass; with N (or its transpose) between clusters only, if `n` is not None."""
    if n is None:
        return over_gaps(x, s, kind=kind, owner=owner, degenerate=degenerate, gs=gs, **how)
    bare, apart = stack_of(s), 1.0
    if kind == "differences":
        inside = clusters(bare, owner)
        apart = ~inside
        check_left_alone(x, s=bare, inside=inside, moved=where_moved(gs), owner=owner, degenerate=degenerate)
    y = over_gaps(x * apart, s, kind=kind, owner=owner, degenerate=degenerate, gs=gs, **how)
    swapped = y @ n if kind == "values" else y @ n - n @ y if kind == "differences" else y @ n + n @ y
    return y - over_gaps(swapped * apart, s, kind=kind, owner=owner, degenerate=degenerate)


def bent(gs: Array, s: Array, n: Array, owner: str, degenerate: str) -> Array:
    """``(g_j - g_i) / (s_j - s_i) N`` within clusters; where the quotient is not known, N must not move."""
    bare = stack_of(s)
    inside, closed = clusters(bare, owner), same_block(bare)
    differ = gs[..., None, :] - gs[..., :, None]
    least = tolerances.places(bare.dtype) * np.abs(stack_of(gs)).max(axis=-1, initial=0.0)[..., None, None]
    unknown = closed & inside & ((np.abs(stack_of(differ)) > least) | (orders(gs) > 0))
    if unknown.any():

        def still(t, order):
            moved = np.where(unknown, np.abs(t), 0.0)
            refuse(moved, bare, owner, np.abs(t).max(axis=(-2, -1), initial=0.0), degenerate, order=2)

        n = guarded(n, check=still)
    differ = differ * (inside & ~closed)
    return over_gaps(differ, bare, kind="differences", owner=owner, degenerate=degenerate) * n


@primitive(name="clusters")
def check_left_alone(
    x: Array, *, s: np.ndarray, inside: np.ndarray, moved: np.ndarray | None, owner: str, degenerate: str
) -> np.ndarray:
    """Refuse a loss that sees single vectors of a cluster: by `x` = ``V^H G_V`` of bare arrays, and its derivative."""
    gap = relative(s[..., None, :] - s[..., :, None], s)
    columns, size = pairs(columns_of(x), gap), np.abs(skew(x))
    if moved is not None:  # as in gap_quotients.py: it may be a loss of V f(s) V^H
        size = np.where(moved[..., None, :] | moved[..., :, None], np.maximum(np.abs(x), np.abs(x.mT)), size)
    least, most = tolerances.places(s.dtype), tolerances.noise(s.dtype, x.shape[-1])
    units = np.clip(tolerances.quarter(s.dtype) * gap, least, most)
    refuse(np.where(inside & (size > units * columns), size, 0.0), s, owner, 0.0, degenerate, order=2)
    return np.zeros_like(size)


defjvp(check_left_alone, lambda t, ans, x, **how: check_left_alone(t, **how))
defbatch(check_left_alone, core(2))
