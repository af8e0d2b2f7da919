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
from qad.linalg.support.degeneracy import gauge_checked, refuse, rounding
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
        If an entry is not finite. In derivatives, if the loss depends on the phases of the columns of z, or where
        eigenvalues coincide: `expm`, `logm` and `sqrtm` are exact there.

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
    gauge_checked(diagonal_of(stack_of(n)).imag, w, "schur", (n, gt, gz), None, rounding(w, end))
    _check_distinct(w, stack_of(t), levels)
    y = lower_sylvester(t, np.tril(n - n.conj().mT, -1), transposed=True)
    return (z.conj() @ (p - y) @ z.mT,)


def _check_distinct(w, t, order):
    """Refuse a derivative of this `order` where two eigenvalues `w` of `t` are too close; see ``gap_quotients.py``.

    A coupling above the diagonal makes two that are near as badly conditioned as they are near.
    """
    size, above = (np.abs(x).max(axis=(-2, -1), initial=0.0) for x in (t, np.triu(t, 1)))
    size, above = (np.maximum(x, tolerances.tiny(t.dtype))[..., None, None] for x in (size, above))
    gap = np.abs(w[..., :, None] - w[..., None, :]) / size
    gap = gap**2 / (gap + above / size)
    together = (gap**order <= tolerances.lost(t.dtype)) & ~like(w).eye(w.shape[-1], dtype=bool)
    refuse(together * 1.0, w, "schur", 0.0, order=order)


rule(_schur, shared=_schur_vjp, batch=core(2), scaled=True)


@primitive
def lower_sylvester(t: Array, r: Array, *, transposed: bool = False) -> Array:
    """Strictly lower X of ``tril(t X - X t, -1) = tril(r, -1)``, for upper triangular `t` or its transpose."""
    return each(partial(_columns, transposed=transposed), t, r)


def _columns(t, r, transposed):
    n, x = len(t), np.zeros_like(r)
    for j in reversed(range(n - 1)) if transposed else range(n - 1):
        below = slice(j + 1, n)
        known = x[below, j + 1 :] @ t[j, j + 1 :] if transposed else x[below, :j] @ t[:j, j]
        block = t[below, below] - t[j, j] * np.eye(n - 1 - j)
        x[below, j] = scipy.linalg.solve_triangular(
            block, r[below, j] + known, trans=int(transposed), check_finite=False
        )
    return x


def _sylvester_vjp(needed, g, x, t, r, *, transposed=False):
    y = lower_sylvester(t, np.tril(g, -1), transposed=not transposed)
    left, right = (x, y.mT) if transposed else (y, x.mT)
    return [-np.triu(left @ right - right @ left) if i == 0 else y for i in needed]


rule(lower_sylvester, shared=_sylvester_vjp, batch=core(2, 2))
