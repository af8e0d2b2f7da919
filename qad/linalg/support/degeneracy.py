"""Degenerate values of a spectrum, and which losses have a derivative there.

Where a gap is lost in rounding the factors do not determine the derivative, and a loss that needs it is refused.
The division by gaps itself is in ``gap_quotients.py``.

What counts as zero?  Where the loss is stationary in the vectors (a Rayleigh quotient, the variance of an energy) their
cotangent is a difference of equal terms: rounding, which no comparison with its own size can tell from the
dependence on a phase.  Its terms are of the size of the loss, or of the matrix, and `rounding` is the floor made
of these.  A loss below 1e-10 (in double precision) that does depend on a phase is therefore not caught.
"""

from __future__ import annotations

import warnings
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Lazy, as_array, like, stack_of
from qad.linalg.support import tolerances
from qad.linalg.support.check import batch_entry
from qad.linalg.support.derivative_order import orders

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qad.typing import Array

FIX = {
    "svd": "qad.linalg.funm_svd(f, A) for U f(S) V^H (of symmetric tensors qad.symmetric.split or funm_svd)",
    "eig": "expm, logm or sqrtm for functions of the matrix",
    "schur": "expm, logm or sqrtm for functions of the matrix",
    "eigh": "qad.linalg.funm_herm(f, A) for V f(w) V^H (of symmetric tensors qad.symmetric.funm_herm)",
}


def far_apart(s: np.ndarray, kind: str = "differences", condition: np.ndarray | None = None) -> bool:
    """Whether all the bare values `s` (..., k) are so far apart that no check in this package can object.

    For "sums" and "values" (see ``gap_quotients.py``) whether they are as far from zero; `condition` (..., k) divides
    gaps.
    """
    largest, tiny = np.abs(s).max(initial=0.0), tolerances.tiny(s.dtype)  # a zero matrix has values marked as tiny
    least = max(tolerances.far(s.dtype) * largest, tiny)
    least = least if condition is None else least * condition.max(initial=1.0)
    if kind != "differences":
        return bool(s.min(initial=np.inf) > least)
    if s.dtype.kind != "c":  # real values are sorted
        return bool(np.abs(s[..., 1:] - s[..., :-1]).min(initial=np.inf) > least)
    gaps = np.abs(s[..., None, :] - s[..., :, None])
    i = like(s).arange(s.shape[-1])
    gaps[..., i, i] = np.inf
    return bool(gaps.min(initial=np.inf) > least)


def width(s: np.ndarray) -> np.ndarray:
    """Gaps (...) below which two of the values `s` (..., k) count as equal: tau_1 of ``tolerances.py``."""
    return tolerances.lost(s.dtype) * np.abs(s).max(axis=-1, initial=0.0)


def rounding(s: np.ndarray, end: tuple[Array, Array] | None) -> np.ndarray:
    """The derivative of the loss (...), along a turn of the vectors of the values `s`, up to which it is rounding.

    `end` is the pair (cotangent, value) from which the backward pass set out, or None.  The floor is
    ``eps**(5/8) * max(1, |loss|) + 10 n eps * max |s|``: 1e-10 of the loss in double precision, where a
    loss that has vanished, like a variance, counts as one.
    """
    largest = np.abs(s).max(axis=-1, initial=0.0)
    return tolerances.gauge(s.dtype) * _size_of(end) + tolerances.zero(s.dtype, s.shape[-1]) * largest


def _size_of(end):
    """``max |cotangent * value|``, at least one."""
    if end is None:
        return 1.0
    g, value = (stack_of(x.dense() if isinstance(x, Lazy) else x) for x in end)
    return np.abs(g * value).max(initial=1.0)


def unbroken(breaks: np.ndarray) -> np.ndarray:
    """Boolean (..., k, k): whether there is none of the `breaks` (..., k - 1) between i and j."""
    number = np.concatenate([like(breaks).zeros((*breaks.shape[:-1], 1), int), np.cumsum(breaks, axis=-1)], axis=-1)
    return number[..., :, None] == number[..., None, :]


def same_block(s: np.ndarray) -> np.ndarray:
    """Boolean (..., k, k): whether i and j belong to one degenerate block; true on the diagonal.

    Real values are sorted, and blocks are chains of neighbours; complex ones are compared in pairs.
    """
    if s.dtype.kind == "c":
        return np.abs(s[..., :, None] - s[..., None, :]) <= width(s)[..., None, None]
    return unbroken(np.abs(np.diff(s, axis=-1)) > width(s)[..., None])


def vanishing(s: np.ndarray) -> np.ndarray:
    """Boolean (..., k): which of the singular values `s` are zero to rounding."""
    return s <= np.maximum(width(s), tolerances.tiny(s.dtype))[..., None]


def refuse(
    size: np.ndarray,
    s: np.ndarray,
    owner: str,
    scale: np.ndarray | float,
    degenerate: str = "raise",
    tolerance: float | None = None,
    order: int = 1,
) -> None:
    """Raise (or warn) if an entry of `size` (..., m, k) exceeds rounding relative to `scale` (...)."""
    tolerance = tolerances.noise(s.dtype, max(size.shape[-2:])) if tolerance is None else tolerance
    scale = as_array(scale) if like(size) is np else like(size).asarray(scale)
    bad = size > tolerance * scale[..., None, None]
    if not bad.any():
        return
    *batch, i, j = map(int, np.argwhere(bad)[0])
    i = i if size.shape[-2] == s.shape[-1] else j
    values = np.broadcast_to(s, (*size.shape[:-2], s.shape[-1]))[tuple(batch)]
    state = "degenerate to rounding (or zero)"
    if order > 1:
        state = f"too close (or too small) for a derivative of order {order}, whose rounding goes as eps / gap**{order}"
    complain(
        f"{owner}{batch_entry(batch)}: its values {values[i]:.17g} and {values[j]:.17g} (numbers {i} and {j}) are "
        f"{state}, and the loss depends on them or on their vectors in a way that the factors do not determine. "
        f"Use {FIX[owner]}, which is exact there, or a loss of the other columns only",
        degenerate,
    )


def complain(message: str, degenerate: str) -> None:
    """Raise, or warn if the caller has asked for that."""
    if degenerate == "raise":
        raise ArgumentError(message)
    warnings.warn(message, RuntimeWarning, stacklevel=2)


def check_policy(degenerate: str) -> None:
    """`degenerate` is one of the policies."""
    if degenerate not in ("raise", "warn"):
        raise ArgumentError(f'degenerate={degenerate!r}: write degenerate="raise" or degenerate="warn"')


def magnitude(*xs: Array | None) -> np.ndarray:
    """The largest absolute entry per batch entry (...) of arrays (..., m, k); None counts as zero."""
    return max_of(*(np.abs(stack_of(x)).max(axis=(-2, -1), initial=0.0) for x in xs if x is not None))


def max_of(*xs: np.ndarray) -> np.ndarray:
    return reduce(np.maximum, xs)


def check_phases(diagonal: np.ndarray, s: np.ndarray, owner: str, scale: np.ndarray, floor: np.ndarray) -> None:
    """Raise where the loss depends on the phases of the vectors: `diagonal` (..., k) must be zero.

    Zero is what lies below a relative tolerance times the size `scale` (...) of the cotangents, or below `floor` (...).
    """
    limit = np.maximum(tolerances.SUMS * tolerances.half(s.dtype) * scale, floor)
    bad = np.argwhere(np.abs(diagonal) > limit[..., None])
    if len(bad):
        *batch, i = map(int, bad[0])
        raise ArgumentError(
            f"{owner}{batch_entry(batch)}: the loss depends on the phase of vector number {i} (its derivative along "
            f"that phase is {diagonal[tuple(bad[0])]:.3g}), which {owner} leaves arbitrary. Write the loss in "
            "gauge-invariant terms, such as U @ f(s) @ Vh or abs of an overlap"
        )


def gauge_checked(
    turn: np.ndarray | None, s: np.ndarray, owner: str, g: Iterable[Array | None], gs: Array | None, floor: np.ndarray
) -> np.ndarray:
    """Refuse a loss that depends on phases, by its slopes `turn`; the size (...) to which rounding is relative.

    That is the largest of the cotangents `g` of vectors and `gs` of values, or of what makes `floor` rounding.
    """
    scale = magnitude(*g)
    if gs is not None:
        scale = max_of(scale, np.abs(stack_of(gs) * s).max(axis=-1, initial=0.0))
    if turn is not None:
        check_phases(turn, s, owner, scale, floor)
    return max_of(scale, floor / tolerances.noise(s.dtype, s.shape[-1]))


def check_blocks(
    s: np.ndarray,
    products: Iterable[Array | None],
    gs: Array | None,
    owner: str,
    scale: np.ndarray | None,
    degenerate: str,
    floor: np.ndarray,
) -> None:
    """First-order check inside degenerate blocks, on bare values.

    Off-diagonal entries of the `products` ``U^H G_U``, Hermitian part included, must vanish there, and the
    cotangent `gs` (..., k) of the values must be constant; both up to `floor` (...).
    """
    if far_apart(s):
        return
    pairs = same_block(s) & ~like(s).eye(s.shape[-1], dtype=bool)
    for x in products:
        if x is not None:
            refuse(np.where(pairs, np.abs(stack_of(x)), 0.0), s, owner, scale, degenerate)
    if gs is not None:
        gs = stack_of(gs)
        differ = np.where(pairs, np.abs(gs[..., None, :] - gs[..., :, None]), 0.0)
        refuse(differ, s, owner, constant_scale(gs, s, floor), degenerate, tolerance=tolerances.half(s.dtype))


def check_alike(s: np.ndarray, g: Iterable[Array | None], owner: str, scale: np.ndarray, degenerate: str) -> None:
    """Refuse a loss that uses some vectors of a degenerate block and leaves others alone, by the cotangents `g`.

    It need not depend on the choice of vectors at this matrix, as the mean energy ``v @ h @ v`` of one of a level does
    not, and does so beside it.
    """
    if far_apart(s):
        return
    columns = max_of(*(np.abs(stack_of(x)).max(axis=-2, initial=0.0) for x in g if x is not None))
    picked = same_block(s) & (columns == 0)[..., :, None]
    picked &= (columns > tolerances.half(s.dtype) * scale[..., None])[..., None, :]
    refuse(np.where(picked | picked.mT, 1.0, 0.0), s, owner, 0.0 * scale, degenerate)


def check_vectors(
    s: np.ndarray, g: tuple[Array | None, ...], gs: Array | None, turn: np.ndarray | None,
    products: Iterable[Array | None], owner: str, degenerate: str, floor: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Refuse a loss of vectors that the factors do not determine; returns the size to which rounding is relative.

    `g` are the cotangents of vectors, in columns, and `products` those of a turn of each two of them.
    """
    scale = gauge_checked(turn, s, owner, g, gs, floor)
    check_alike(s, g, owner, scale, degenerate)
    check_blocks(s, products, gs, owner, scale, degenerate, floor)
    return scale


def check_values(s: np.ndarray, gs: Array, levels: int, owner: str, degenerate: str, floor: np.ndarray) -> None:
    """Refuse a loss of the values alone that weighs equal ones differently, or needs to know how it curves there."""
    check_blocks(s, (), gs, owner, None, degenerate, floor)
    if levels > 1 and orders(gs):
        check_curved(s, owner, degenerate)


def check_curved(s: np.ndarray, owner: str, degenerate: str) -> None:
    """Refuse a second derivative where values `s` coincide: their cotangents do not tell how the loss curves there."""
    if far_apart(s):
        return
    together = same_block(s) & ~like(s).eye(s.shape[-1], dtype=bool)
    if owner == "svd":
        together &= ~vanishing(s)[..., None, :]  # at zero values have kinks
    refuse(together * 1.0, s, owner, 0.0, degenerate, order=2)


def check_split(c: Array, s: np.ndarray, owner: str, degenerate: str) -> None:
    """Refuse a tangent that splits values `s` that coincide: it, not the matrix, would choose their vectors.

    `c` (..., k, k) is the tangent between the vectors.  Off its diagonal it may vanish for those that LAPACK chose.
    """
    if not far_apart(s):
        moved = np.diagonal(stack_of(c), axis1=-2, axis2=-1).real
        differ = np.where(same_block(s), np.abs(moved[..., None, :] - moved[..., :, None]), 0.0)
        refuse(differ, s, owner, magnitude(c), degenerate)


def constant_scale(gs: np.ndarray, s: np.ndarray, floor: np.ndarray | float) -> np.ndarray:
    """The size (...) of which half the digits of the cotangents `gs` (..., k) of values `s` are rounding."""
    per_value = floor / np.maximum(1.0, np.abs(s).max(axis=-1, initial=0.0))
    return np.maximum(np.abs(gs).max(axis=-1, initial=0.0), per_value / tolerances.half(s.dtype))
