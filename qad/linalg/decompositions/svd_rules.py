"""Derivatives of the singular value decomposition ``A = U diag(s) Vh``.

With ``a = sk(U^H G_U)``, ``b = sk(V^H G_V)`` and ``sk(X) = (X - X^H) / 2``, cotangents in the public convention,

    X   = (a + b)_ij / (s_j - s_i) + (a - b)_ij / (s_j + s_i) + diag(g_s)
    G_A = U X V^H + (1 - U U^H) G_U S^-1 V^H + U S^-1 G_V^H (1 - V V^H),

the second quotient on the diagonal included: there it is the term of Wan and Zhang (arXiv:1909.02659).  Only
differences and sums of singular values occur, never those of squares, so that no scale over- or underflows.
The code below is the complex conjugate of that, which is the tape's inside convention.

Forward, with ``P = U^H dA V``, its Hermitian part H and its skew part K,

    ds = Re diag(P),   U^H dU = H_ij / (s_j - s_i) + K_ij / (s_j + s_i),   V^H dV = the first less the second,

and outside of their own spaces ``dU = (1 - U U^H) dA V S^-1``, ``dV = (1 - V V^H) dA^H U S^-1``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import like, stack_of
from qad.linalg.support.clusters import bent, beside_of, clusters, conjugate, moderate_turn, quotients
from qad.linalg.support.degeneracy import check_split, check_values, check_vectors, magnitude, rounding
from qad.linalg.support.full_basis import folded
from qad.linalg.support.gap_quotients import over_gaps, unbacked, where_moved
from qad.linalg.support.hermitian_parts import adjoint, diagonal_of, hermitian, skew
from qad.linalg.support.null_space import at_kinks, check_null_spaces, check_used

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array


def thin_vjp(
    needed: Sequence[bool], g: Sequence[Array | None], ans: Sequence[Array], a: Array, *,
    given: tuple[Array, ...] | None = None, degenerate: str = "raise", kinks: bool = True, vectors: bool = True,
    levels: int = 1, frames: bool = False, end: tuple[Array, Array] | None = None,
) -> tuple[Array]:  # fmt: skip
    (gu, gs, gv), (u, s, vh), n = g[:3], ans[:3], beside_of(ans, 3)
    floor, how = rounding(stack_of(s), end), {"owner": "svd", "degenerate": degenerate}
    core, rest_of_u, rest_of_v = 0.0, None, None
    gs = None if gs is None else at_kinks(gs, s, kinks=kinks, degenerate=degenerate, floor=floor, order=levels)
    if gu is None and gv is None:
        check_values(stack_of(s), gs, levels if n is None else 1, "svd", degenerate, floor)
        if n is None:
            return (u.conj() @ (gs[..., :, None] * vh.conj()),)
    else:
        left = None if gu is None else u.mT @ gu
        right = None if gv is None else gv @ vh.mT
        scale = _check(s, (gu, gs, gv), left, right, degenerate, floor)
        sides = (u, gu), (vh.mT, None if gv is None else gv.mT)
        size = magnitude(gu, gv)
        check_null_spaces(stack_of(s), sides, size, floor, degenerate)
        more = {"scale": scale, "gs": gs, "levels": levels, "backward": True, **how}
        core = _core(left, right, s, n, more)
        if gu is not None and u.shape[-2] > u.shape[-1]:
            check_used(s, gu, size, levels, degenerate)
            rest_of_u = quotients(gu - u.conj() @ left, s, conjugate(n), kind="values", **more)
        if gv is not None and vh.shape[-1] > vh.shape[-2]:
            check_used(s, gv.mT, size, levels, degenerate)
            rest_of_v = quotients((gv - right @ vh.conj()).mT, s, n, kind="values", **more).mT
    if gs is not None:
        core = core + gs[..., None] * like(s).eye(s.shape[-1])
        core = core if n is None else core + bent(gs, s, n.conj(), **how)
    inner = core @ vh.conj()
    total = u.conj() @ (inner if rest_of_v is None else inner + rest_of_v)
    return (total if rest_of_u is None else total + rest_of_u @ vh.conj(),)


def _core(left, right, s, n, how):
    """X of the head of this page, conjugated; columns belong to vectors, and ``skew(right^H) = -skew(right)``."""
    left, turned, n = 0.0 if left is None else left, 0.0 if right is None else adjoint(right), conjugate(n)
    x = quotients(left + turned, s, n, kind="differences", part="skew", **how)
    return x + quotients(left - turned, s, n, kind="sums", part="skew", **how)


def _check(s, g, left, right, degenerate, floor):
    """Refuse losses that the factors do not determine; returns the size to which rounding is relative."""
    gu, gs, gv = g
    turn = 0.0 if left is None else diagonal_of(stack_of(left)).imag
    turn = turn if right is None else turn - diagonal_of(stack_of(right)).imag
    if where_moved(gs) is None:  # then only a turn of both U and V tells values apart
        left, right = skew((0.0 if left is None else left) + (0.0 if right is None else adjoint(right))), None
    sides = gu, None if gv is None else gv.mT
    return check_vectors(stack_of(s), sides, gs, turn, (left, right), "svd", degenerate, floor)


def thin_jvp(
    tangents: tuple[Array], ans: Sequence[Array], a: Array, *, given: tuple[Array, ...] | None = None,
    degenerate: str = "raise", kinks: bool = True, vectors: bool = True, levels: int = 1, frames: bool = False,
) -> tuple[Array, ...]:  # fmt: skip
    (t,), (u, s, vh), how = tangents, ans[:3], {"owner": "svd", "degenerate": degenerate}
    levels = 2 if frames else levels
    tv, ut = t @ adjoint(vh), adjoint(u) @ t
    p = ut @ adjoint(vh)
    ds = at_kinks(diagonal_of(p).real, s, kinks=kinks, degenerate=degenerate, order=levels)
    if not (vectors or kinks or levels > 1):  # of a norm: equal values share, in reverse too
        return u * np.nan, ds, vh * np.nan, *ans[3:]  # which the first derivative does not use
    tall, wide = u.shape[-2] > u.shape[-1], vh.shape[-1] > vh.shape[-2]
    tv, ut = tv - u @ p if tall else 0.0, (ut - p @ vh).mT if wide else 0.0
    if kinks and not vectors:
        check_split(p, stack_of(s), "svd", degenerate)
    both, *dn = _turn(p, s, beside_of(ans, 3) is not None, how | {"condition": unbacked(s, vectors or levels > 1)})
    apart = over_gaps(p, s, kind="sums", part="skew", **how)
    du, dvh = u @ (both + apart), (apart - both) @ vh
    if tall:
        du = du + over_gaps(tv, s, kind="values", **how)
    if wide:
        dvh = dvh + over_gaps(ut, s, kind="values", **how).mT
    return du, ds, dvh, *(dn or ans[3:])


def _turn(p, s, clustered, how):
    """The turn of U and V together; with clusters that of the frames, and the derivative of N."""
    if not clustered:
        if how["condition"] is not None:
            check_split(p, stack_of(s), "svd", how["degenerate"])
        return (over_gaps(p, s, kind="differences", part="hermitian", **how),)
    c, inside = hermitian(p), clusters(s, "svd")
    within, dn = moderate_turn(c, s, inside)
    return over_gaps(c * ~inside, s, kind="differences", **how) + within, dn


def full_vjp(
    needed: Sequence[bool], g: Sequence[Array | None], ans: Sequence[Array], a: Array, *, degenerate: str = "raise",
    levels: int = 1, end: tuple[Array, Array] | None = None,
) -> tuple[Array]:  # fmt: skip
    """Columns of U (rows of Vh) beyond k follow the others: ``dU' = -U dU^H U'``."""
    gu, gs, gv = g
    u, s, vh = ans
    k, floor = s.shape[-1], rounding(stack_of(s), end)
    if u.shape[-1] > k:
        gu, u = folded(gu, u, k, "svd", floor, degenerate)
    elif vh.shape[-2] > k:
        turned, v = folded(None if gv is None else gv.mT, vh.mT, k, "svd", floor, degenerate)
        gv, vh = None if turned is None else turned.mT, v.mT
    return thin_vjp(needed, (gu, gs, gv), (u, s, vh), a, degenerate=degenerate, levels=levels, end=end)
