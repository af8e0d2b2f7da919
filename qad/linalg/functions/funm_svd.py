"""Generalised matrix functions ``F = U f(S) V^H`` by divided differences.

They are odd functions of the Hermitian matrix ``J = [[0, A], [A^H, 0]]``, whose eigenvalues are +s, -s (and zeros for
the rest of a rectangular matrix): ``f(J) = [[0, F], [F^H, 0]]``.  So with ``M = U^H dA V``

    dF = U (f[s_i, s_j] o herm(M) + f[s_i, -s_j] o sk(M)) V^H
         + (1 - U U^H) dA V diag(f(s)/s) V^H + U diag(f(s)/s) U^H dA (1 - V V^H)

(Noferini, "A formula for the Frechet derivative of a generalized matrix function", 2017), exact at and near
degenerate singular values; the second derivative is that of f(J).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import like, primitive
from qad.linalg.functions.certain import off_zero, require_known
from qad.linalg.functions.divided_differences import first_differences, second_derivative
from qad.linalg.functions.elementwise import ElementwiseFunction
from qad.linalg.functions.twice_differentiable import twice_differentiable
from qad.linalg.support.check import matrices
from qad.linalg.support.conditioned import check_condition
from qad.linalg.support.hermitian_parts import adjoint, hermitian, skew

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.typing import Array, ArrayLike


def funm_svd(f: Callable[[Any], Any], a: ArrayLike) -> Array:
    """``U f(S) V^H`` of any matrix, with derivatives that are exact at degenerate singular values as well.

    Parameters
    ----------
    f : callable
        Of an array of non-negative numbers, elementwise and real, written in NumPy's functions: ``np.sqrt``,
        ``lambda s: 1.0`` (the polar factor), ``lambda s: np.maximum(s - 0.1, 0)``. Its derivatives come from
        the tape; it must not depend on Tensors of its own.
    a : array (..., m, n)

    Returns
    -------
    array (..., m, n)

    Raises
    ------
    ArgumentError
        If an entry is not finite;
        if `f` depends on a Tensor or is complex; in the backward pass, where `f` has no finite derivative, or a
        singular value is zero and f(s)/s is not bounded there, so that the function is not differentiable.
    MissingRuleError
        For third derivatives.

    Examples
    --------
    >>> import numpy as np, qad
    >>> w = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> qad.grad(lambda a: np.sum(w * qad.linalg.funm_svd(lambda s: s, a)))(np.eye(2)).round(6)
    array([[1., 2.],
           [3., 4.]])
    """
    return _funm(matrices(a, "funm_svd"), f=ElementwiseFunction(f, odd=True))[0]


@primitive(name="funm_svd")
def _funm(a, *, f):
    """The function; the factors come along for the rules."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return (u * f.plain(s)[..., None, :]) @ vh, u, s, vh


@primitive(name="funm_svd (first derivative)")
def _along(e, a, u, s, vh, *, f):
    """First derivative along `e` (..., m, n)."""
    uh, v = adjoint(u), adjoint(vh)
    k = s.shape[-1]
    left, right, s = uh @ e, e @ v, off_zero(f, s)
    require_known(f, s, 1)
    d = first_differences(f, np.concatenate([s, -s, like(s).zeros((*s.shape[:-1], 1), s.dtype)], axis=-1))
    m = left @ v
    inner, ratio = d[..., :k, :k] * hermitian(m) + d[..., :k, k : 2 * k] * skew(m), d[..., :k, -1]
    _check_divided(f, s, u.shape[-2] != vh.shape[-1] or m.dtype.kind == "c")
    total = u @ inner @ vh
    if u.shape[-2] > k:
        total = total + ((right - u @ m) * ratio[..., None, :]) @ vh
    if vh.shape[-1] > k:
        total = total + u @ (ratio[..., :, None] * (left - m @ vh))
    return total


def _check_divided(f, s, alone):
    """Raise where f does not vanish at zero, and is divided by values `s` (..., k) that are known to too few digits.

    It is divided by sums of two of them: by one `alone`, unless the matrix is real and square.
    """
    if f.through_zero or not s.size:
        return
    least = s[..., -1] if alone else (s[..., -1] + s[..., max(s.shape[-1] - 2, 0)]) / 2
    with np.errstate(all="ignore"):
        share = np.abs(f.f(0.0 * s[..., 0])) / np.abs(f.plain(s)).max(axis=-1)
        condition = np.where(share > 0, np.minimum(share, 1.0), 0.0) * s[..., 0] / least
    condition = np.where(least > 0, condition, 0.0)  # at zero itself f jumps
    advice = "Shift it, or cut small values off by a function that vanishes at zero"
    check_condition(condition, s.dtype, "funm_svd", advice)


@primitive(name="funm_svd (second derivative)")
def _along_two(e, d, a, u, s, vh, *, f):
    """Second derivative along `e` and `d` (..., m, n): a block of that of f(J)."""
    s = off_zero(f, s)
    require_known(f, s, 2, null=u.shape[-2] != vh.shape[-1])
    v, rest = adjoint(vh), _null_vectors(u, vh)
    zeros = like(s).zeros((*s.shape[:-1], rest.shape[-1]), s.dtype)
    values = np.concatenate([s, -s, zeros], axis=-1)
    return _undilated(second_derivative(f, values, _dilated(e, u, v, rest), _dilated(d, u, v, rest)), u, v, rest)


def _null_vectors(u, vh):
    """An orthonormal basis of what the longer of `u` (..., m, k) and ``v`` (..., n, k) leave out, in columns."""
    vectors = u if u.shape[-2] > vh.shape[-1] else adjoint(vh)
    if vectors.shape[-2] == vectors.shape[-1]:
        return vectors[..., :0]
    return np.linalg.qr(vectors, mode="complete").Q[..., vectors.shape[-1] :]


def _dilated(a, u, v, rest):
    """``[[0, A], [A^H, 0]]`` in its eigenbasis: ``(u, v) / sqrt(2)``, ``(u, -v) / sqrt(2)`` and the null vectors.

    The Hermitian and the skew part of ``u^H A v`` are formed first: what vanishes by symmetry does so exactly, as it is
    multiplied by ``1 / s`` and more.
    """
    m = adjoint(u) @ a @ v
    h, k = hermitian(m), skew(m)
    tall = u.shape[-2] > v.shape[-2]
    beside = (adjoint(v) @ adjoint(a) @ rest if tall else adjoint(u) @ a @ rest) / np.sqrt(2)
    other = -beside if tall else beside
    nothing = like(u).zeros((*m.shape[:-2], rest.shape[-1], rest.shape[-1]), beside.dtype)
    rows = [h, -k, beside], [k, -h, other], [adjoint(beside), adjoint(other), nothing]
    return np.concatenate([np.concatenate(row, axis=-1) for row in rows], axis=-2)


def _undilated(x, u, v, rest):
    """The matrix of which `x` is what `_dilated` makes."""
    k = u.shape[-1]
    plus, minus, last = slice(0, k), slice(k, 2 * k), slice(2 * k, None)
    m = hermitian(x[..., plus, plus] - x[..., minus, minus]) + skew(x[..., minus, plus] - x[..., plus, minus])
    total = u @ (m / 2) @ adjoint(v)
    if u.shape[-2] > v.shape[-2]:
        return total + rest @ adjoint(x[..., plus, last] - x[..., minus, last]) @ adjoint(v) / np.sqrt(2)
    return total + u @ (x[..., plus, last] + x[..., minus, last]) @ adjoint(rest) / np.sqrt(2)


twice_differentiable("funm_svd", (_funm, _along, _along_two), (2, 1, 2), np.conj)
