"""Singular value decomposition ``A = U diag(s) Vh``.

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

from qad.extend import defbatch, defjvp, defvjp_tuned, implements, like, primitive, stack_of, stacks
from qad.linalg.factored.factors import factors
from qad.linalg.support.check import matrices
from qad.linalg.support.clusters import bent, beside, beside_of, clusters, conjugate, moderate_turn, quotients
from qad.linalg.support.degeneracy import (
    check_blocks,
    check_curved,
    check_phases,
    check_policy,
    check_split,
    magnitude,
    max_of,
    noise,
    rounding,
)
from qad.linalg.support.derivative_order import is_pushed_gradient, orders
from qad.linalg.support.drivers import SVDResult, singular_triples
from qad.linalg.support.full_basis import folded
from qad.linalg.support.gap_quotients import over_gaps, unbacked, where_moved
from qad.linalg.support.hermitian_parts import adjoint, diagonal_of, hermitian, skew
from qad.linalg.support.null_space import at_kinks, check_null_spaces, marked

if TYPE_CHECKING:
    from typing import Any, Literal, overload

    from qad.typing import Array, ArrayLike
    from qad.typing import SVDResult as SVD

    @overload
    def svd(
        a: ArrayLike,
        full_matrices: bool = True,
        compute_uv: Literal[True] = True,
        hermitian: bool = False,
        *,
        degenerate: str = "raise",
    ) -> SVD: ...
    @overload
    def svd(
        a: ArrayLike,
        full_matrices: bool = True,
        *,
        compute_uv: Literal[False],
        hermitian: bool = False,
        degenerate: str = "raise",
    ) -> Array: ...


def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    *,
    degenerate: str = "raise",
) -> Any:
    """Singular value decomposition, with NumPy's signature and defaults.

    Parameters
    ----------
    a : array (..., m, n)
        Real or complex.
    full_matrices : bool
        Whether U and Vh are square, (m, m) and (n, n), or have k = min(m, n) columns and rows.
    compute_uv : bool
        False: only the singular values.
    hermitian : bool
        NumPy's shortcut for Hermitian matrices, on plain arrays; ignored where `a` is a Tensor.
    degenerate : "raise" or "warn"
        What the backward pass does where the factors do not determine the derivative; with "warn" the
        undetermined part contributes zero.

    Returns
    -------
    U, S, Vh : a named tuple of arrays (..., m, k), (..., k) in descending order, (..., k, n)
        Or only S.

    Raises
    ------
    ShapeError
        If `a` has fewer than two axes.
    ArgumentError
        If an entry is not finite.
        In the backward pass (or in forward mode), if the loss depends on the phases of singular vectors, or on
        vectors or values inside a degenerate block (by anything but products like ``(u * f(s)) @ vh``, which are
        followed and right), or on those of singular values that are zero. Then
        `qad.linalg.funm_svd` gives the exact derivative of U f(S) Vh.
    LinAlgError
        If the iteration does not converge.

    Notes
    -----
    A dependence on phases counts as zero below 1e-10 of the loss, or of one if the loss is smaller (in double
    precision), so that losses which are stationary in the vectors pass.

    On a Tensor, singular values that are zero to rounding are returned as ``eps**1.5`` of the largest (3e-24 of it),
    so that a loss of the product ``U @ diag(S) @ Vh``, which depends on the block of A between the null spaces, is told
    from one that leaves these vectors alone, and raises. ``funm_svd(lambda s: s, A)`` has its derivative.

    In forward mode a dependence on phases cannot be seen: tangents of vectors are those of the gauge in which
    U^H dU + V^H dV has no diagonal.

    Examples
    --------
    >>> import numpy as np, qad
    >>> def overlap(a):
    ...     u, s, vh = qad.linalg.svd(a, full_matrices=False)
    ...     return np.sum(u @ vh)
    >>> qad.grad(overlap)(np.array([[2.0, 1.0], [0.0, 1.0]])).round(6)
    array([[ 0.063246, -0.189737],
           [ 0.189737,  0.063246]])
    """
    check_policy(degenerate)
    a = matrices(a, "svd")
    if not _recorded(a):
        return np.linalg.svd(a, full_matrices, compute_uv, hermitian)
    if not compute_uv:
        return svdvals(a, degenerate=degenerate)
    if full_matrices and a.shape[-1] != a.shape[-2]:
        return _full(a, degenerate=degenerate, levels=orders(a))
    return SVDResult(*factored(a, degenerate=degenerate))


def svdvals(x: ArrayLike, *, degenerate: str = "raise") -> Array:
    """Singular values, in descending order.

    Parameters
    ----------
    x : array (..., m, n)
    degenerate : "raise" or "warn"
        As in `svd`.

    Returns
    -------
    real array (..., min(m, n))

    Raises
    ------
    ShapeError
        If `x` has fewer than two axes.
    ArgumentError
        If an entry is not finite.
        In the backward pass, where the loss weighs degenerate singular values differently, or has a nonzero
        derivative with respect to a vanishing one (a kink, like that of an absolute value).

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: qad.linalg.svdvals(a)[0])(np.diag([1.0, 3.0]))
    array([[0., 0.],
           [0., 1.]])
    """
    check_policy(degenerate)
    x = matrices(x, "svdvals")
    if not _recorded(x):
        return np.linalg.svdvals(x)
    return factored(x, degenerate=degenerate, vectors=False)[1]


implements(np.linalg.svd)(svd)
implements(np.linalg.svdvals)(svdvals)


def _recorded(a):
    return stack_of(a) is not a


def factored(a, vectors=True, **how):
    """The thin decomposition of a recorded matrix; keywords are those of `thin`."""
    how |= {"given": _plain(stack_of(a), vectors, orders(a)), "vectors": vectors}

    def record():
        return _in_clusters(a, **how)[:3] if is_pushed_gradient(a) else thin(a, levels=orders(a), **how)

    return factors(a, how["given"], record, "svd")


@primitive(name="svd")
def thin(a, *, given=None, degenerate="raise", kinks=True, vectors=True, levels=1):
    """The thin decomposition of all examples as a function of `a`: the one `given`, if it was computed before.

    Without `kinks` vanishing singular values have subgradient zero.
    """
    return given or _plain(a, vectors, levels)


def _plain(a, vectors, levels):
    u, s, vh = singular_triples(a, generic=levels and vectors)
    return u, marked(s) if vectors else s, vh


@primitive(name="svd")
def _in_clusters(a, *, given, degenerate="raise", kinks=True, vectors=True):
    """`thin` in frames that are smooth where values cluster, and N; see ``clusters.py``."""
    return *given, beside(given[1], given[0], "svd")


@primitive(name="svd")
def _full(a, *, degenerate="raise", levels=1):
    u, s, vh = singular_triples(a, full=True, generic=levels)
    return SVDResult(u, marked(s), vh)


def _thin_vjp(needed, g, ans, a, *, given=None, degenerate="raise", kinks=True, vectors=True, levels=1, end=None):
    (gu, gs, gv), (u, s, vh), n = g[:3], ans[:3], beside_of(ans, 3)
    floor, how = rounding(stack_of(s), end), {"owner": "svd", "degenerate": degenerate}
    core, rest_of_u, rest_of_v = 0.0, None, None
    gs = None if gs is None else at_kinks(gs, s, kinks=kinks, degenerate=degenerate, floor=floor)
    if gu is None and gv is None:
        check_blocks(stack_of(s), (), gs, "svd", None, degenerate, floor)
        if n is None:
            if levels > 1 and orders(gs):
                check_curved(stack_of(s), "svd", degenerate)
            return (u.conj() @ (gs[..., :, None] * vh.conj()),)
    else:
        left = None if gu is None else u.mT @ gu
        right = None if gv is None else gv @ vh.mT
        scale = _check(s, (gu, gs, gv), left, right, degenerate, floor)
        sides = (u, gu), (vh.mT, None if gv is None else gv.mT)
        check_null_spaces(stack_of(s), sides, magnitude(gu, gv), floor, degenerate)
        more = {"scale": scale, "gs": gs, "levels": levels, "backward": True, **how}
        core = _core(left, right, s, n, more)
        if gu is not None and u.shape[-2] > u.shape[-1]:
            rest_of_u = quotients(gu - u.conj() @ left, s, conjugate(n), kind="values", **more)
        if gv is not None and vh.shape[-1] > vh.shape[-2]:
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
    s, (gu, gs, gv) = stack_of(s), g
    scale = magnitude(gu, gv)
    if gs is not None:
        scale = max_of(scale, np.abs(stack_of(gs) * s).max(axis=-1, initial=0.0))
    turn = 0.0 if left is None else diagonal_of(stack_of(left)).imag
    turn = turn if right is None else turn - diagonal_of(stack_of(right)).imag
    check_phases(turn, s, "svd", scale, floor)
    scale = max_of(scale, floor / noise(s.dtype, s.shape[-1]))
    if where_moved(gs) is None:  # then only a turn of both U and V tells values apart
        left, right = skew((0.0 if left is None else left) + (0.0 if right is None else adjoint(right))), None
    check_blocks(s, (left, right), gs, "svd", scale, degenerate, floor)
    return scale


def _thin_jvp(tangents, ans, a, *, given=None, degenerate="raise", kinks=True, vectors=True, levels=1):
    (t,), (u, s, vh), how = tangents, ans[:3], {"owner": "svd", "degenerate": degenerate}
    tv, ut = t @ adjoint(vh), adjoint(u) @ t
    p = ut @ adjoint(vh)
    ds = at_kinks(diagonal_of(p).real, s, kinks=kinks, degenerate=degenerate)
    both, *dn = _turn(p, s, beside_of(ans, 3) is not None, how | {"condition": unbacked(s, vectors)})
    apart = over_gaps(p, s, kind="sums", part="skew", **how)
    du, dvh = u @ (both + apart), (apart - both) @ vh
    if u.shape[-2] > u.shape[-1]:
        du = du + over_gaps(tv - u @ p, s, kind="values", **how)
    if vh.shape[-1] > vh.shape[-2]:
        dvh = dvh + over_gaps((ut - p @ vh).mT, s, kind="values", **how).mT
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


def _full_vjp(needed, g, ans, a, *, degenerate="raise", levels=1, end=None):
    """Columns of U (rows of Vh) beyond k follow the others: ``dU' = -U dU^H U'``."""
    gu, gs, gv = g
    u, s, vh = ans
    k, floor = s.shape[-1], rounding(stack_of(s), end)
    if u.shape[-1] > k:
        gu, u = folded(gu, u, k, "svd", floor, degenerate)
    elif vh.shape[-2] > k:
        turned, v = folded(None if gv is None else gv.mT, vh.mT, k, "svd", floor, degenerate)
        gv, vh = None if turned is None else turned.mT, v.mT
    return _thin_vjp(needed, (gu, gs, gv), (u, s, vh), a, degenerate=degenerate, levels=levels, end=end)


defvjp_tuned(thin, shared=_thin_vjp, scaled=True)
defvjp_tuned(_full, shared=_full_vjp, scaled=True)
defjvp(thin, shared=_thin_jvp)
defvjp_tuned(_in_clusters, shared=_thin_vjp, scaled=True)
defjvp(_in_clusters, shared=_thin_jvp)
defbatch(thin, stacks(thin, 2))
defbatch(_in_clusters, stacks(_in_clusters, 2))
defbatch(_full, stacks(_full, 2))
