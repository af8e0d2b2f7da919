"""Divided differences as integrals of derivatives, and the rounding of values as measured by them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from qad.extend import like

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    class Differentiable(Protocol):
        """What is integrated; see ``divided_differences.Function``."""

        odd: bool

        def first(self, x: np.ndarray) -> np.ndarray: ...
        def second(self, x: np.ndarray) -> np.ndarray: ...


BESIDES = 0.5, 0.63, 0.79, 0.94, 1.07, 1.29, 1.61, 2.0  # of a point: where its value is compared, half on either side
FINE = 7, 10  # numbers of nodes there


def _nodes(n, x):
    """Nodes and weights of Gauss' rule on [0, 1], as arrays like `x`."""
    t, weights = map(like(x).asarray, np.polynomial.legendre.leggauss(n))
    return (t + 1) / 2, weights / 2


def _line(g, n, x, y):
    """The mean of `g` between `x` and `y`."""
    t, weights = _nodes(n, x)
    return g(x[..., None] + t * (y - x)[..., None]) @ weights


def segment(f: Differentiable, n: int, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """``f[x, y]`` by `n` nodes; an odd continuation may bend at zero, where it is cut in two."""
    whole = _line(f.first, n, x, y)
    if not f.odd or not (x * y < 0).any():
        return whole
    p, q = np.abs(x), np.abs(y)
    cut = (p * _line(f.first, n, 0 * p, p) + q * _line(f.first, n, 0 * q, q)) / (p + q)
    return np.where(x * y < 0, cut, whole)


def triangle(f: Differentiable, n: int, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """``f[x, y, z]`` by `n` nodes a side; likewise."""
    t, weights = _nodes(n, x)
    s = t[:, None]
    points = x[:, None, None] + s * (y - x)[:, None, None] + s * t * (z - y)[:, None, None]
    whole = np.einsum("pst,s,t->p", f.second(points), weights * t, weights)
    if not f.odd:
        return whole
    low, middle, high = np.sort(np.stack([x, y, z]), axis=0)
    crossing = (low < 0) & (high > 0)
    return np.where(crossing, _hat(f, n, low, middle, high), whole) if crossing.any() else whole


def _hat(f, n, a, b, c):
    """``f[a, b, c]`` as the integral of f'' times the spline of these points, piece by piece between them and zero."""
    t, weights = _nodes(n, a)
    cuts = np.sort(np.stack([0 * a, b - a, c - a, np.clip(-a, 0, c - a)]), axis=0)
    total = 0 * a
    for p, q in pairwise(cuts):
        at = p[:, None] + t * (q - p)[:, None]
        rise = np.where(b > a, 1, np.inf)[:, None] * at / np.where(b > a, b - a, 1)[:, None]
        fall = np.where(c > b, 1, np.inf)[:, None] * ((c - a)[:, None] - at) / np.where(c > b, c - b, 1)[:, None]
        part = (f.second(a[:, None] + at) * np.fmin(rise, fall)) @ weights * (q - p) / (c - a)
        total = total + np.where(q > p, part, 0.0)
    return total


def rounding_of(g: Callable, slope: Callable, x: np.ndarray, least: np.ndarray) -> np.ndarray:
    """The absolute error of ``g(x)``, which is more than eps of it where g is a difference of large terms.

    It is measured: values beside `x` differ from ``g(x)`` by the integral of `slope`, and by rounding.  Of either side
    the better one counts, because g may jump at the other.  Points less than `least` are measured there.
    """
    eps = np.finfo(x.dtype).eps
    at = np.where(np.abs(x) < least, least, x)[..., None]
    y = at * like(x).asarray(np.asarray(BESIDES, x.real.dtype))
    rules = [_nodes(n, x) for n in FINE]
    t = like(x).asarray(np.concatenate([t for t, _ in rules]))
    with np.errstate(all="ignore"):
        here, there, slopes = g(at), g(y), slope(at[..., None] + t * (y - at)[..., None])
        low, high = slopes[..., : FINE[0]] @ rules[0][1], slopes[..., FINE[0] :] @ rules[1][1]
        change, gap = (y - at) * high, np.abs(y - at)
        known = gap * np.abs(high - low) + 4 * eps * (np.abs(here) + np.abs(there) + np.abs(change))
        excess = np.abs(there - here - change) - known
        excess = np.where(np.isfinite(excess), np.maximum(excess, 0.0), np.inf)
        half = len(BESIDES) // 2
        found = np.minimum(excess[..., :half].max(axis=-1), excess[..., half:].max(axis=-1))
        return 4 * np.where(np.isfinite(found), found, 0.0) + eps * np.abs(g(x))
