"""Eigen-decomposition of general matrices, with eigenvectors of unit length.  In the public convention

    K   = (V^H G_V - V^H V diag(Re diag(V^H G_V)))_ij / conj(w_j - w_i) off the diagonal, g_w on it
    G_A = V^-H K V^H

(Boeddeker et al., arXiv:1701.00392, eq. 4.77, with the term of the normalisation).  The code is its complex conjugate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import core, implements, like, primitive, rule, stack_of
from qad.linalg.support import tolerances
from qad.linalg.support.check import square
from qad.linalg.support.degeneracy import (
    check_blocks,
    check_curved,
    check_policy,
    far_apart,
    gauge_checked,
    refuse,
    rounding,
    same_block,
)
from qad.linalg.support.derivative_order import orders
from qad.linalg.support.gap_quotients import columns_of, over_gaps, pairs, relative
from qad.linalg.support.hermitian_parts import diagonal_of

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike, EigResult


def eig(a: ArrayLike, *, degenerate: str = "raise") -> EigResult:
    """Eigenvalues and right eigenvectors, of unit length, of any square matrices.

    Parameters
    ----------
    a : array (..., n, n)
    degenerate : "raise" or "warn"
        What the backward pass does where the factors do not determine the derivative.

    Returns
    -------
    eigenvalues, eigenvectors : a named tuple of arrays (..., n) and (..., n, n), in columns

    Raises
    ------
    ShapeError
        If the matrices are not square.
    ArgumentError
        If an entry is not finite.
        In the backward pass or in forward mode, if the loss depends on the phases of eigenvectors, or on
        vectors or values of a degenerate eigenvalue, or if the matrix has no basis of eigenvectors. `expm`, `logm`
        and `sqrtm` are exact there.
    LinAlgError
        If the iteration does not converge.

    Notes
    -----
    A dependence on phases counts as zero below 1e-10 of the loss, or of one if the loss is smaller (in double
    precision), so that losses which are stationary in the vectors, like Rayleigh quotients, pass.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: np.abs(qad.linalg.eig(a)[0]).max())(np.array([[2.0, 1.0], [0.0, 1.0]]))
    array([[1., 0.],
           [1., 0.]])
    """
    check_policy(degenerate)
    a = square(a, "eig")
    return _eig(a, degenerate=degenerate, levels=orders(a))


def eigvals(a: ArrayLike, *, degenerate: str = "raise") -> Array:
    """Eigenvalues of any square matrices; see `eig`.

    Parameters
    ----------
    a : array (..., n, n)
    degenerate : "raise" or "warn"
        As in `eig`.

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
    >>> qad.grad(lambda a: qad.linalg.eigvals(a).real.sum())(np.diag([2.0, 1.0]))
    array([[1., 0.],
           [0., 1.]])
    """
    check_policy(degenerate)
    a = square(a, "eigvals")
    return np.linalg.eigvals(a) if stack_of(a) is a else _eig(a, degenerate=degenerate, levels=orders(a))[0]


implements(np.linalg.eig)(eig)
implements(np.linalg.eigvals)(eigvals)


@primitive(name="eig")
def _eig(a, *, degenerate="raise", levels=1):
    return np.linalg.eig(a)


def _eig_vjp(needed, g, ans, a, *, degenerate="raise", levels=1, end=None):
    gw, gv = g
    w, v = ans
    w = w + 0j
    floor = rounding(stack_of(w), end)
    if levels > 1 and gw is not None and orders(gw):
        check_curved(stack_of(w), "eig", degenerate)
    bare, condition = stack_of(w), conditions(stack_of(w), stack_of(v), stack_of(a))
    if gv is None:
        found = np.linalg.solve(v.mT, gw[..., :, None] * v.mT)
        if condition is not None:
            check_blocks(bare, (), gw, "eig", None, degenerate, floor)
            _check_conditions(bare, condition, stack_of(gw), stack_of(found), levels, degenerate)
        return (found,)
    inner = v.mT @ gv
    lengths = diagonal_of(inner)
    turn = stack_of(lengths).imag if lengths.dtype.kind == "c" else None
    scale = gauge_checked(turn, bare, "eig", (gv,), gw, floor)
    moved = inner - (v.mT @ v.conj()) * lengths.real[..., None, :]
    if condition is not None:
        check_blocks(bare, (moved,), gw, "eig", scale, degenerate, floor)
        if gw is not None:
            _check_rebuilt(bare, stack_of(gw), stack_of(moved), degenerate)
    how = {"scale": scale, "gs": gw, "levels": levels, "backward": True, "degenerate": degenerate}
    core = over_gaps(moved, w, kind="differences", owner="eig", divided=0, condition=_squared(condition), **how)
    if gw is not None:
        core = core + gw[..., None] * like(w).eye(w.shape[-1])
    return (np.linalg.solve(v.mT, core @ v.mT),)


def _eig_jvp(tangents, ans, a, *, degenerate="raise", levels=1):
    """``dw = diag(M)`` and ``dV = V K`` for ``M = V^-1 dA V``, of which lengths are kept; phases are those of K."""
    w, v = ans
    condition = _squared(conditions(stack_of(w), stack_of(v), stack_of(a)))
    m = np.linalg.solve(v, tangents[0] @ v)
    k = over_gaps(m, w + 0j, kind="differences", owner="eig", condition=condition, degenerate=degenerate)
    dv = v @ k
    lengths = (v.conj() * dv).real.sum(axis=-2)[..., None, :]
    return diagonal_of(m), dv - v * lengths


def conditions(w: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Condition numbers (..., n) of bare eigenvalues, and the norm (..., 1) over the largest; None where all are apart.

    Vectors are known to ``eps condition / gap``, and what a loss makes of them and of their inverse to the condition
    times that: so gaps are divided by its square, see `_squared`.
    """
    size, largest = np.abs(a).max(axis=(-2, -1), initial=0.0), np.abs(w).max(axis=-1, initial=0.0)
    floor = np.maximum(tolerances.unit(w.dtype) * size, tolerances.tiny(w.dtype))
    norm = np.maximum(size / np.maximum(largest, floor), 1.0)[..., None]
    inverse = _inverse(v)
    with np.errstate(over="ignore"):
        condition = np.maximum(np.sqrt((np.abs(inverse) ** 2).sum(axis=-1)), 1.0)
        return None if far_apart(w, condition=_squared((condition, norm))) else (condition, norm)


def _inverse(v):
    """The inverse of eigenvectors `v`, whose squares are finite if they are a basis."""
    try:
        with np.errstate(all="ignore"):
            inverse = np.linalg.inv(v)
        if np.abs(inverse).max(initial=0.0) < np.sqrt(np.finfo(v.dtype).max) / max(v.shape[-1], 1):
            return inverse
    except np.linalg.LinAlgError:
        pass
    raise ArgumentError(
        "eig: the matrix has no basis of eigenvectors, so that its factors have no derivative. Use expm, logm or "
        "sqrtm, and powers of the matrix in place of those of its eigenvalues"
    )


def _squared(condition):
    """What gaps are divided by, some ``condition**2``; one if the vectors are orthogonal."""
    return None if condition is None else (tolerances.SUMS * (condition[0] ** 2 - 1) + 1) * condition[1]


def _check_conditions(w, condition, gw, found, levels, degenerate):
    """Refuse to weigh two values differently that are too close for how well they are conditioned.

    And a sum of terms ``gw_i condition_i`` of which so many digits cancel that those of `found` are lost.
    """
    (condition, norm), least, half = condition, tolerances.lost(w.dtype), tolerances.half(w.dtype)
    differ, gap = np.abs(gw[..., None, :] - gw[..., :, None]), relative(w[..., None, :] - w[..., :, None], w)
    both = pairs(condition * norm, gap)
    lost = (gap / both) ** levels <= least
    bad = lost & (both**2 > 1 / tolerances.quarter(w.dtype)) & (differ > half * np.abs(gw).max(initial=0.0))
    refuse(np.where(bad, differ, 0.0), w, "eig", 0.0, degenerate, order=levels)
    terms = (least * condition * np.abs(gw))[..., None, :]
    refuse(terms, w, "eig", np.abs(found).max(axis=(-2, -1)), degenerate, tolerance=1.0)


def _check_rebuilt(w, gw, moved, degenerate):
    """Refuse a loss of values and vectors where values coincide: it may be one of ``V f(w) V^-1``.

    Of that the numerators `moved` show no more than ``f(w_j) - f(w_i)``, which is rounding there, while the derivative
    is ``f'(w)``.  So what passes are pairs of which the loss uses neither values nor vectors: exact zeros, where
    not all is zero.
    """
    together = same_block(w) & ~like(w).eye(w.shape[-1], dtype=bool)
    if not together.any():
        return
    used = np.abs(gw) + columns_of(moved)
    used = np.where(used.max(axis=-1, keepdims=True) > 0.0, used, 1.0)
    refuse(np.where(together, used[..., None, :], 0.0), w, "eig", 0.0, degenerate)


rule(_eig, shared=_eig_vjp, forward_shared=_eig_jvp, batch=core(2), scaled=True)
