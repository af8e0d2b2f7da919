"""Symmetric split ``A = L R`` with ``L = U sqrt(S)``, ``R = sqrt(S) V^H``, for losses that contract the new bond.

Around the point it is this pair up to a unitary of the bond, ``L W`` and ``W^H R``, in a gauge in which it is smooth
even where values that are kept coincide; ``smooth_factors.py`` tells how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import core, defbatch, like, quick_with_metadata, rule, stack_of, unrecorded
from qad.linalg.support import tolerances
from qad.linalg.support.check import matrices
from qad.linalg.support.degeneracy import magnitude, rounding
from qad.linalg.support.derivative_order import orders
from qad.linalg.support.drivers import singular_triples
from qad.linalg.support.hermitian_parts import skew
from qad.linalg.truncation.rule import nonzero
from qad.linalg.truncation.smooth_factors import factors
from qad.linalg.truncation.truncation_rank import check_gap, lost_in_split, rank_of

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike


def split(
    a: ArrayLike,
    max_rank: int | None = None,
    cutoff: float | None = None,
    relative: bool = True,
    *,
    multiplets: str = "warn",
) -> tuple[Array, Array]:
    """Split a matrix in two halves of equal weight, with derivatives that are exact at degenerate singular values.

    Parameters
    ----------
    a : array (..., m, n)
    max_rank, cutoff, relative, multiplets
        What to keep, as in `truncated_svd`. Singular values that are zero to rounding are never kept.

    Returns
    -------
    L, R : arrays (..., m, k) and (..., k, n)
        ``U sqrt(S)`` and ``sqrt(S) Vh``: ``L @ R`` is the best approximation of `a` of rank k.

    Raises
    ------
    ArgumentError
        If an entry is not finite, or nothing would be kept;
        if a recorded matrix is cut within a multiplet, or derivatives divide by a kept value so small that rounding
        would be more than 1e-4 of them: below 5e-11 of the largest at first order, 7e-6 at second. In the backward
        pass, if the loss is not invariant under ``L W, W^H R`` with unitary W, that is, if it depends on the basis of
        the new bond.

    Notes
    -----
    In forward mode the tangents are those of a pair in a smooth basis of the bond.

    Examples
    --------
    >>> import numpy as np, qad
    >>> def rebuilt(a):
    ...     l, r = qad.linalg.split(a)
    ...     return (l @ r)[0, 1]
    >>> qad.grad(rebuilt)(np.eye(2)).round(6) + 0.0
    array([[0., 1.],
           [0., 0.]])
    """
    a = matrices(a, "split")
    plain = not orders(a)
    u, s, vh = singular_triples(unrecorded(a), full=not plain)
    size, sizes = max(a.shape[-2:]), stack_of(s)
    most = int(nonzero(sizes, size).min(initial=s.shape[-1]))
    most = most if max_rank is None else min(most, max_rank)
    policy = multiplets if plain or multiplets != "warn" else "cut"  # which raises, below
    k = rank_of(sizes, most, cutoff, relative, policy, size)
    if plain:
        root = np.sqrt(s[..., :k])
        return u[..., :, :k] * root[..., None, :], root[..., :, None] * vh[..., :k, :]
    check_gap(sizes, k)
    if lost_in_split(sizes[..., :k], k, a.shape[-2:], orders(a)):
        raise ArgumentError(
            f"split: derivatives of order {orders(a)} divide by a singular value that is kept, and too small: rounding "
            "would be more than 1e-4 of them. Drop it by a `cutoff`, or do not split the matrix"
        )
    return tied(*factors(a, u, s, vh, k))


def tied(left: Array, right: Array) -> tuple[Array, Array]:
    """Two factors as they are, of which only losses are differentiated that contract the bond between them."""
    m = left.shape[-2]
    pair = _tied(np.concatenate([left, right.mT], axis=-2), m)
    return pair[..., :m, :], pair[..., m:, :].mT


def _tie(pair, rows):
    """L (the first `rows`) over the transpose of R, as they are: the place where the loss is checked.

    One array, so that one rule sees the cotangents of both.  Recorded once: only the level at which `split` was called
    checks them, as only its loss has to be invariant.
    """
    return pair


def _check(needed, g, ans, pair, rows, *, end=None):
    """Raise unless the loss is invariant under ``L W, W^H R``: ``G_L^H L - R G_R^H`` is Hermitian."""
    slope, pair = stack_of(g), stack_of(pair)
    first = slope[..., :rows, :].mT @ pair[..., :rows, :]
    second = pair[..., rows:, :].mT @ slope[..., rows:, :]
    turn = np.abs(skew(first - second)).max(axis=(-2, -1))
    floor = rounding(like(pair).ones(1, pair.real.dtype), end)
    if (turn > floor + tolerances.SUMS * tolerances.half(pair.dtype) * (magnitude(first) + magnitude(second))).any():
        raise ArgumentError(
            f"split: the loss depends on the basis of the new bond (its slope along a rotation is {turn.max():.3g}), "
            "which is arbitrary: contract the bond, or use qad.linalg.truncated_svd"
        )
    return (g,)


rule(_tie, shared=_check, scaled=True)
_tied = quick_with_metadata(_tie)
defbatch(_tie, core(2))
