"""Functions of a spectrum whose terms cancel, as those of ``np.exp(s) - 1`` do beside zero.

Such a value is not known to eps of itself, but to eps of its terms: divided by a gap, and by another one for a second
derivative, this is an error of any size.  What rounding a value has is measured, by values beside the point and the
integral of the slope between them.  A value that has more than its share is replaced by the integral of the slope from
zero, or from a neighbour; what cannot be replaced is refused where the derivative would be wrong.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import like
from qad.linalg.support.check import batch_entry

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.linalg.functions.elementwise import Function

WORST = 1e-4  # error, of the largest derivative, that is refused
LINEAR = 1e-6  # of the slope: where curvature is less, `WORST` of this counts
CLOSE = 1e-4  # to zero, of the largest point
BESIDE = 1e-5  # of the largest point: a function by hand may have a step between points that are farther apart
STEPS = (0.1, 0.087, 0.073, 0.061), (0.01, 0.0087, 0.0073, 0.0061)  # of a point: how far from it values are compared
SHARE = 16  # times eps of a value: what a value may lose
BESIDE_NODES = 4, 6  # of Gauss' rule, beside a point
BETWEEN_NODES = 9, 12  # and between points


def steady_values(f: Function, w: np.ndarray, order: int) -> np.ndarray:
    """``f(w)`` at the points `w` (..., n), good enough for divided differences of this `order`.

    Raises
    ------
    ArgumentError
        Where terms of f, or of its derivatives, cancel so that rounding decides more than `WORST` of the derivative.
    """
    value = f.value(w)
    if not w.size:
        return value
    x = np.abs(w) if f.odd else w
    room = _room(w)
    with np.errstate(all="ignore"):
        lost = rounding_of(f.f, f.first, x, room)
        if not lost.any():  # nor has a slope
            return value
        slopes_lost = [rounding_of(f.first, f.second, x, room)]
        if order == 2:
            slopes_lost.append(rounding_of(f.second, f.third, x, room))
        value, cluster = _carried(f, w, value, lost)
        _check(f, w, value, lost, cluster, slopes_lost)
    return value


def refuse_cancelled(f: Function, s: np.ndarray, order: int) -> None:
    """Raise where rounding of f at one of the singular values `s` (..., n) decides a derivative of ``U f(S) U^H``.

    Its vectors turn by what f gives for them, divided by s.
    """
    with np.errstate(all="ignore"):
        lost = rounding_of(f.f, f.first, s, _room(s))
        if lost.any():
            largest = s.max(axis=-1, keepdims=True)
            scale = np.maximum(np.abs(f.value(s)), np.abs(f.first(s)) * largest).max(axis=-1, keepdims=True)
            _complain(lost / (s / largest) ** order > WORST * scale, s, order)


def matters_at_zero(f: Function, w: np.ndarray) -> bool:
    """Whether a point is so close to zero that the rounding of its small value may decide a first derivative."""
    points = np.abs(w)
    near = (points > 0) & (points <= CLOSE * points.max(axis=-1, keepdims=True, initial=0.0))
    if not near.any():
        return False
    size = np.abs(f.value(w))
    return bool((near & (size <= 0.1 * size.max(axis=-1, keepdims=True))).any())


def _room(w):
    """How far from each point (..., n) a function by hand has no step: a third of the way to the next one."""
    gaps = np.abs(w[..., :, None] - w[..., None, :])
    limit = BESIDE * np.abs(w).max(axis=-1, initial=0.0)[..., None, None]
    return np.where(gaps > limit, gaps, np.inf).min(axis=-1) / 3


@cache
def gauss(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights (n,) of Gauss' rule on [0, 1], computed once, for it takes longer than most of its uses."""
    t, weights = np.polynomial.legendre.leggauss(n)
    return (t + 1) / 2, weights / 2


def _means(g, rules, x, y):
    """The mean of `g` between `x` and `y`, by two rules of Gauss with these numbers of nodes."""
    nodes, weights = zip(*map(gauss, rules), strict=True)
    t, first, second = (like(x).asarray(z.astype(x.real.dtype)) for z in (np.concatenate(nodes), *weights))
    values = g(x[..., None] + t * (y - x)[..., None])
    return values[..., : rules[0]] @ first, values[..., rules[0] :] @ second


def rounding_of(g: Callable, slope: Callable, x: np.ndarray, room: np.ndarray) -> np.ndarray:
    """How much more than its `SHARE` rounding changes ``g(x)`` (..., n); zero where it does not.

    Values beside `x` differ from ``g(x)`` by the integral of `slope`, and by rounding, which differs among them: a jump
    does not.  Of both sides, and two distances within `room`, the second best counts, for g may bend at the others.
    """
    eps = np.finfo(x.dtype).eps
    reach = np.minimum(1.0, room / (STEPS[0][0] * np.abs(x)))[..., None]
    steps = like(x).asarray(np.asarray([[s * t for t in near] for near in STEPS for s in (1, -1)], x.real.dtype))
    here = x[..., None]
    y = here * (1 + steps.reshape(-1) * reach)
    coarse, change = ((y - here) * mean for mean in _means(slope, BESIDE_NODES, here + 0 * y, y))
    before, after = g(x)[..., None], g(y)
    share = eps * (
        SHARE / 2 * (np.abs(before) + np.abs(after)) + 4 * np.abs(change) + 4 * np.abs(change / (y / here - 1))
    )
    share = np.where(change == 0, np.inf, share)  # steps, and constants between them
    groups = (*x.shape, len(steps), -1)
    off, known = (after - before - change).reshape(groups), (share + 4 * np.abs(change - coarse)).reshape(groups)
    excess = np.abs(off - off[..., :1]).max(axis=-1) - known.max(axis=-1)
    excess = np.sort(np.where(np.isfinite(excess), np.maximum(excess, 0.0), np.inf), axis=-1)[..., 1]
    return np.where(np.isfinite(excess), 4 * excess, 0.0)


def _carried(f, w, value, lost):
    """Values with those that have lost digits carried over from another one, and numbers of clusters (..., n).

    The rounding that is left is common to a cluster.  Zero is the first point to carry from, if f begins there; then it
    is the smallest that is left, time and again.
    """
    out, left, places = value, lost > 0, like(w).asarray(np.arange(w.shape[-1]))
    cluster = 0 * left + 0 * places
    eps = np.finfo(w.dtype).eps
    own, number = lost + SHARE * eps * np.abs(value), 0
    least = SHARE * eps * np.abs(value).max(axis=-1, keepdims=True)
    while left.any():
        number += 1
        known = left
        if number == 1 and f.odd:
            start, offset, lost_there = 0 * w, 0 * value, 0 * own
            known = known & (np.abs(f.f(start)) <= lost.max(axis=-1, keepdims=True))
            cluster = np.where(w == 0, number, cluster)
        else:
            first = np.where(left, np.abs(w), np.inf).argmin(axis=-1)[..., None]
            start, offset, lost_there = (np.take_along_axis(x, first, axis=-1) + 0 * x for x in (w, value, own))
            here = left & (places == first)
            cluster, left = np.where(here, number, cluster), left & ~here
        coarse, slope = _means(f.first, BETWEEN_NODES, start, w)
        carried, error = offset + (w - start) * slope, np.abs((w - start) * (slope - coarse))
        known &= left & (error <= eps * SHARE * np.abs(carried))
        known &= np.abs(carried - value) <= np.maximum(4 * (own + lost_there), least)  # else it has missed a jump
        out, cluster, left = np.where(known, carried, out), np.where(known, number, cluster), left & ~known
    return out, cluster


def _check(f, w, value, lost, cluster, slopes_lost):
    """Raise where what rounding took from values or slopes decides a derivative."""
    order, largest = len(slopes_lost), np.abs(w).max(axis=-1, keepdims=True)
    sizes = [np.abs(x) for x in (value / largest, f.first(w))]
    if order == 2:
        sizes = [np.abs(f.second(w)), *(LINEAR * size / largest for size in sizes)]
    sizes = np.stack(sizes)
    scale = np.where(np.isfinite(sizes), sizes, 0.0).max(axis=0).max(axis=-1, keepdims=True)
    gaps = np.abs(w[..., :, None] - w[..., None, :])
    nearest = np.where(gaps > 0, gaps, np.inf).min(axis=-1)
    other = (cluster[..., :, None] != cluster[..., None, :]) & (gaps > 0)
    apart = np.where(other, gaps, np.inf).min(axis=-1)
    error = lost / apart**order
    if order == 2 and f.odd and not f.through_zero:
        error = np.maximum(error, np.where(lost > 0, 4 * np.finfo(w.dtype).eps * np.abs(f.first(w)) / nearest, 0.0))
    for power, each in enumerate(reversed(slopes_lost)):
        error = np.maximum(error, each / nearest**power)
    _complain(error > WORST * scale, w, order)


def _complain(wrong, w, order):
    """Raise if one of the points `w` is `wrong`."""
    bad = np.argwhere(wrong)
    if len(bad):
        at = w[tuple(bad[0])]
        raise ArgumentError(
            f"the matrix function{batch_entry(bad[0][:-1])} loses the digits of its derivative of order {order} at "
            f"{at:.3g}, a value of its spectrum: large terms cancel there. Write it without differences of these, "
            "as np.expm1(x) for np.exp(x) - 1"
        )
