"""Determinant: ``d det A = sum(C o dA)`` with the cofactors C, polynomials that need no inverse.

Near a singular matrix the cofactors come from ``A = U S Vh``: adj(A) = det(U Vh) V adj(S) U^H, where adj(S) holds
the products of all singular values but one.  Their derivative is exact there as well: adj of a diagonal matrix
plus E is, to first order in E,

    adj(S + E)_ii = p_i + sum_k P_ik E_kk,   adj(S + E)_ij = -P_ij E_ij,

where P_ij is the product of all singular values but the i-th and the j-th.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import core, implements, like, primitive, rule, stack_of, vjp
from qad.linalg.support import tolerances
from qad.linalg.support.check import one_norm, square

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike


def det(a: ArrayLike) -> Array:
    """Determinant of square matrices, differentiable at singular ones too (to second order).

    Parameters
    ----------
    a : array (..., n, n)

    Returns
    -------
    array (...)

    Raises
    ------
    ShapeError
        If the matrices are not square.
    ArgumentError
        If an entry is not finite;
        for third derivatives, unless the matrix is well-conditioned.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(qad.linalg.det)(np.array([[1.0, 2.0], [2.0, 4.0]])).round(6)
    array([[ 4., -2.],
           [-2.,  1.]])
    """
    return _det(square(a, "det"))


implements(np.linalg.det)(det)


_det = primitive(np.linalg.det, name="det")


@primitive
def cofactors(a: Array) -> Array:
    """Derivative (..., n, n) of the determinant with respect to the entries of `a`."""
    inverse = _good_inverse(a)
    if inverse is not None:
        return np.linalg.det(a)[..., None, None] * inverse.mT
    u, s, vh = np.linalg.svd(a)
    return _sign(u, vh) * (u.conj() * _all_but_one(s)[..., None, :]) @ vh.conj()


@primitive
def cofactors_derivative(e: Array, a: Array) -> Array:
    """Derivative of `cofactors` at `a` along `e`, both (..., n, n). Symmetric: sum(f D[e]) = sum(e D[f])."""
    if _good_inverse(a) is not None:
        return _by_inverse(e, a)
    u, s, vh = np.linalg.svd(a)
    inner = u.mT.conj() @ e @ vh.mT.conj()
    p = _all_but_two(s)
    diagonal = (p @ np.diagonal(inner, axis1=-2, axis2=-1)[..., None]) * like(s).eye(s.shape[-1])
    change = _sign(u, vh) * vh.mT.conj() @ (diagonal - p * inner) @ u.mT.conj()
    return change.mT


def _sign(u, vh):
    return (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]


def _all_but_one(s):
    """Products (..., n) of all entries of `s` (..., n) but one."""
    one = np.ones_like(s[..., :1])
    before = np.cumprod(np.concatenate([one, s[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([one, s[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    return before * after


def _all_but_two(s):
    """Products (..., n, n) of all entries of `s` (..., n) but two; zero on the diagonal."""
    same = like(s).eye(s.shape[-1], dtype=bool)
    without_first = np.where(same, 1.0, s[..., None, :])
    return np.where(same, 0.0, _all_but_one(without_first))


def _good_inverse(a):
    """The inverse of every matrix of the batch, or None where one of them is near to singular."""
    try:
        inverse = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return None
    with np.errstate(all="ignore"):
        good = (one_norm(a) * one_norm(inverse) * tolerances.quarter(a.dtype) < 1.0) & (np.linalg.det(a) != 0)
    return inverse if good.all() else None


def _by_inverse(e, a):
    inverse = np.linalg.inv(a)
    moved = inverse @ e
    change = np.trace(moved, axis1=-2, axis2=-1)[..., None, None] * inverse - moved @ inverse
    return np.linalg.det(a)[..., None, None] * change.mT


def _third(g, ans, e, a):
    """Derivative of ``sum(g * cofactors_derivative(e, a))`` with respect to `a`; needs the inverse."""
    if _good_inverse(stack_of(a)) is None:
        raise ArgumentError("det: third derivatives need a well-conditioned matrix; first and second ones do not")
    _, pullback = vjp(lambda a: _by_inverse(e, a), a)
    return pullback(g.conj())[0].conj()


rule(
    _det,
    lambda g, ans, a: g[..., None, None] * cofactors(a),
    forward=lambda t, ans, a: (cofactors(a) * t).sum(axis=(-2, -1)),
    batch=core(2),
    fresh=True,
)
rule(
    cofactors,
    lambda g, ans, a: cofactors_derivative(g, a),
    forward=lambda t, ans, a: cofactors_derivative(t, a),
    batch=core(2),
    fresh=True,
)
rule(cofactors_derivative, lambda g, ans, e, a: cofactors_derivative(g, a), _third, batch=core(2, 2), fresh=True)
