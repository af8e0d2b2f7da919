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

from qad.core.errors import ArgumentError
from qad.extend import like
from qad.linalg.functions.certain import gauss
from qad.linalg.support import tolerances
from qad.linalg.support.check import batch_entry, largest_entry

if TYPE_CHECKING:
    from typing import SupportsIndex

    from qad.linalg.functions.elementwise import ElementwiseFunction

LOW, HIGH = (5, 7)  # numbers of nodes of Gauss' rule


def first_differences(f: ElementwiseFunction, w: np.ndarray, order: int = 1) -> np.ndarray:
    """``f[w_i, w_j]``, an array (..., n, n), of points `w` (..., n), for derivatives of this order.

    The values of f may have lost digits where its terms cancel: a difference of that size is no step of f.
    """
    value, size = f.value(w), _size(w)
    x, y = np.broadcast_arrays(w[..., :, None], w[..., None, :])
    fx, fy = value[..., :, None], value[..., None, :]
    gap = y - x
    with np.errstate(all="ignore"):
        quotient = (fy - fx) / gap
        largest = np.nanmax(np.abs(value), axis=-1, initial=0.0)[..., None, None]
        error = tolerances.unit(w.dtype) * np.maximum((np.abs(fx) + np.abs(fy)) / np.abs(gap), largest / size)
        step = tolerances.quarter(w.dtype) * largest / np.abs(gap)
    near = np.abs(gap) <= tolerances.near(order) * size
    if not f.through_zero:
        near &= x * y > 0
    d = _integrated(quotient, error, step, near, lambda n, *p: _segment(f, n, *p), x, y)
    return _finite(f, d, w, x, y)


def second_differences(
    f: ElementwiseFunction, w: np.ndarray, d: np.ndarray, k: SupportsIndex, largest: np.ndarray | None = None
) -> np.ndarray:
    """``f[w_k, w_i, w_j]``, an array (..., n, n); `d` are the `first_differences`.

    `largest` (..., 1, 1) is the size of the spectrum from which `w` was taken, if it is only a part.
    """
    largest = _size(w) if largest is None else largest
    x, y, z = np.broadcast_arrays(w[..., k, None, None], w[..., :, None], w[..., None, :])
    dxy, dxz = d[..., k, :, None], d[..., k, None, :]
    gaps = np.stack([np.abs(z - x), np.abs(z - y), np.abs(y - x)])
    widest = gaps.argmax(axis=0)
    with np.errstate(all="ignore"):
        ways = np.stack([(d - dxy) / (z - x), (dxz - dxy) / (z - y), (dxz - d) / (x - y)])
        quotient = np.take_along_axis(ways, widest[None], axis=0)[0]
        size = np.abs(dxy) + np.abs(dxz) + np.abs(d)
        error = tolerances.places(w.dtype) / 2 * size / gaps.max(axis=0)
    near = gaps.max(axis=0) <= 2 * tolerances.near(2) * largest
    if not f.through_zero:
        near &= (x * y > 0) & (y * z > 0)
    step = error / tolerances.quarter(w.dtype)
    d = _integrated(quotient, error, step, near, lambda n, *p: _triangle(f, n, *p), x, y, z)
    return _finite(f, d, w, x, y, z)


def _size(w):
    """That of the whole spectrum, (..., 1, 1)."""
    return largest_entry(w[..., None])[..., None, None]


def _integrated(quotient, error, step, near, rule, *points):
    """`quotient`, with the entries that are `near` replaced where the integral `rule` is more accurate.

    An integral that has converged to another number by more than `step` has missed a step of the function.
    """
    if not near.any():
        return quotient
    points = [p[near] for p in points]
    with np.errstate(all="ignore"):
        low, high = rule(LOW, *points), rule(HIGH, *points)
        known = np.fmax(error[near], tolerances.sums(error.dtype) * np.abs(high))  # an error of equal points is NaN
        better = (np.abs(high - low) <= known) & ~(np.abs(high - quotient[near]) > step[near])
    out = quotient.astype(np.result_type(quotient, high))
    out[near] = np.where(better, high, out[near])
    return out


def _nodes(n, x):
    """Nodes and weights of Gauss' rule on [0, 1], as arrays like `x`."""
    return map(like(x).asarray, gauss(n))


def _segment(f, n, x, y):
    """The mean of f' between `x` and `y`; that of an odd function may bend at zero, and is taken on either side."""
    t, weights = _nodes(n, x)

    def mean(x, y):
        return f.first(x[:, None] + t * (y - x)[:, None]) @ weights

    across = x * y < 0 if f.odd else np.zeros(x.shape, bool)
    if not across.any():
        return mean(x, y)
    return np.where(across, (y * mean(0 * y, y) - x * mean(x, 0 * x)) / (y - x), mean(x, y))


def _triangle(f, n, x, y, z):
    t, weights = _nodes(n, x)
    s = t[:, None]
    points = x[:, None, None] + s * (y - x)[:, None, None] + s * t * (z - y)[:, None, None]
    return np.einsum("pst,s,t->p", f.second(points), weights * t, weights)


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
        raise ArgumentError(
            f"the matrix function{batch_entry(batch)} has no finite derivative between {values[i]:.6g} and "
            f"{values[j]:.6g}, values of its spectrum: keep them away from the singularity, or cut the function off "
            "there"
        )
    return d


def second_derivative(f: ElementwiseFunction, w: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """``sum_k f[i, k, j] (x_ik y_kj + y_ik x_kj)``: of a matrix function, in its eigenbasis, along `x` and `y`.

    Where i and k are far apart, or else k and j, the quotient by their gap turns the sum into matrix products;
    what remains is summed within the neighbourhood of each k.  Rounding is divided by two gaps, each of them near(2) at
    least: single precision has no digits left then (1e-3 at worst), so that all of it is done in double precision.
    """
    single = np.finfo(np.result_type(w.dtype, x.dtype, y.dtype)).bits == 32
    w, x, y = (z.astype(np.result_type(z.dtype, float), copy=False) for z in (w, x, y))
    d = first_differences(f, w, 2)
    gap = w[..., None, :] - w[..., :, None]
    near = np.abs(gap) <= tolerances.near(2) * _size(w)
    inverse = np.where(near, 0.0, 1.0 / np.where(near, 1.0, gap))
    out = _far(d, near, inverse, x, y) + _far(d, near, inverse, y, x) + _near(f, w, d, near, x, y)
    return out.astype(np.complex64 if out.dtype.kind == "c" else np.float32) if single else out


def _far(d, near, inverse, x, y):
    """The terms ``f[i, k, j] x_ik y_kj`` in which i and k, or else k and j, are far apart."""
    c, e, close = x * inverse, y * inverse, np.where(near, x, 0.0)
    return c @ (d * y) - d * (c @ y) + d * (close @ e) - (close * d) @ e


def _near(f, w, d, near, x, y):
    """The terms in which both i and j are near to k."""
    x, y = np.where(near, x, 0.0), np.where(near, y, 0.0)
    total, largest = like(x).zeros(x.shape, np.result_type(d, x, y)), _size(w)
    for k in range(w.shape[-1]):
        at = np.flatnonzero(near[..., k, :].reshape(-1, w.shape[-1]).any(axis=0))
        block = (..., *np.ix_(at, at))
        if not d[block].any() and not _curved(f, w[..., at]):
            continue  # the function vanishes here, as on what a truncation discards
        both = x[..., at, k, None] * y[..., None, k, at] + y[..., at, k, None] * x[..., None, k, at]
        total[block] += second_differences(f, w[..., at], d[block], np.searchsorted(at, k), largest) * both
    return total


def _curved(f, w):
    """Whether ``f''`` is finite and not zero at one of the points: a slope of zero does not yet make a constant."""
    with np.errstate(all="ignore"):
        second = f.second(w)
    return np.any(second[np.isfinite(second)])
