"""Values of a spectrum that are zero to rounding: a derivative there is known if it is one at all that may be meant.

Rounding leaves anything up to ``10 n eps`` of the largest value where zero is meant.  A root or a logarithm has another
slope at each of these numbers: a derivative there is that of rounding, and refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.linalg.support.check import batch_entry

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.linalg.functions.elementwise import Function

BESIDE = 1e-3  # of the largest value: points below are asked how much rounding moves the curvature
WORST = 1e-4  # error, of the largest derivative, that is refused
AROUND = 1.0, 0.61, 0.37, 0.23, 0.083, 0.029, 1.3e-3, 5.7e-5, 7.1e-7  # of rounding: where slopes at zero are compared


def rounding(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What rounding may leave of a zero among `w` (..., n), as an array (..., 1), and the largest value."""
    info, largest = np.finfo(w.dtype), np.abs(w).max(axis=-1, keepdims=True, initial=0.0)
    return np.where(largest > 0.0, 10 * w.shape[-1] * info.eps * largest, info.tiny**0.5), largest


def off_zero(f: Function, w: np.ndarray) -> np.ndarray:
    """`w` (..., n), where zeros at which `f` has no finite slope are numbers that rounding might have left instead.

    ``sqrt(x) sqrt(x)`` has slope 1 at these, and infinity times zero at zero itself.  All zeros stay.
    """
    least, largest = rounding(w)
    exact = (w == 0) & (largest > 0.0)
    if not exact.any():
        return w
    with np.errstate(all="ignore"):
        slope = f.first(w)
    return np.where(exact & ~np.isfinite(slope), AROUND[2] * least, w)


def known_at_zero(
    f: Function,
    w: np.ndarray,
    order: int,
    felt: Callable[[np.ndarray], np.ndarray] | None = None,
    null: bool = False,
) -> None:
    """Raise where a point of `w` (..., n) is zero to rounding, and the derivative of `f` there is that of rounding.

    Slopes are compared with the largest of the spectrum; of a matrix that is zero, with that far from zero.  Given what
    is lost, ``felt(lost)`` (...) says for which spectra the result depends on it.  Beside zero it is bounded how much
    rounding of a point changes a curvature; vectors of such a point turn into those of a `null` space, if any.
    """
    if order == 2:
        _bounded_beside_zero(f, w, null)
    least, largest = rounding(w)
    lost = np.abs(w) <= least
    if not lost.any():
        return
    derivative = (f.first, f.second)[order - 1]
    with np.errstate(all="ignore"):
        slope, others = derivative(w), [derivative(t * least) for t in AROUND]
        others += [np.where(np.isfinite(f.value(-least)), derivative(-least), others[0])]  # it may begin at zero
        before = f.first(w) if order > 1 else f.value(w)
        far = np.where(largest > 0.0, 0.0, np.abs(derivative(least**0.5)))
        scale = np.stack([np.abs(slope), np.abs(before) / np.where(largest > 0.0, largest, 1.0), far + 0.0 * w])
        scale = np.where(np.isfinite(scale), scale, 0.0).max(axis=0).max(axis=-1, keepdims=True)
        spread = np.stack([np.abs(slope - other) for other in others]).max(axis=0)
    unknown = lost & ~(spread <= 1e-4 * scale)
    if felt is not None and unknown.any():
        unknown &= felt(lost)[..., None]
    _refuse(unknown, w, order)


def _bounded_beside_zero(f, w, null):
    """Raise where the curvature at a point beside zero is not known to `WORST`, as the point itself is not."""
    least, largest = rounding(w)
    beside = (np.abs(w) > least) & (np.abs(w) <= BESIDE * largest)
    if not beside.any():
        return
    with np.errstate(all="ignore"):
        here = np.abs(f.second(w))
        rate = np.maximum(np.abs(f.third(w)), here / np.abs(w) if null else 0.0)
        scale = np.maximum(here, np.abs(f.first(w)) / largest)
        scale = np.where(np.isfinite(scale), scale, 0.0).max(axis=-1, keepdims=True)
        off = np.finfo(w.dtype).eps * w.shape[-1] ** 0.5 * largest * rate
        _refuse(beside & np.isfinite(off) & (off > WORST * scale), w, 2)


def _refuse(unknown, w, order):
    """Raise if one of the points is `unknown`."""
    bad = np.argwhere(unknown)
    if len(bad):
        raise ArgumentError(
            f"the matrix function{batch_entry(bad[0][:-1])} has no finite derivative of order {order} that rounding "
            f"leaves certain at {w[tuple(bad[0])]:.3g}, a value of its spectrum that is zero or nearly so: keep the "
            "spectrum away from zero, or cut the function off there"
        )
