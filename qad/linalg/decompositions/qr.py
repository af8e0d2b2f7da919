"""QR decomposition.  For m >= n, in the public convention,

    X = triu(G_R R^H - Q^H G_Q),   Y = X + X^H with diagonal Re(X_ii),   G_A = (G_Q + Q Y) R^-H,

where R has a real diagonal, as LAPACK makes it.  (Liao et al., PRX 9, 031041, for the real case.)  Of a wide matrix
``[A1 A2]`` with square A1 = Q R1, the rest is ``Q^H A2``.  The complete decomposition of a tall matrix is
``[Q Q'] [R; 0]``, of which Q' is arbitrary up to a unitary: see ``full_basis.py``.  The code is the complex conjugate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import core, implements, like, primitive, rule, stack_of
from qad.linalg.equations.triangular import solve_lower, solve_upper
from qad.linalg.support import tolerances
from qad.linalg.support.check import batch_entry, matrices
from qad.linalg.support.conditioned import check_triangle
from qad.linalg.support.degeneracy import rounding
from qad.linalg.support.derivative_order import orders
from qad.linalg.support.full_basis import folded
from qad.linalg.support.hermitian_parts import adjoint

if TYPE_CHECKING:
    from typing import Any, Literal, overload

    from qad.typing import Array, ArrayLike
    from qad.typing import QRResult as QR

    @overload
    def qr(a: ArrayLike, mode: Literal["reduced", "complete"] = "reduced") -> QR: ...
    @overload
    def qr(a: ArrayLike, mode: Literal["r"]) -> Array: ...


def qr(a: ArrayLike, mode: str = "reduced") -> Any:
    """QR decomposition, with NumPy's signature and default.

    Parameters
    ----------
    a : array (..., m, n)
        Of full rank: the first k = min(m, n) columns are independent.
    mode : "reduced", "complete" or "r"
        On a Tensor "raw" raises.

    Returns
    -------
    Q, R : a named tuple of arrays (..., m, k), (..., k, n), for "complete" (..., m, m), (..., m, n)
        R has a real diagonal, whose signs are LAPACK's. With "r": only R.

    Raises
    ------
    ArgumentError
        If an entry is not finite;
        for another mode on a Tensor; in the backward pass or in forward mode, if `a` is rank-deficient, or so nearly
        that rounding would be more than 1e-4 of the derivative (see ``conditioned.py``); in the
        backward pass, if the loss depends on the choice of the columns of Q beyond the n-th. (Their
        tangents, in forward mode, have no component among themselves.)

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: np.abs(qad.linalg.qr(a).R[0, 0]))(np.array([[3.0, 1.0], [4.0, 1.0]])).round(6) + 0.0
    array([[0.6, 0. ],
           [0.8, 0. ]])
    """
    a = matrices(a, "qr")
    if stack_of(a) is a:
        return np.linalg.qr(a, mode)
    if mode not in ("reduced", "complete", "r"):
        raise ArgumentError(f'qr: mode {mode!r} has no derivative rule: write mode="reduced", "complete" or "r"')
    q, r = (complete if mode == "complete" and a.shape[-2] > a.shape[-1] else reduced)(a, levels=orders(a))
    return r if mode == "r" else QRResult(q, r)


implements(np.linalg.qr)(qr)
QRResult: Any = type(np.linalg.qr(np.eye(1)))


@primitive(name="qr")
def reduced(a: Array, *, levels: int = 1) -> tuple[Array, Array]:
    """The reduced decomposition, of which so many `levels` of derivatives are taken."""
    return np.linalg.qr(a)


@primitive(name="qr")
def complete(a: Array, *, levels: int = 1) -> tuple[Array, Array]:
    """The complete decomposition of tall matrices; `levels` as for `reduced`."""
    return np.linalg.qr(a, "complete")


def _complete_vjp(needed, g, ans, a, *, levels=1, end=None):
    gq, gr = g
    q, r = ans
    n = a.shape[-1]
    r = r[..., :n, :]
    _check_rank(stack_of(r))
    gq, q = folded(gq, q, n, "qr", rounding(like(r).ones(1, r.dtype).real, end))
    return (_tall(gq, None if gr is None else gr[..., :n, :], q, r, levels),)


def _reduced_vjp(needed, g, ans, a, *, levels=1):
    (gq, gr), (q, r) = g, ans
    k = q.shape[-1]
    _check_rank(stack_of(r)[..., :, :k])
    if r.shape[-1] == k:
        return (_tall(gq, gr, q, r, levels),)
    gr = r * 0.0 if gr is None else gr
    first, rest = gr[..., :, :k], gr[..., :, k:]
    turned = (a[..., :, k:] @ rest.mT).conj()
    moved = _tall(turned if gq is None else gq + turned, first, q, r, levels)
    return (np.concatenate([moved, q.conj() @ rest], axis=-1),)


def _reduced_jvp(tangents, ans, a, *, levels=1):
    """``dA R^-1 = dQ + Q N`` with N = dR R^-1, which is upper triangular and has a real diagonal, as R has."""
    (t,), (q, r) = tangents, ans
    k = q.shape[-1]
    first = r[..., :, :k]
    _check_rank(stack_of(first))
    check_triangle(stack_of(r), k, orders(a) + 1, "qr")
    x = solve_lower(first.mT, t[..., :, :k].mT).mT
    p = adjoint(q) @ x
    n = np.triu(p, 1) + adjoint(np.tril(p, -1)) + p.real * like(p).eye(k)
    dq = x - q @ n
    return dq, np.concatenate([n @ first, adjoint(dq) @ a[..., :, k:] + adjoint(q) @ t[..., :, k:]], axis=-1)


def _tall(gq, gr, q, r, levels):
    """The cotangent of the first k columns."""
    k = q.shape[-1]
    first = r[..., :, :k]
    if gr is None:
        x = -(q.mT @ gq)
    else:
        x = gr @ first.mT if gq is None else gr @ first.mT - q.mT @ gq
    strict = np.triu(x, 1)
    y = strict + strict.conj().mT + x.real * like(q).eye(k)
    inner = q.conj() @ y
    check_triangle(stack_of(r), k, levels, "qr")
    return solve_upper(first, (inner if gq is None else gq + inner).mT).mT


def _check_rank(r):
    """Raise where a diagonal entry of R is zero to rounding."""
    size = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    largest = np.abs(r).max(axis=(-2, -1), initial=0.0)
    bad = np.argwhere(size <= tolerances.zero(r.dtype, r.shape[-1]) * largest[..., None])
    if len(bad):
        *batch, i = map(int, bad[0])
        raise ArgumentError(
            f"qr{batch_entry(batch)}: column {i} depends on those before it (R[{i}, {i}] is {size[tuple(bad[0])]:.3g}, "
            f"of {largest[tuple(batch)]:.3g}), so that Q is not determined. Drop such columns, or use qad.linalg.svd"
        )


rule(reduced, shared=_reduced_vjp, forward_shared=_reduced_jvp, batch=core(2), fresh=True)
rule(complete, shared=_complete_vjp, batch=core(2), scaled=True)
