"""LU decomposition ``A = P L U``.  For square matrices, in the public convention,

    G_A = P L^-H [ tril(L^H G_L, -1) + triu(G_U U^H) ] U^-H

(de Hoog, Anderssen and Lukas, "Differentiation of matrix functionals using triangular factorization", 2011);
of a rectangular one the rest is the solution of a triangular system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.linalg when it is first used

from qad.core.errors import ArgumentError
from qad.extend import defbatch, defvjp, on_stack, opaque, primitive, stack_of, stacks
from qad.linalg.equations.triangular import solve_lower, solve_upper
from qad.linalg.support.check import matrices

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
        In the backward pass or in forward mode, if the leading k x k block of ``p.T @ a`` is singular.

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
    low, up = _factors(a[..., :k, :k])
    if a.shape[-2] > k:
        low = np.concatenate([low, solve_lower(up.mT, a[..., k:, :].mT).mT], axis=-2)
    elif a.shape[-1] > k:
        up = np.concatenate([up, solve_lower(low, a[..., :, k:])], axis=-1)
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
def _factors(a):
    """L and U of matrices that need no pivots."""
    p, low, up = _pivoted(a)
    return (p @ low, up)


def _factors_vjp(needed, g, ans, a):
    gl, gu = g
    low, up = ans
    size = np.abs(np.diagonal(stack_of(up), axis1=-2, axis2=-1))
    if (size <= 10 * a.shape[-1] * np.finfo(size.dtype).eps * size.max(axis=-1, initial=0.0)[..., None]).any():
        raise ArgumentError(f"lu: a matrix is singular (a pivot is {size.min():.3g}): its factors have no derivative")
    inner = 0.0
    if gl is not None:
        inner = inner + np.tril(low.mT @ gl, -1)
    if gu is not None:
        inner = inner + np.triu(gu @ up.mT)
    return (solve_upper(low.mT, solve_upper(up, inner.mT).mT),)


defvjp(_factors, shared=_factors_vjp)
defbatch(_factors, stacks(_factors, 2))
