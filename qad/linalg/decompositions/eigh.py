"""Eigen-decomposition of Hermitian matrices ``A = V diag(w) V^H``.

In the public convention, with ``sk(X) = (X - X^H) / 2``,

    G_A = V [ diag(g_w) + sk(V^H G_V)_ij / (w_j - w_i) ] V^H

(Giles, "An extended collection of matrix derivative results", 2008).  The code is its complex conjugate.  Forward,
with the Hermitian part of ``C = V^H dA V``: ``dw_i = C_ii`` and ``(V^H dV)_ij = C_ij / (w_j - w_i)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import core, implements, like, primitive, rule, stack_of
from qad.linalg.factored.factors import factors
from qad.linalg.support.check import require_hermitian, square
from qad.linalg.support.clusters import bent, beside, beside_of, clusters, conjugate, moderate_turn, quotients
from qad.linalg.support.degeneracy import check_policy, check_split, check_values, check_vectors, rounding
from qad.linalg.support.derivative_order import is_pushed_gradient, orders
from qad.linalg.support.drivers import EighResult, hermitian_eigenpairs
from qad.linalg.support.gap_quotients import over_gaps, unbacked, where_moved
from qad.linalg.support.hermitian_parts import adjoint, diagonal_of, hermitian, skew
from qad.linalg.support.null_space import check_branch

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike, EigResult


def eigh(a: ArrayLike, UPLO: str = "L", *, degenerate: str = "raise") -> EigResult:
    """Eigenvalues and eigenvectors of Hermitian matrices.

    Parameters
    ----------
    a : array (..., n, n)
        Hermitian, or real symmetric.
    UPLO : "L" or "U"
        The triangle that is read. The gradient is that of a Hermitian matrix whichever it is: projected to
        its Hermitian part.
    degenerate : "raise" or "warn"
        What the backward pass does where the factors do not determine the derivative; with "warn" the
        undetermined part contributes zero.

    Returns
    -------
    eigenvalues, eigenvectors : a named tuple of arrays (..., n), ascending, and (..., n, n), in columns

    Raises
    ------
    ShapeError
        If the matrices are not square.
    ArgumentError
        If an entry is not finite.
        In the backward pass or in forward mode: if `a` is not Hermitian, if the loss depends on the phases of
        eigenvectors, or on vectors or values inside a degenerate block, by anything but products like
        ``(v * f(w)) @ v.conj().T``, which are followed and right. Then `qad.linalg.funm_herm` gives
        the exact derivative of V f(w) V^H.
    LinAlgError
        If the iteration does not converge.

    Notes
    -----
    A dependence on phases counts as zero below 1e-10 of the loss, or of one if the loss is smaller (in double
    precision), so that losses which are stationary in the vectors, like Rayleigh quotients, pass.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: qad.linalg.eigh(a)[0][0])(np.array([[2.0, 1.0], [1.0, 2.0]])).round(6)
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    check_policy(degenerate)
    return EighResult(*_recorded(square(a, "eigh"), UPLO, degenerate, True))


def eigvalsh(a: ArrayLike, UPLO: str = "L", *, degenerate: str = "raise") -> Array:
    """Eigenvalues of Hermitian matrices, ascending; see `eigh`.

    Parameters
    ----------
    a : array (..., n, n)
    UPLO : "L" or "U"
    degenerate : "raise" or "warn"
        As in `eigh`.

    Returns
    -------
    array (..., n)

    Raises
    ------
    ShapeError
        If the matrices are not square.
    ArgumentError
        If an entry is not finite.
        In the backward pass, where the loss weighs degenerate eigenvalues differently.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: qad.linalg.eigvalsh(a).sum())(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """
    check_policy(degenerate)
    a = square(a, "eigvalsh")
    if stack_of(a) is a:
        return np.linalg.eigvalsh(a, UPLO)
    return _recorded(a, UPLO, degenerate, False)[0]


implements(np.linalg.eigh)(eigh)
implements(np.linalg.eigvalsh)(eigvalsh)


def _recorded(a, UPLO, degenerate, vectors):
    given = tuple(hermitian_eigenpairs(stack_of(a), UPLO, generic=orders(a)))
    how = {"given": given, "degenerate": degenerate, "vectors": vectors}

    def record():
        return _eigh(a, frames=True, **how)[:2] if is_pushed_gradient(a) else _eigh(a, levels=orders(a), **how)

    return factors(a, given, record, "eigh")


@primitive(name="eigh")
def _eigh(a, *, given=None, degenerate="raise", vectors=True, levels=1, frames=False):
    """The eigenpairs of all examples as functions of `a`: those `given`, if they were computed before.

    With `frames` they are smooth where values cluster, and N comes along; see ``clusters.py``.
    """
    found = given or hermitian_eigenpairs(a, generic=levels)
    return (*found, beside(*found, "eigh")) if frames else found


def _eigh_vjp(needed, g, ans, a, *, given=None, degenerate="raise", vectors=True, levels=1, frames=False, end=None):
    (gw, gv), (w, v), n = g[:2], ans[:2], conjugate(beside_of(ans, 2))
    require_hermitian(stack_of(a), "eigh")
    if gw is not None:
        check_branch(stack_of(gw), stack_of(w), "eigh", degenerate)
    vc, how = v.conj(), {"owner": "eigh", "degenerate": degenerate}
    if gv is None:
        check_values(stack_of(w), gw, levels if n is None else 1, "eigh", degenerate, rounding(stack_of(w), end))
        if n is None:
            return ((vc * gw[..., None, :]) @ v.mT,)
        core = 0.0
    else:
        inner = v.mT @ gv
        turn = diagonal_of(stack_of(inner)).imag if inner.dtype.kind == "c" else None
        products = (skew(inner) if where_moved(gw) is None else inner,)
        scale = check_vectors(stack_of(w), (gv,), gw, turn, products, "eigh", degenerate, rounding(stack_of(w), end))
        core = quotients(
            inner, w, n, kind="differences", part="skew", scale=scale, gs=gw, levels=levels, backward=True, **how
        )
    if gw is not None:
        core = core + gw[..., None] * like(w).eye(w.shape[-1])
        core = core if n is None else core + bent(gw, w, n, **how)
    return (vc @ core @ v.mT,)


def _eigh_jvp(tangents, ans, a, *, given=None, degenerate="raise", vectors=True, levels=1, frames=False):
    w, v = ans[:2]
    require_hermitian(stack_of(a), "eigh")
    c = adjoint(v) @ tangents[0] @ v
    if beside_of(ans, 2) is None:
        if vectors:
            check_split(c, stack_of(w), "eigh", degenerate)
        how = {"owner": "eigh", "condition": unbacked(w, vectors or levels > 1), "degenerate": degenerate}
        turn = over_gaps(c, w, kind="differences", part="hermitian", **how)
        return diagonal_of(c).real, v @ turn, *ans[2:]
    c, inside = hermitian(c), clusters(w, "eigh")
    within, dn = moderate_turn(c, w, inside)
    turn = over_gaps(c * ~inside, w, kind="differences", owner="eigh", degenerate=degenerate)
    return diagonal_of(c).real, v @ (turn + within), dn


rule(_eigh, shared=_eigh_vjp, forward_shared=_eigh_jvp, batch=core(2), scaled=True)
