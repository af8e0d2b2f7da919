"""Whether the rank of a matrix stays the same along a direction, without which a nuclear norm has no second derivative.

The gradient of the nuclear norm is ``U V^H`` of the singular values that are not zero.  It jumps where a value leaves
zero, at whatever order.  With blocks of a matrix A and of a direction E in the bases of range and null space of A, what
``A + t E`` has beyond its rank (the Schur complement) is

    S(t) = t E_22 - t^2 E_21 (A_11 + t E_11)^-1 E_12.

This is a rational function of t, which vanishes everywhere if it vanishes at a point that is not special; so it is
computed at one point, at which the inverse is well conditioned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import core, primitive, rule
from qad.linalg.support.check import batch_entry, largest_entry
from qad.linalg.support.degeneracy import noise

if TYPE_CHECKING:
    from qad.typing import Array

STEP = 0.3718  # in units of the smallest value of A over the size of E: where the null block is looked at


@primitive(name="norm")
def followed(a: Array) -> Array:
    """The matrices `a` (..., m, n); their second derivative along a direction that changes their rank is refused."""
    return a + 0.0


@primitive(name="norm")
def _passed(e: Array, a: Array, *, is_direction: bool) -> Array:
    """The tangent or cotangent `e` (..., m, n) of the matrices `a`; a tangent must leave their rank as it is."""
    if is_direction:
        _require_rank(e, a)
    return e + 0.0


def _require_rank(e, a):
    u, s, vh = np.linalg.svd(a)
    if not s.size or (s[..., -1] > _least(s)).all():
        return
    e = np.broadcast_to(e, np.broadcast_shapes(e.shape, a.shape))
    size = largest_entry(e)
    for batch in map(tuple, np.argwhere(size > 0.0)):
        at = batch[len(batch) - (a.ndim - 2) :] if a.ndim > 2 else ()
        if _fills(e[batch] / size[batch], u[at], s[at], vh[at]):
            raise ArgumentError(
                f"norm{batch_entry(batch)}: the nuclear norm has no second derivative along a direction that changes "
                "the rank of the matrix: singular values that are zero to rounding leave it there, and their kink is "
                "one of the norm. Keep the matrix away from lower rank, or sum a smooth function of the values"
            )


def _least(s):
    return noise(s.dtype, s.shape[-1]) * s[..., 0]


def _fills(e, u, s, vh):
    """Whether the matrix ``u s vh`` moves into its null spaces along `e`, of which the largest entry is one."""
    r = int((s > _least(s)).sum())
    if r == len(s):
        return False
    e = u.conj().T @ e @ vh.conj().T
    inner, right, left, rest = e[:r, :r], e[:r, r:], e[r:, :r], e[r:, r:]
    unit = s[r - 1] if r else 1.0
    t = STEP * unit / max(np.linalg.norm(inner), 1.0)
    bent = left @ np.linalg.solve(np.diag(s[:r]) + t * inner, right) if r else 0.0
    ratio = s[0] / unit if r else 1.0
    known = noise(s.dtype, max(e.shape)) * ratio  # to which the null spaces are
    return bool((np.abs(rest) > known).any() or (np.abs(t * bent) > known).any() if rest.size else False)


def _zero(g, ans, e, a, *, is_direction):
    return a * 0.0


def _direction(g, ans, e, a, *, is_direction):
    return _passed(g.conj(), a, is_direction=True).conj()


rule(
    followed,
    lambda g, ans, a: _passed(g.conj(), a, is_direction=False).conj(),
    forward=lambda t, ans, a: _passed(t, a, is_direction=True),
    batch=core(2),
)
rule(
    _passed,
    _direction,
    _zero,
    forward=(lambda t, ans, e, a, *, is_direction: t, lambda t, ans, e, a, *, is_direction: e * 0.0),
    batch=core(2, 2),
)
