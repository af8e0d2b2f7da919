"""Singular values that are zero, and how a loss that needs their vectors gives itself away.

In a loss of the product ``U S V^H`` the factor s = 0 hides the vectors of the null spaces: their cotangents vanish, as
do those of a loss that leaves these vectors alone, though only the latter's derivative is determined.  So a value that
is zero to rounding is returned as a mark, ``eps**1.5`` of the largest, far below rounding.  Then the cotangents in the
null spaces are zero where the vectors are not used, rounding where a loss is stationary in them, and of the size
of the mark where they are multiplied by s.  Higher powers of s leave less behind, and rightly pass.

The two vectors of a single zero turn with the matrix as those of other values do, but the sign of ``u v^H`` is
undetermined: it changes where the value passes through zero.  A loss of ``u v^H`` depends on the lengths of u and of v.
So a loss that depends on both lengths is refused, also where the loss is one of the two projectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import core, primitive, rule, stack_of
from qad.linalg.support import tolerances
from qad.linalg.support.check import batch_entry
from qad.linalg.support.degeneracy import complain, constant_scale, far_apart, refuse, vanishing
from qad.linalg.support.derivative_order import orders
from qad.linalg.support.gap_quotients import columns_of
from qad.linalg.support.hermitian_parts import diagonal_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qad.typing import Array


def marked(s: np.ndarray) -> np.ndarray:
    """The singular values `s` (..., k), descending, with those that are zero to rounding marked."""
    if not s.size:
        return s
    largest = s[..., :1]
    mark = np.where(largest == 0, tolerances.tiny(s.dtype), tolerances.mark(s.dtype) * largest)
    return np.where(s <= _lost(s), mark, s).astype(s.dtype)


def _lost(s):
    return tolerances.zero(s.dtype, s.shape[-1]) * s[..., :1]


def check_null_spaces(
    s: np.ndarray, sides: Iterable[tuple[Array, Array | None]], size: np.ndarray, floor: np.ndarray, degenerate: str
) -> None:
    """Raise where the loss multiplies vectors of vanishing values by these.

    Parameters
    ----------
    s : array (..., k)
    sides : pairs (vectors (..., m, k), their cotangent or None)
    size : array (...)
        Of the cotangents.
    floor : array (...)
        As `gaps.rounding` gives it.
    """
    zero = vanishing(s)
    if not zero.any():
        return
    lengths = []
    for vectors, g in sides:
        if g is None:
            continue
        vectors, g = stack_of(vectors), stack_of(g)
        inner = vectors.mT @ g
        lengths.append(np.abs(diagonal_of(inner).real))
        both = np.where(zero[..., :, None] & zero[..., None, :], np.abs(inner), 0.0)
        _refuse(both, s, size, floor, degenerate)
        if vectors.shape[-2] > vectors.shape[-1]:
            rest = np.where(zero[..., None, :], np.abs(g - vectors.conj() @ inner), 0.0)
            _refuse(rest, s, size, floor, degenerate)
    if len(lengths) == 2:  # u and v of a null space have each a sign of their own, and U V^H jumps with these
        both = np.where(zero, np.minimum(*lengths), 0.0)
        scale = np.maximum(size, floor / tolerances.noise(s.dtype, s.shape[-1]))
        refuse(both[..., None, :], s, "svd", scale, degenerate)


def check_used(s: Array, g: Array, size: np.ndarray, levels: int, degenerate: str) -> None:
    """Refuse a loss that uses vectors which rounding turns out of their space.

    Vector j turns out of the space of all vectors by what stands beside it in its cotangent, divided by ``s_j``, at
    every order once more.  That is known to `eps` of the whole column of `g` (..., m, k): where it is zero, as it is of
    ``u @ (u.T @ a)`` at ``s_j = 0``, it need not be so beside this matrix.

    `size` (...) is that of the cotangents, `levels` the number of derivatives when the values were computed.
    """
    bare = stack_of(s)
    if far_apart(bare, "values"):
        return
    order, largest = max(orders(s) + 1, levels), np.maximum(bare[..., :1], tolerances.tiny(bare.dtype))
    used = columns_of(stack_of(g)) / np.maximum(size, tolerances.tiny(bare.dtype))[..., None]
    lost = tolerances.lost(bare.dtype) * used > (bare / largest) ** order
    refuse(np.where(lost, 1.0, 0.0)[..., None, :], bare, "svd", np.zeros_like(size), degenerate, order=order)


def _refuse(x, s, size, floor, degenerate):
    """Raise if an entry of `x` (..., m, k) has the size that a factor of the values `s` leaves behind."""
    tiny, quarter = tolerances.tiny(s.dtype), tolerances.quarter(s.dtype)
    largest = np.where(s[..., :1] <= tiny, 1.0, s[..., :1])
    relative = (s / largest)[..., None, :]
    is_mark = (s <= _lost(s) + tiny)[..., None, :]
    alike = ~is_mark & (x > 0.1 * relative * size[..., None, None])
    for scale in (size, floor / tolerances.gauge(s.dtype)):  # the second is the size of the loss
        expected = relative * scale[..., None, None]
        alike |= is_mark & (x > quarter * expected) & (x < expected / quarter)
    refuse(np.where(alike, x, 0.0), s, "svd", np.zeros_like(size), degenerate)


def check_branch(gw: np.ndarray, w: np.ndarray, owner: str, degenerate: str) -> None:
    """Refuse a weight `gw` of an eigenvalue `w` that is zero to rounding, where it is infinite but for that rounding.

    So roots and logarithms leave it: NaN, or beyond all other weights by more than half of the digits.
    """
    size = np.abs(gw)
    lost = np.abs(w) <= tolerances.zero(w.dtype, w.shape[-1]) * np.abs(w).max(axis=-1, keepdims=True, initial=0.0)
    if not lost.any():
        return
    others = np.where(lost | ~np.isfinite(size), 0.0, size).max(axis=-1, keepdims=True, initial=0.0)
    bad = np.argwhere(lost & (~np.isfinite(size) | (others > 0.0) & (size * tolerances.quarter(w.dtype) > others)))
    if len(bad):
        complain(
            f"{owner}{batch_entry(bad[0][:-1])}: the derivative of the loss by value {w[tuple(bad[0])]:.3g} (number "
            f"{bad[0][-1]}), which is zero to rounding, is {gw[tuple(bad[0])]:.3g}: a root or a logarithm has no "
            "derivative there. Keep the spectrum away from zero, or cut the function off there, by np.where",
            degenerate,
        )


@primitive
def at_kinks(
    gs: Array, s: Array, *, kinks: bool, degenerate: str, floor: np.ndarray | float = 0.0, order: int = 1
) -> Array:
    """The cotangent `gs` of `s`: at vanishing values it must be zero or, without `kinks`, is taken as zero.

    Without `kinks` a value that is small but not zero to rounding has a derivative, of which no digits are known; and
    at those that are zero there is no derivative of second `order`.
    """
    zero = vanishing(s)
    if not zero.any():
        return gs
    if not kinks:
        rounded = s <= tolerances.zero(s.dtype, s.shape[-1]) * s.max(axis=-1, keepdims=True, initial=0.0)
        refuse((rounded & (order > 1))[..., None, :] * 1.0, s, "svd", 0.0, degenerate, order=order)
        gs, zero = np.where(rounded, 0.0, gs), zero & ~rounded
    tolerance = tolerances.half(s.dtype)
    scale = constant_scale(gs, s, floor)
    refuse(np.where(zero, np.abs(gs), 0.0)[..., None, :], s, "svd", scale, degenerate, tolerance)
    return gs


rule(
    at_kinks,
    lambda g, ans, gs, s, *, kinks, degenerate, **how: at_kinks(g, s, kinks=kinks, degenerate=degenerate),
    lambda g, ans, gs, s, **how: s * 0.0,
    batch=core(1, 1),
)
