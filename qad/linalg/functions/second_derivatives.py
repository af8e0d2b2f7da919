"""Second derivatives of functions of Hermitian and diagonalisable matrices in their eigenbasis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import like
from qad.linalg.functions.divided_differences import (
    NEAR,
    curvature,
    differences_and_errors,
    second_differences,
    size_of,
)
from qad.linalg.support.check import largest_entry

if TYPE_CHECKING:
    from qad.linalg.functions.divided_differences import Function

FAR = 1e-6  # of the curvature: an error of distant points, above which all are taken for near


def second_derivative(f: Function, w: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """``sum_k f[i, k, j] (x_ik y_kj + y_ik x_kj)``: of a matrix function, in its eigenbasis, along `x` and `y`.

    Where i and k are far apart, or else k and j, the quotient by their gap turns the sum into matrix products;
    what remains is summed within the neighbourhood of each k.  Rounding is divided by two gaps, each of them `NEAR` at
    least: single precision has no digits left then (1e-3 at worst), so that all of it is done in double precision.
    """
    single = np.finfo(np.result_type(w.dtype, x.dtype, y.dtype)).bits == 32
    w, x, y = (z.astype(np.result_type(z.dtype, float), copy=False) for z in (w, x, y))
    d, errors = differences_and_errors(f, w)
    gap = w[..., None, :] - w[..., :, None]
    near = np.abs(gap) <= NEAR * size_of(w)
    curve, error = curvature(f, w), np.where(np.isfinite(errors), errors, 0.0)
    near |= (curve[0] > 0) & (largest_entry(error)[..., None, None] > FAR * NEAR * size_of(w) * curve[0])
    inverse = np.where(near, 0.0, 1.0 / np.where(near, 1.0, gap))
    out = _far(d, near, inverse, x, y) + _far(d, near, inverse, y, x) + _near(f, w, (d, errors, curve), near, x, y)
    return out.astype(np.complex64 if out.dtype.kind == "c" else np.float32) if single else out


def _far(d, near, inverse, x, y):
    """The terms ``f[i, k, j] x_ik y_kj`` in which i and k, or else k and j, are far apart."""
    c, e, close = x * inverse, y * inverse, np.where(near, x, 0.0)
    return c @ (d * y) - d * (c @ y) + d * (close @ e) - (close * d) @ e


def _near(f, w, differences, near, x, y):
    """The terms in which both i and j are near to k."""
    d, errors, (curved, of_curve, starts) = differences
    x, y = np.where(near, x, 0.0), np.where(near, y, 0.0)
    total, largest = like(x).zeros(x.shape, np.result_type(d, x, y)), size_of(w)
    for k in range(w.shape[-1]):
        at = np.flatnonzero(near[..., k, :].reshape(-1, w.shape[-1]).any(axis=0))
        block = (..., *np.ix_(at, at))
        if not d[block].any() and not _curved(f, w[..., at]):
            continue  # the function vanishes here, as on what a truncation discards
        both = x[..., at, k, None] * y[..., None, k, at] + y[..., at, k, None] * x[..., None, k, at]
        curve = curved, of_curve[..., at], starts
        d2 = second_differences(f, w[..., at], d[block], np.searchsorted(at, k), largest, errors[block], curve)
        total[block] += d2 * both
    return total


def _curved(f, w):
    """Whether ``f''`` is finite and not zero at one of the points: a slope of zero does not yet make a constant."""
    with np.errstate(all="ignore"):
        second = f.second(w)
    return np.any(second[np.isfinite(second)])
