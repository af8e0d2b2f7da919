"""Schur form ``A = Z T Z^H`` of general matrices, with upper triangular T and unitary Z.

With ``Z^H dZ = Omega``, skew-Hermitian and of zero diagonal, ``dT = Z^H dA Z + T Omega - Omega T`` is upper triangular.
What that says below the diagonal determines Omega_L, the strictly lower part of Omega:

    tril(T Omega_L - Omega_L T, -1) = -tril(Z^H dA Z, -1),

solved column by column.  In the public convention, with ``P = triu(G_T)`` and ``N = Z^H G_Z + T^H P - P T^H``,

    tril(T^H Y - Y T^H, -1) = tril(N - N^H, -1),      G_A = Z (P - Y) Z^H .

The code is its complex conjugate.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.linalg when it is first used

from qad.extend import core, like, primitive, rule, stack_of
from qad.linalg.functions.frechet import each
from qad.linalg.support import tolerances
from qad.linalg.support.check import square
from qad.linalg.support.degeneracy import gauge_checked, refuse, rounding, same_block
from qad.linalg.support.derivative_order import orders
from qad.linalg.support.hermitian_parts import diagonal_of

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike


def schur(a: ArrayLike) -> tuple[Array, Array]:
    """Complex Schur form ``a = z @ t @ z.conj().mT``.

    Parameters
    ----------
    a : array (..., n, n)
        Real or complex.

    Returns
    -------
    t, z : complex arrays (..., n, n)
        Upper triangular, with the eigenvalues of `a` on its diagonal, in LAPACK's order; and unitary.

    Raises
    ------
    ShapeError
        If the matrices are not square.
    ArgumentError
        If an entry is not finite. In the backward pass, if the loss depends on the phases of the columns of z, or
        where eigenvalues coincide and it depends on how the form orders and mixes them: `expm`, `logm` and `sqrtm`
        are exact there.

    Notes
    -----
    Batches are a loop: LAPACK has no call for them. Derivatives keep to the order of the eigenvalues at the point.

    Examples
    --------
    >>> import numpy as np, qad
    >>> def above(a):
    ...     t, _ = qad.linalg.schur(a)
    ...     return abs(t[0, 1]) ** 2
    >>> qad.grad(above)(np.array([[2.0, 1.0], [0.0, 1.0]])).round(6) + 0.0
    array([[ 0.,  2.],
           [-2.,  0.]])
    """
    a = square(a, "schur")
    return _schur(a, levels=orders(a))


@primitive(name="schur")
def _schur(a, *, levels=1):
    form = partial(scipy.linalg.schur, output="complex", check_finite=False)
    return each(form, a, dtype=np.result_type(a, np.complex64))


def _schur_vjp(needed, g, ans, a, *, levels=1, end=None):
    gt, gz = g
    t, z = ans
    p = t * 0.0 if gt is None else np.triu(gt)
    n = t.mT @ p - p @ t.mT
    if gz is not None:
        n = n + z.mT @ gz
    w = diagonal_of(stack_of(t))
    scale = gauge_checked(diagonal_of(stack_of(n)).imag, w, "schur", (n, gt, gz), None, rounding(w, end))
    _check_determined(stack_of(t), gt, gz, levels)
    y = lower_sylvester(t, np.tril(n - n.conj().mT, -1), scale=scale, order=levels, transposed=True)
    return (z.conj() @ (p - y) @ z.mT,)


def _check_determined(t, gt, gz, order):
    """Refuse a loss of the triangular factor where eigenvalues coincide: it may be one of ``Z f(T) Z^H``.

    Of that the equation sees no more than ``f(w_j) - f(w_i)``, which is rounding there.  What passes are losses of
    other rows and columns, of spaces only, or equal weights of eigenvalues that no entry of T couples, at first order.
    """
    one = like(t).eye(t.shape[-1], dtype=bool)
    together = _together(diagonal_of(t), t, 1) & ~one
    if gt is None or not together.any():
        return
    w, g, values = diagonal_of(t), np.abs(stack_of(gt)), diagonal_of(stack_of(gt))
    later, least = order > 1 and orders(gt) > 0, tolerances.lost(t.dtype)
    inside = together & (later | (g + g.mT + _of_both(np.abs(values)) > 0.0))
    apart, size = np.where(one, 0.0, g), np.abs(t).max(axis=(-2, -1), initial=0.0)[..., None, None]
    used = apart.max(axis=-1, initial=0.0) + apart.max(axis=-2, initial=0.0)
    used = used if gz is None else used + np.abs(stack_of(gz)).max(axis=-2, initial=0.0)
    coupled = np.where(one, 0.0, np.abs(np.triu(t))) > least * size
    bad = later | (_of_both(used) > 0.0) | coupled | coupled.mT
    refuse(np.where(inside & bad, 1.0, 0.0), w, "schur", 0.0, order=order)
    near = inside & (np.abs(w[..., :, None] - w[..., None, :]) <= least * size)
    differ = np.where(near, np.abs(values[..., :, None] - values[..., None, :]), 0.0)
    refuse(differ, w, "schur", np.abs(values).max(axis=-1, initial=0.0), tolerance=tolerances.half(t.dtype))


def _of_both(x):
    """The sums (..., n, n) of what two vectors have in `x` (..., n)."""
    return x[..., :, None] + x[..., None, :]


rule(_schur, shared=_schur_vjp, batch=core(2), scaled=True)


@primitive
def lower_sylvester(
    t: Array, r: Array, *, scale: np.ndarray | None = None, order: int = 1, transposed: bool = False
) -> Array:
    """Strictly lower X of ``tril(t X - X t, -1) = tril(r, -1)``, with the transpose of upper triangular `t` if asked.

    Where eigenvalues coincide an entry of X is free, and zero; that the equation asks for more is refused, beyond
    rounding of size `scale` (...). The `order` of the derivative that is being taken decides what coincides.
    """
    x = each(partial(_columns, order=order, transposed=transposed), t, r)
    w = diagonal_of(t)
    together = np.tril(_together(w, t, order), -1)
    if together.any():
        s = t.mT if transposed else t
        left = np.where(together, np.abs(s @ x - x @ s - r), 0.0)
        size = np.abs(r).max(axis=(-2, -1), initial=0.0)
        refuse(left, w, "schur", size if scale is None or order > 1 else np.maximum(size, scale), order=order)
    return x


def _together(w, t, order):
    """Which two eigenvalues `w` of `t` are too close for a derivative of this `order`; see ``gap_quotients.py``.

    A coupling above the diagonal makes two that are near as badly conditioned as they are near.
    """
    if not w.size:
        return same_block(w)
    size, above = np.abs(t).max(axis=(-2, -1)), np.abs(np.triu(t, 1)).max(axis=(-2, -1))
    size, above = (np.maximum(x, tolerances.tiny(t.dtype))[..., None, None] for x in (size, above))
    gap = np.abs(w[..., :, None] - w[..., None, :]) / size
    gap = gap**2 / (gap + above / size)
    return same_block(w) | (gap**order <= tolerances.lost(t.dtype))


def _columns(t, r, order, transposed):
    n, x = len(t), np.zeros_like(r)
    together = _together(np.diagonal(t), t, order)
    for j in reversed(range(n - 1)) if transposed else range(n - 1):
        below = slice(j + 1, n)
        known = x[below, j + 1 :] @ t[j, j + 1 :] if transposed else x[below, :j] @ t[:j, j]
        block = t[below, below] - t[j, j] * like(t).eye(n - 1 - j)
        free = np.flatnonzero(together[below, j])
        block[free, free] = np.inf
        x[below, j] = scipy.linalg.solve_triangular(
            block, r[below, j] + known, trans=int(transposed), check_finite=False
        )
    return x


def _sylvester_vjp(needed, g, x, t, r, *, scale=None, order=1, transposed=False):
    y = lower_sylvester(t, np.tril(g, -1), order=order, transposed=not transposed)
    left, right = (x, y.mT) if transposed else (y, x.mT)
    return [-np.triu(left @ right - right @ left) if i == 0 else y for i in needed]


rule(lower_sylvester, shared=_sylvester_vjp, batch=core(2, 2))
