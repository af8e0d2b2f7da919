"""Division by the gaps of a spectrum: the step at which rules of decompositions lose digits, or refuse.

Rules divide by ``s_j - s_i``, ``s_j + s_i`` and ``s_j``.  A numerator is known to `eps` of its size, hence a quotient
to ``eps / gap``; where the spectrum moves as well, in the rule of a rule, each further derivative divides once more:
``eps / gap**order``, gaps being relative to the largest value.  Where that bound, with some room for sums, is above
``eps**(1/4)``, which is 1e-4 in double precision, the gap is lost: below 5e-11 at first order, 7e-6 at second.  There a
numerator that is nonzero raises, and a zero contributes zero.  Because the division itself is what refuses, its own
derivatives refuse too.

Numerators that are no more than rounding are set to zero before any division.  So a loss that leaves the single
vectors of a cluster out of account, like that of a projector, has derivatives good to ``eps / gap`` at every order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import core, like, primitive, rule, stack_of
from qad.linalg.support import tolerances
from qad.linalg.support.degeneracy import far_apart, max_of, refuse, same_block, vanishing
from qad.linalg.support.derivative_order import orders
from qad.linalg.support.hermitian_parts import hermitian, skew

if TYPE_CHECKING:
    from collections.abc import Callable

    from qad.typing import Array

PARTS: dict[str, Callable[[Array], Array]] = {"skew": skew, "hermitian": hermitian, "all": lambda x: x}


def over_gaps(
    x: Array, s: Array, *, kind: str, owner: str, part: str = "all", scale: np.ndarray | None = None,
    gs: Array | None = None, levels: int = 1, divided: int | None = None, condition: np.ndarray | None = None,
    backward: bool = False, degenerate: str = "raise",
) -> Array:  # fmt: skip
    """A part of `x`, divided by the gaps of `s`; zero where there is none and it is zero to rounding, else an error.

    Parameters
    ----------
    x : array (..., k, k), or (..., m, k) for "values"
        Column j belongs to vector j: it is as large as that vector matters.
    s : array (..., k), sorted
    kind : "differences" (``s_j - s_i``), "sums" (``s_j + s_i``) or "values" (``s_j``)
    owner : str
        Who asks ("svd" or "eigh"), for the message.
    part : "skew", "hermitian" or "all"
    scale : array (...), optional
        What rounding is relative to at first order, where it is more than the largest numerator.
    gs : array (..., k), optional
        The cotangent of the values. A loss of them and of their vectors may be one of ``V f(s) V^H``, of which the skew
        part of a numerator sees no more than ``f(s_j) - f(s_i)``; so all of it must vanish where a gap is lost.
    levels : int
        How many derivatives were being taken when the values were computed, in a backward pass.
    divided : int, optional
        How many divisions by gaps may be in `x` already: one in the backward pass of a backward pass.
    condition : array (..., k), optional
        Condition numbers of the values, by which gaps are divided, as rounding is multiplied.
    backward : bool
        Whether `x` comes from cotangents, which weigh the vectors.
    degenerate : "raise" or "warn"
    """
    if far_apart(stack_of(s), kind, condition):
        return _over_gaps(x, s, kind=kind, part=part, far=True, owner=owner, order=1, weight=None)
    here = orders(s) + 1
    order = max(here, levels)
    weight = columns_of(stack_of(x)) if order > 1 or condition is not None else None
    divided = max(levels - here, 0) if divided is None else divided
    how = {"kind": kind, "owner": owner, "part": part, "order": order, "scale": scale, "degenerate": degenerate}
    moved = where_moved(gs)
    return _over_gaps(x, s, weight=weight, moved=moved, divided=divided, condition=condition, backward=backward, **how)


def where_moved(gs: Array | None) -> np.ndarray | None:
    """Which values have a cotangent, or one that becomes nonzero as the matrix moves; None where the loss has none.

    If all cotangents are zero, they may be so by the choice of vectors in a degenerate block; then none counts as zero.
    """
    if gs is None:
        return None
    moved = (stack_of(gs) != 0) | (orders(gs) > 0)
    return moved if moved.any() else np.ones_like(moved)


@primitive(name="over_gaps")
def _over_gaps(
    x, s, *, kind, owner, part, order, weight, moved=None, divided=0, condition=None, scale=None, backward=False,
    degenerate="raise", far=False,
):  # fmt: skip
    """`over_gaps` at this `order`; `weight` (..., k) is how much the single vectors matter, None where all may pass.

    `moved` (..., k) says which values have a cotangent. What made `x` was `divided` by gaps so many times before.
    Where all values are `far` apart there is nothing to check.
    """
    y, d = PARTS[part](x), _divisors(s, kind)
    same = like(s).eye(s.shape[-1], dtype=bool) if kind == "differences" else False
    if far:
        return y / np.where(same, np.inf, d)
    closed = _closed(s, kind)
    off = closed & ~same if kind == "differences" else closed
    if off.any():
        size = np.abs(y).max(axis=(-2, -1), initial=0.0)
        size = size if scale is None else np.maximum(size, scale)
        refuse(np.where(off, np.abs(y), 0.0), s, owner, size, degenerate)
    gap = relative(d, s)
    gap = gap if condition is None else gap / pairs(condition, gap)
    near = (gap < tolerances.far(gap.dtype)) & ~closed
    if near.any():
        y = _cleared(y, x, gap, near, s, owner, order, weight, moved, divided, backward, degenerate)
    return y / np.where(closed, np.inf, d)


def _cleared(y, x, gap, near, s, owner, order, weight, moved, divided, backward, degenerate):
    """`y`, a part of `x`, without the rounding that a small `gap` would blow up; where that is lost it must be zero."""
    quarter, places = tolerances.quarter(gap.dtype), tolerances.places(gap.dtype)
    at, least = np.nonzero(np.broadcast_to(near, y.shape)), tolerances.lost(gap.dtype)  # of gap**order
    *batch, i, j = at
    both = [(*batch, j)] if gap.shape[-2] != x.shape[-2] else [(*batch, j), (*batch, i)]  # the vectors of an entry
    columns = max_of(*(np.abs(x.mT[n]).max(axis=-1) for n in both))
    gap, size = np.broadcast_to(gap, y.shape)[at], np.abs(y[at])
    units = np.minimum(places / gap**divided, quarter)
    dust = size <= units * columns
    lost = dust & (places > quarter * gap)  # here a numerator that matters may look like rounding
    if weight is None and backward and (gap <= least).any():
        weight = columns_of(x)
    if weight is not None:
        weight = np.broadcast_to(weight / _most(weight), (*y.shape[:-2], weight.shape[-1]))
        relevant = max_of(*(weight[n] for n in both))
        lost |= gap**order <= least * relevant
    size = np.where(dust, 0.0, size)
    if moved is not None and len(both) > 1:
        moved = np.broadcast_to(moved, (*y.shape[:-2], moved.shape[-1]))
        whole = np.maximum(np.abs(x[at]), np.abs(x.mT[at]))
        size = np.where(moved[both[0]] | moved[both[1]], whole, size)
    units = np.maximum(units, np.minimum(quarter * gap, tolerances.noise(gap.dtype, x.shape[-1])))
    left = lost & (size > units * columns)
    if owner == "eig" and moved is not None:  # V f(w) V^-1, say: only the commutator is seen, and may look like zero
        left |= (moved[both[0]] | moved[both[1]]) & (gap**order <= least)
    if divided:  # what has been divided by this gap before hides a numerator that matters
        left |= lost & (columns > 0.0)
    if left.any():
        sizes = like(y).zeros(y.shape, size.dtype)
        sizes[at] = left * 1.0
        refuse(sizes, s, owner, 0.0, degenerate, order=order)
    y = like(y).array(y)
    y[at] = np.where(dust | lost, 0.0, y[at])
    return y


def _divisors(s, kind):
    if kind == "values":
        return s[..., None, :]
    return s[..., None, :] + (s if kind == "sums" else -s)[..., :, None]


def _closed(s, kind):
    """Where the divisors are lost at first order."""
    if kind == "differences":
        return same_block(s)
    zero = vanishing(s)[..., None, :]
    return zero & zero.mT if kind == "sums" else zero


def relative(d: np.ndarray, s: np.ndarray) -> np.ndarray:
    """The absolute divisors `d` (..., m, k) in units of the largest of the values `s` (..., k)."""
    return np.abs(d) / _most(np.abs(s))[..., None]


def unbacked(s: Array, vectors: bool) -> np.ndarray | None:
    """The `condition` of quotients in forward mode: a safer bound, as no cotangent shows whether `vectors` matter."""
    return like(s).ones(stack_of(s).shape, s.dtype) if vectors else None


def _most(x):
    """The largest of positive `x` (..., k), or something if all are zero, as (..., 1)."""
    return np.maximum(x.max(axis=-1, keepdims=True, initial=0.0), tolerances.tiny(x.dtype))


def columns_of(x: np.ndarray) -> np.ndarray:
    """The largest absolute entry (..., k) of each column of `x` (..., m, k)."""
    return np.abs(x).max(axis=-2, initial=0.0)


def pairs(weight: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """Of the `weight` (..., k) of two vectors the larger, or of the one by whose value is divided; shaped as `gap`."""
    both = weight[..., None, :]
    return np.maximum(both, weight[..., :, None]) if gap.shape[-2] > 1 or weight.shape[-1] == 1 else both


def _again(x, s, how, **more):
    """The quotient of what comes of one: by the same gaps, without what was known of the numerator."""
    kept = {key: how[key] for key in ("kind", "owner", "order", "degenerate", "far") if key in how}
    return _over_gaps(x, s, **{"part": "all", "weight": None, **kept, **more})


def _for_x(g, ans, x, s, **how):
    ones = like(s).ones(stack_of(s).shape, s.dtype)  # what is divided again later must be known to 1e-4
    return PARTS[how["part"]](_again(g, s, how, order=1, weight=ones))


def _for_s(g, ans, x, s, **how):
    q = _again(g * ans, s, how)
    if how["kind"] == "values":
        return -q.sum(axis=-2)
    return (q.sum(axis=-1) if how["kind"] == "differences" else -q.sum(axis=-1)) - q.sum(axis=-2)


def _x_moved(t, ans, x, s, *, scale=None, **how):
    return _over_gaps(t, s, **how)


def _s_moved(t, ans, x, s, **how):
    return -_again(ans * _divisors(t, how["kind"]), s, how)


rule(_over_gaps, _for_x, _for_s, forward=(_x_moved, _s_moved), batch=core(2, 1), fresh=True)
