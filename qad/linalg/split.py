"""Symmetric split ``A = L R`` with ``L = U sqrt(S)``, ``R = sqrt(S) V^H``, for losses that contract the new bond.

The pair is written through spectral functions of A, which need no gaps between the values that are kept:

    P = U V^H,   Q = U sqrt(S) V^H,   B = P V0,   Z = B^H B,   L = Q P^H B Z^-1/2,   R = Z^-1/2 B^H Q

where the constant V0 holds the singular vectors at the point, and the functions vanish on what is discarded.  At the
point this is the pair above, around it the same up to a unitary of the bond: ``L W`` and ``W^H R``.
"""

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import defvjp, quick, value_of
from qad.linalg.funm_herm import funm_herm
from qad.linalg.funm_svd import funm_svd
from qad.linalg.parts import adjoint, hermitian, skew
from qad.linalg.truncated import rank_of


def split(a, max_rank=None, cutoff=None, relative=True, *, multiplets="warn"):
    """Split a matrix in two halves of equal weight, with derivatives that are exact at degenerate singular values.

    Parameters
    ----------
    a : array (m, n)
    max_rank, cutoff, relative, multiplets
        What to keep, as in `truncated_svd`. Singular values that are zero to rounding are never kept.

    Returns
    -------
    L, R : arrays (m, k) and (k, n)
        ``U sqrt(S)`` and ``sqrt(S) Vh``: ``L @ R`` is the best approximation of `a` of rank k.

    Raises
    ------
    ArgumentError
        In the backward pass, if the loss is not invariant under ``L W, W^H R`` with unitary W, that is, if it
        depends on the basis of the new bond.
    ShapeError
        If `a` is not a matrix.

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
    if a.ndim != 2:
        raise ShapeError(f"split takes one matrix, not an array of shape {a.shape}: reshape it, or loop over the stack")
    u, s, vh = np.linalg.svd(value_of(a), full_matrices=False)
    nonzero = int(np.sum(s > 10 * max(a.shape) * np.finfo(s.dtype).eps * s[:1]))
    k = rank_of(s, min(nonzero, s.size if max_rank is None else max_rank), cutoff, relative, multiplets)
    if value_of(a) is a:
        return u[:, :k] * np.sqrt(s[:k]), np.sqrt(s[:k])[:, None] * vh[:k]
    limit = (s[k - 1] + s[k]) / 2 if k < s.size else -1.0
    polar, root = funm_svd(lambda x: x > limit, a), funm_svd(_root_above(limit), a)
    b = polar @ adjoint(vh[:k])
    z = funm_herm(_inverse_root, hermitian(adjoint(b) @ b))
    pair = _tied(root @ adjoint(polar) @ b @ z, (z @ adjoint(b) @ root).mT)
    return pair[: a.shape[0]], pair[a.shape[0] :].mT


def _root_above(limit):
    def root(x):
        kept = x > limit
        return np.where(kept, np.sqrt(np.where(kept, x, 1.0)), 0.0)

    return root


def _inverse_root(w):
    return 1 / np.sqrt(w)


def _tie(left, right):
    """L and the transpose of R, one over the other, so that one rule sees the cotangents of both.

    No `primitive`: only the level at which `split` was called checks them, as only its loss has to be invariant.
    """
    return np.concatenate([left, right], axis=0)


def _check(g, left, right):
    """Raise unless the loss is invariant under ``L W, W^H R``: ``G_L^H L - R G_R^H`` is Hermitian."""
    g, left, right = value_of(g), value_of(left), value_of(right)
    m = left.shape[0]
    first, second = g[:m].T @ left, right.T @ g[m:]
    turn, scale = np.abs(skew(first - second)).max(), np.abs(first).max() + np.abs(second).max()
    if turn > 100 * np.sqrt(np.finfo(g.dtype).eps) * scale:
        raise ArgumentError(
            f"split: the loss depends on the basis of the new bond (its derivative along a rotation is {turn:.3g}), "
            "which is arbitrary: contract the bond, or use qad.linalg.truncated_svd"
        )


def _left_vjp(g, ans, left, right):
    _check(g, left, right)
    return g[: left.shape[0]]


defvjp(_tie, _left_vjp, lambda g, ans, left, right: g[left.shape[0] :])
_tied = quick(_tie)
