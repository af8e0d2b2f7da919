"""Where a function of a spectrum has a derivative that rounding leaves certain; elsewhere it is refused.

The function is evaluated as it is written, at values that are known to rounding.  So its derivative of order k is a
number only if ``f^(k)`` is the same, to a quarter of its digits, as far from each value as rounding may have moved it:
beside a root, a logarithm, a kink or a step it is not.  Where terms of ``f^(k)`` cancel, as those of
``(1 - np.cos(s)) / s`` do, it has a rounding of its own.  That is measured by values beside the point: they differ by
the integral of the slope, and by rounding.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import like
from qad.linalg.support import tolerances
from qad.linalg.support.check import batch_entry

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.linalg.functions.elementwise import ElementwiseFunction

MOVED = 1.0, -1.0, 0.3  # parts of rounding by which values are moved
BESIDE = 1.0, 0.87, 0.73, 0.61, -1.0, -0.87, -0.73, -0.61  # parts of a distance, on both sides


def require_known(f: ElementwiseFunction, w: np.ndarray, order: int, null: bool = False) -> None:
    """Raise where the derivative of `f` of this `order` is not certain at one of the points `w` (..., n).

    An error is measured by the largest derivative of the spectrum; of a matrix that is zero, by that far from zero.
    The vectors of a small value turn into those of a `null` space beside it, if there is one.
    """
    if not w.size:
        return
    least, largest = rounding(w)
    derivatives, quarter = (f.value, f.first, f.second, f.third), tolerances.quarter(w.dtype)
    with np.errstate(all="ignore"):
        there = np.stack([w, *(w + t * least for t in MOVED)])
        found = [derivative(there) for derivative in derivatives[: order + 1]]
        sizes = _sizes(derivatives, [y[0] for y in found], least, largest)
        defined = np.isfinite(found[0][1:])  # the function may begin at zero
        moved = [np.where(defined, np.abs(y[1:] - y[0]), 0.0).max(axis=0) for y in (found[0], found[-1])]
        unknown = ~((moved[0] <= quarter * sizes[0]) & (moved[1] <= quarter * sizes[-1]))
        if null and order > 1:
            unknown |= np.abs(found[2][0] * least / w) > quarter * sizes[-1]
        if order > 1 or ((w != 0) & (np.abs(w) <= quarter * largest)).any():
            x = np.abs(w) if f.odd else w
            unknown |= rounding_of(*derivatives[order : order + 2], x) > quarter * sizes[-1]
    _refuse(unknown, w, order)


def rounding(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far off each of the values `w` (..., n) may be, as an array (..., 1), and the largest value."""
    largest = np.abs(w).max(axis=-1, keepdims=True, initial=0.0)
    of_zero = tolerances.tiny(w.dtype) ** 0.5
    return np.where(largest > 0.0, tolerances.zero(w.dtype, w.shape[-1]) * largest, of_zero), largest


def _sizes(derivatives, found, least, largest):
    """Of what was `found` of each derivative, or by the others that of one that varies on the scale of the spectrum."""
    scale, sizes, empty = np.where(largest > 0.0, largest, 1.0), [], not (largest > 0.0).all()
    for derivative, y in zip(derivatives, found, strict=False):
        size = np.where(np.isfinite(y), np.abs(y), 0.0).max(axis=-1, keepdims=True)
        if empty:
            size = np.where(largest > 0.0, size, np.maximum(size, np.abs(derivative(least**0.5))))
        sizes.append(np.maximum(size, sizes[-1] / scale) if sizes else size)
    sizes[0] = np.maximum(sizes[0], sizes[1] * largest)
    return sizes


def off_zero(f: ElementwiseFunction, w: np.ndarray) -> np.ndarray:
    """`w` (..., n), where zeros at which `f` has no finite slope are numbers that rounding might have left instead.

    ``sqrt(x) sqrt(x)`` has slope 1 at these, and infinity times zero at zero itself.  All zeros stay.
    """
    least, largest = rounding(w)
    exact = (w == 0) & (largest > 0.0)
    if not exact.any():
        return w
    with np.errstate(all="ignore"):
        slope = f.first(w)
    return np.where(exact & ~np.isfinite(slope), MOVED[2] * least, w)


@cache
def gauss(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights (n,) of Gauss' rule on [0, 1], computed once, for it takes longer than most of its uses."""
    t, weights = np.polynomial.legendre.leggauss(n)
    return (t + 1) / 2, weights / 2


def rounding_of(g: Callable, slope: Callable, x: np.ndarray) -> np.ndarray:
    """How much more than its share rounding changes ``g(x)`` (..., n); zero where it does not.

    Of both sides of a point the better one counts, for g may bend at the other; and none goes as far as the next
    point, before which a function that is written by hand may have a step.
    """
    x = x.astype(np.result_type(x, float), copy=False)
    gaps, largest = np.abs(x[..., :, None] - x[..., None, :]), np.abs(x).max(axis=-1)[..., None, None]
    room = np.where(gaps > tolerances.followed(x.dtype, 1) * largest, gaps, np.inf).min(axis=-1) / 3
    reach = np.minimum(tolerances.near() * np.abs(x), room)[..., None]
    y, here = x[..., None] + like(x).asarray(np.array(BESIDE)) * reach, x[..., None]
    t, weights = (like(x).asarray(z) for z in gauss(6))
    change = (y - here) * (slope(here[..., None] + t * (y - here)[..., None]) @ weights)
    before, after, far = g(x)[..., None], g(y), np.abs(here) / np.abs(y - here)
    share = tolerances.places(x.dtype) * (np.abs(before) + np.abs(after) + (1 + far) * np.abs(change))
    off, share = (z.reshape(*x.shape, 2, -1) for z in (after - before - change, share))
    excess = np.abs(off - off[..., :1]).max(axis=-1) - share.max(axis=-1)
    excess = np.where(np.isfinite(excess), np.maximum(excess, 0.0), np.inf).min(axis=-1)
    return np.where(np.isfinite(excess), 4 * excess, 0.0)


def refuse_cancelled(f: ElementwiseFunction, s: np.ndarray, order: int) -> None:
    """Raise where rounding of f at one of the singular values `s` (..., n) decides a derivative of ``U f(S) U^H``.

    Its vectors turn by what f gives for them, divided by s.
    """
    _, largest = rounding(s)
    with np.errstate(all="ignore"):
        size = _sizes((f.value, f.first), (f.value(s), f.first(s)), largest, largest)[0]
        turned = rounding_of(f.value, f.first, s) / (s / largest) ** order
    _refuse(turned > tolerances.quarter(s.dtype) * size, s, order)


def _refuse(unknown, w, order):
    """Raise if one of the points is `unknown`."""
    bad = np.argwhere(unknown)
    if len(bad):
        raise ArgumentError(
            f"the matrix function{batch_entry(bad[0][:-1])} has no derivative of order {order} that rounding leaves "
            f"certain at {w[tuple(bad[0])]:.3g}, value number {bad[0][-1]} of its spectrum: keep that away from zero, "
            "and from where the function has a root, a kink or a step, cut it off there, and write it without "
            "differences of large terms, as np.expm1(x) for np.exp(x) - 1"
        )
