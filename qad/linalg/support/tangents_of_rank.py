"""Second derivatives of a function that is smooth along matrices of one rank only, as the pseudoinverse is.

Its derivative is a linear function of tangents E of the matrices of rank r, those with ``P E Q = 0``, P and Q being the
projectors onto the null spaces.  A direction that is none is refused; and of a gradient, as of its derivatives, the
part ``P G Q`` means nothing, so that it is taken out, lest it be another one in each mode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import core, primitive, rule
from qad.linalg.support import tolerances
from qad.linalg.support.check import batch_entry, largest_entry

if TYPE_CHECKING:
    from qad.typing import Array


@primitive(name="pinv")
def on_rank(a: Array) -> Array:
    """The matrices `a` (..., m, n); a second derivative must be along matrices of their rank."""
    return a + 0.0


@primitive(name="pinv")
def _tangent(e: Array, a: Array, *, is_direction: bool) -> Array:
    """The part of `e` (..., m, n) that is tangent to matrices of the rank of `a`; of a direction that must be all."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    kept = s > max(a.shape[-2:]) * tolerances.unit(s.dtype) * s.max(axis=-1, keepdims=True, initial=0.0)
    if kept.all():
        return e + 0.0
    u, v = (np.where(kept[..., None, :], x, 0.0) for x in (u, vh.conj().mT))
    rest = e - u @ (u.conj().mT @ e)
    rest = rest - (rest @ v) @ v.conj().mT
    if is_direction:
        ratio = s.max(axis=-1, initial=0.0) / np.where(kept, s, np.inf).min(axis=-1, initial=np.inf)
        known = tolerances.noise(s.dtype, max(a.shape[-2:])) * np.maximum(ratio, 1.0)
        bad = np.argwhere(~kept.all(axis=-1) & (largest_entry(rest) > known * largest_entry(e)))
        if len(bad):
            raise ArgumentError(
                f"pinv{batch_entry(bad[0])}: a second derivative of the pseudoinverse of a rank-deficient matrix along "
                "a direction that changes its rank does not exist: the pseudoinverse jumps there. Keep to directions "
                "of the same rank, as of a product of thin factors, or use the inverse of A^H A + c"
            )
    return e - np.where(kept.all(axis=-1)[..., None, None], 0.0, rest)


def _direction(g, ans, e, a, *, is_direction):
    return _tangent(g.conj(), a, is_direction=True).conj()


rule(
    on_rank,
    lambda g, ans, a: _tangent(g.conj(), a, is_direction=False).conj(),
    forward=lambda t, ans, a: _tangent(t, a, is_direction=True),
    batch=core(2),
)
rule(
    _tangent,
    _direction,
    lambda g, ans, e, a, *, is_direction: a * 0.0,
    forward=(
        lambda t, ans, e, a, *, is_direction: _tangent(t, a, is_direction=False),
        lambda t, ans, e, a, *, is_direction: e * 0.0,
    ),
    batch=core(2, 2),
)
