"""LU decomposition ``A = P L U``.  For square and wide matrices, in the public convention,

    G_A = P L^-H [ tril(L^H G_L - G_U U^H, -1) [U1^-H, 0] + G_U ],   U = [U1 U2],

(de Hoog, Anderssen and Lukas, "Differentiation of matrix functionals using triangular factorization", 2011, written
so that it does not divide by the last pivot); of a tall one the rest is the solution of a triangular system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.linalg when it is first used

from qad.core.errors import ArgumentError
from qad.extend import core, on_stack, opaque, primitive, rule, stack_of
from qad.extend.recording import directions
from qad.linalg.equations.triangular import solve_lower, solve_upper
from qad.linalg.support import tolerances
from qad.linalg.support.check import matrices
from qad.linalg.support.conditioned import check_triangle
from qad.linalg.support.derivative_order import is_pushed_gradient, orders

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike


def lu(a: ArrayLike) -> tuple[Array, Array, Array]:
    """LU decomposition with partial pivoting, ``a = p @ l @ u``.

    Parameters
    ----------
    a : array (..., m, n)

    Returns
    -------
    p : array (..., m, m), a permutation, without derivative
    l, u : arrays (..., m, k) and (..., k, n), with k = min(m, n)
        Lower triangular with ones on its diagonal, and upper triangular.

    Raises
    ------
    ArgumentError
        If an entry is not finite.
        In the backward pass or in forward mode, if the leading k x k block of ``p.T @ a`` is singular, or so
        nearly that rounding would be more than 1e-4 of the derivative (see ``conditioned.py``).

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: qad.linalg.lu(a)[2][1, 1])(np.array([[2.0, 1.0], [1.0, 2.0]])) + 0.0
    array([[ 0.25, -0.5 ],
           [-0.5 ,  1.  ]])
    """
    a = matrices(a, "lu")
    p, low, up = on_stack(_pivoted, a)
    if stack_of(a) is a:
        return p, low, up
    a, k = p.mT @ a, min(a.shape[-2:])
    tall = a.shape[-2] > k
    if (tall and orders(a) > 1) or ("forward" in directions(a) and not is_pushed_gradient(a)):
        check_triangle(stack_of(up), k if tall else k - 1, orders(a), "lu")  # no cotangent shows what matters
    low, up = _factors(a[..., :k, :], levels=orders(a))
    if tall:
        low = np.concatenate([low, solve_lower(up.mT, a[..., k:, :].mT).mT], axis=-2)
    return p, low, up


@opaque
def _pivoted(a):
    """SciPy's decomposition, also of nothing."""
    if a.size:
        return scipy.linalg.lu(a)
    *batch, m, n = a.shape
    k = min(m, n)
    p = np.broadcast_to(np.eye(m, dtype=a.real.dtype), (*batch, m, m)).copy()
    return p, np.broadcast_to(np.eye(m, k, dtype=a.dtype), (*batch, m, k)).copy(), np.zeros((*batch, k, n), a.dtype)


@primitive(name="lu")
def _factors(a, *, levels=1):
    """L and U of matrices that need no pivots, of which so many `levels` of derivatives are taken."""
    p, low, up = _pivoted(a)
    return (p @ low, up)


def _factors_vjp(needed, g, ans, a, *, levels=1):
    gl, gu = g
    low, up = ans
    size = np.abs(np.diagonal(stack_of(up), axis1=-2, axis2=-1))
    if (size <= tolerances.zero(size.dtype, a.shape[-2]) * size.max(axis=-1, initial=0.0)[..., None]).any():
        raise ArgumentError(f"lu: a matrix is singular (a pivot is {size.min():.3g}): its factors have no derivative")
    gu = None if gu is None else np.triu(gu)
    part = max(a.shape[-2] - 1, 0)
    if not part:
        return (0.0 * a if gu is None else gu,)
    slope = 0.0 if gl is None else low.mT @ gl
    if gu is not None:
        slope = slope - gu @ up.mT
    slope = np.tril(slope, -1)[..., :, :part]
    check_triangle(stack_of(up), part, levels, "lu")
    inner = solve_upper(up[..., :part, :part], slope.mT).mT
    moved = np.concatenate([inner, 0.0 * a[..., :, part:]], axis=-1)
    return (solve_upper(low.mT, moved if gu is None else moved + gu),)


rule(_factors, shared=_factors_vjp, batch=core(2))
