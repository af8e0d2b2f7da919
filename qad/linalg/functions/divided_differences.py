"""Divided differences ``f[x, y]`` and ``f[x, y, z]`` over a spectrum, accurate at, near and far from coinciding points.

Where points are close the quotient loses its digits to cancellation.  There the Hermite-Genocchi formulas

    f[x, y]    = int_0^1 f'(x + t (y - x)) dt
    f[x, y, z] = int_0^1 int_0^1 f''(x + s (y - x) + s t (z - y)) s dt ds

are integrated by Gauss' rule at two orders, and their difference is the estimate of the error: of the integral and
the quotient the one with the smaller error is taken, entry by entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, MissingRuleError
from qad.extend import Tensor, jvp, like
from qad.linalg.functions.integrals import rounding_of, segment, triangle
from qad.linalg.support.check import batch_entry, largest_entry

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, SupportsIndex

CROWDED = 1e-3  # of the largest point: a gap at which cancellation matters
SMALL = 0.01  # a largest point at which terms of a function that are about one may cancel
NEAR = 0.02  # of the largest point: where integration is tried; the quotient is good to eps / NEAR
GOOD = 1e-13  # relative error of a quotient that needs no integral
BESIDE = 0.0137  # how far from a point a function is tried, which at the point itself may not show a change
POOR = 1e-9  # relative error of a quotient of distant points that makes an integral worth trying
WORST = 1e-4  # error, of the largest derivative, that is refused
LINEAR = 1e-10  # of the first derivative: curvature that is taken for the rounding of none
LOW, HIGH = (4, 6)  # numbers of nodes of Gauss' rule


class Function:
    """An elementwise function with its first two derivatives, from the tape.

    Parameters
    ----------
    f : callable
        Of an array of real numbers, elementwise, written in NumPy's functions.
    odd : bool
        Continue `f` from the positive numbers as an odd function, ``sign(x) f(|x|)``.

    Raises
    ------
    ArgumentError
        Where it is asked again after what `f` closes over has changed: derivatives are those of the function that it
        was at first.
    """

    f: Callable[[Any], Any]
    odd: bool
    fixed: bool
    first_met: tuple[np.ndarray, np.ndarray] | None

    def __init__(self, f: Callable[[Any], Any], odd: bool = False):
        self.f = lambda x: f(x) + 0.0 * x  # constants become arrays
        self.odd = odd
        self.fixed, self.first_met = isinstance(f, np.ufunc), None

    def through_zero(self, w: np.ndarray) -> np.ndarray:
        """Whether ``f(0)`` is zero, or rounding, for spectra `w` (..., n): booleans (..., 1)."""
        size = np.abs(w).max(axis=-1, keepdims=True, initial=0.0)
        with np.errstate(all="ignore"):
            start = np.abs(self.f(0.0 * size))
            small = size * like(w).asarray(np.asarray([1e-5, 1e-7, 1e-9], w.dtype))
            lost = rounding_of(self.f, self._slope, small, 0.0 * size).max(axis=-1, keepdims=True)
            return (start == 0) | (start <= lost)

    def value(self, x: np.ndarray) -> np.ndarray:
        """``f(x)``, continued."""
        if not self.odd:
            return self.plain(x)
        with np.errstate(all="ignore"):
            return np.where(x == 0, 0.0, np.sign(x) * self.plain(np.abs(x)))

    def plain(self, x: np.ndarray) -> np.ndarray:
        """``f(x)``, as given."""
        y = self.f(x)
        if not self.fixed:
            self._recognise(x)
        if type(y) is Tensor:
            raise ArgumentError(
                "the function depends on a recorded Tensor, whose gradient would be lost: bring it into the "
                "matrix, as in funm_herm(np.exp, t * A), or multiply outside"
            )
        if self.odd and y.dtype.kind == "c":
            raise ArgumentError("funm_svd takes real functions: apply it to the real and the imaginary part")
        return y

    def _recognise(self, x):
        """Take note of what `f` gives beside the first points that it meets; raise where it gives something else."""
        with np.errstate(all="ignore"):
            if self.first_met is None:
                beside = x + BESIDE * (1 + np.abs(x))
                self.first_met = beside, self.f(beside)
                return
            beside, before = self.first_met
            now = self.f(beside)
        same = type(now) is not Tensor and np.allclose(now, before, rtol=1e-12, atol=0, equal_nan=True)
        if not same:
            raise ArgumentError(
                "the function of a matrix has changed since its value was computed: an array that it closes over was "
                "written into, or a name was given to something else. Bring what changes into the matrix, as in "
                "funm_herm(np.exp, t * A)"
            )

    def first(self, x: np.ndarray) -> np.ndarray:
        """``f'(x)``."""
        return self._slope(np.abs(x) if self.odd else x)

    def second(self, x: np.ndarray) -> np.ndarray:
        """``f''(x)``."""
        point = np.abs(x) if self.odd else x
        y = jvp(self._slope, (point,), (np.ones_like(point),))[1]
        return np.sign(x) * y if self.odd else y

    def third(self, x: np.ndarray) -> np.ndarray:
        """The third derivative."""
        point = np.abs(x) if self.odd else x
        return jvp(lambda x: jvp(self._slope, (x,), (x * 0.0 + 1.0,))[1], (point,), (np.ones_like(point),))[1]

    def _slope(self, x):
        return jvp(self.f, (x,), (x * 0.0 + 1.0,))[1]


def first_differences(f: Function, w: np.ndarray) -> np.ndarray:
    """``f[w_i, w_j]``, an array (..., n, n), of points `w` (..., n)."""
    return differences_and_errors(f, w)[0]


def differences_and_errors(f: Function, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``f[w_i, w_j]`` and the absolute errors of these; raise where one is more than `WORST` of the largest."""
    value, (x, y) = f.value(w), np.broadcast_arrays(w[..., :, None], w[..., None, :])
    fx, fy = value[..., :, None], value[..., None, :]
    gap, least = y - x, _least(w)
    if crowded(w):
        lost, of_slope = rounding_of(f.value, f.first, w, least), rounding_of(f.first, f.second, w, least)
    else:
        lost, of_slope = np.finfo(w.dtype).eps * np.abs(value), np.zeros_like(np.abs(w))
    with np.errstate(all="ignore"):
        quotient = (fy - fx) / gap
        error = (lost[..., :, None] + lost[..., None, :]) / np.abs(gap)
    near = (np.abs(gap) <= NEAR * size_of(w)) | (error > POOR * np.abs(quotient))
    if f.odd:
        near &= (x * y > 0) | f.through_zero(w)[..., None]
    floor = np.maximum(of_slope[..., :, None], of_slope[..., None, :])
    d, error = _integrated(quotient, error, near, floor, lambda n, *p: segment(f, n, *p), x, y)
    d = _finite(f, d, w, x, y)
    _certain(error, WORST * largest_entry(d)[..., None, None], w)
    return d, error


def second_differences(
    f: Function,
    w: np.ndarray,
    d: np.ndarray,
    k: SupportsIndex,
    largest: np.ndarray | None = None,
    errors: np.ndarray | None = None,
    curve: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
) -> np.ndarray:
    """``f[w_k, w_i, w_j]``, an array (..., n, n); `d` are the `first_differences`, which have `errors`.

    `largest` (..., 1, 1) is the size of the spectrum from which `w` was taken, if it is only a part; `curve` is what
    `curvature` gave.
    """
    largest = size_of(w) if largest is None else largest
    errors = np.finfo(w.dtype).eps * np.abs(d) if errors is None else errors
    x, y, z = np.broadcast_arrays(w[..., k, None, None], w[..., :, None], w[..., None, :])
    dxy, dxz = d[..., k, :, None], d[..., k, None, :]
    exy, exz = errors[..., k, :, None], errors[..., k, None, :]
    gaps = np.stack([np.abs(z - x), np.abs(z - y), np.abs(y - x)])
    widest = gaps.argmax(axis=0)
    with np.errstate(all="ignore"):
        ways = np.stack([(d - dxy) / (z - x), (dxz - dxy) / (z - y), (dxz - d) / (x - y)])
        quotient = np.take_along_axis(ways, widest[None], axis=0)[0]
        least = 4 * np.finfo(w.dtype).eps * (np.abs(dxy) + np.abs(dxz) + np.abs(d))
        error = np.maximum(least, exy + exz + errors) / gaps.max(axis=0)
        near = (gaps.max(axis=0) <= 2 * NEAR * largest) | (error > POOR * np.abs(quotient))
    scale, of_curve, starts = curvature(f, w) if curve is None else curve
    if f.odd:
        near &= ((x * y > 0) & (y * z > 0)) | starts
    floor = np.maximum(np.maximum(of_curve[..., :, None], of_curve[..., None, :]), of_curve[..., k, None, None])
    d2, error = _integrated(quotient, error, near, floor, lambda n, *p: triangle(f, n, *p), x, y, z)
    d2 = _finite(f, d2, w, x, y, z)
    scale = np.maximum(largest_entry(d2)[..., None, None], scale)
    with np.errstate(all="ignore"):
        _certain(error, WORST * scale + LINEAR * largest_entry(d)[..., None, None] / largest, w)
    return d2


def size_of(w: np.ndarray) -> np.ndarray:
    """The largest modulus of a spectrum, (..., 1, 1)."""
    return largest_entry(w[..., None])[..., None, None]


def crowded(w: np.ndarray) -> bool:
    """Whether gaps of `w`, or all of it, are so small that the rounding of f is measured, which takes a millisecond.

    Else ``eps / gap**2`` times all that may cancel in f is little.
    """
    if (size_of(w) < SMALL).any():
        return True
    gaps = np.abs(w[..., :, None] - w[..., None, :]) / size_of(w)
    return bool((gaps + like(w).eye(w.shape[-1]) < CROWDED).any())


def _least(w):
    """What rounding may leave of a zero among `w`, (..., 1)."""
    info = np.finfo(w.dtype)
    return np.maximum(w.shape[-1] * info.eps * size_of(w)[..., 0], info.tiny**0.5)


def curvature(f: Function, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What second differences take of the whole spectrum `w` (..., n).

    That is the largest finite ``f''`` (..., 1, 1), the errors of ``f''`` (..., n), and whether f begins at zero
    (..., 1, 1).
    """
    with np.errstate(all="ignore"):
        second = np.abs(f.second(w))
    largest = largest_entry(np.where(np.isfinite(second), second, 0.0)[..., None])[..., None, None]
    starts = f.through_zero(w)[..., None] if f.odd else largest >= 0
    of_curve = rounding_of(f.second, f.third, w, _least(w)) if crowded(w) else np.zeros_like(np.abs(w))
    return largest, of_curve, starts


def _integrated(quotient, error, near, floor, rule, *points):
    """`quotient`, with the entries replaced where it has lost digits and the integral `rule` is more accurate.

    The `error` of either comes along; that of integrals is `floor` at least, the rounding of what is integrated.
    """
    near = near & ~(error <= GOOD * np.abs(quotient))
    if not near.any():
        return quotient, error
    points, before = [p[near] for p in points], error[near]
    with np.errstate(all="ignore"):
        low, high = rule(LOW, *points), rule(HIGH, *points)
        off = np.abs(high - low)
        better = ~(off > before)  # an error that is NaN is that of coinciding points
        better &= ~(np.abs(high - quotient[near]) > 1e4 * before)  # else it has missed a jump
        better &= np.isfinite(high)
    out, error = quotient.astype(np.result_type(quotient, high)), error.copy()
    out[near] = np.where(better, high, out[near])
    error[near] = np.where(better, off + floor[near], before)
    return out, error


def _certain(error, bound, w):
    """Raise where an `error` is above the `bound`."""
    bad = np.argwhere(np.isfinite(error) & np.isfinite(bound) & (error > bound))
    if len(bad):
        *batch, i, j = map(int, bad[0])
        values = w[tuple(batch)]
        raise ArgumentError(
            f"the matrix function{batch_entry(batch)} loses the digits of its derivative between {values[i]:.6g} and "
            f"{values[j]:.6g}, values of its spectrum, to cancellation: write it without differences of large terms, "
            "as np.expm1(x) for np.exp(x) - 1"
        )


def _finite(f, d, w, *points):
    """`d`, if all of it is finite; for an odd function the entry of zero with itself does not count."""
    if f.odd:
        nowhere = ~np.isfinite(d)
        for p in points:
            nowhere &= p == 0
        d = np.where(nowhere, 0.0, d)
    bad = np.argwhere(~np.isfinite(d))
    if len(bad):
        *batch, i, j = map(int, bad[0])
        values = w[tuple(batch)]
        here = batch_entry(batch)
        raise ArgumentError(
            f"the matrix function{here} has no finite derivative between {values[i]:.6g} and {values[j]:.6g}, values "
            "of its spectrum: keep them away from the singularity, or cut the function off there"
        )
    return d


def zero(x: int) -> Callable[..., np.ndarray]:
    """The rule of a factor of a decomposition, argument number `x`: the rule of the matrix speaks for it."""
    return lambda *args, f: args[x] * 0.0


def no_third(owner: str) -> Callable[..., Any]:
    """The rule of a second derivative for its matrix: an error."""

    def rule(*args, **kwargs):
        raise MissingRuleError(
            f"{owner} has two derivatives; here is a third one. Where the spectrum is well separated, compose "
            "the function of eigh or svd, which have them to every order; expm, logm and sqrtm have them everywhere"
        )

    return rule
