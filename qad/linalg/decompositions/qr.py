"""QR decomposition.  For m >= n, in the public convention,

    X = triu(G_R R^H - Q^H G_Q),   Y = X + X^H with diagonal Re(X_ii),   G_A = (G_Q + Q Y) R^-H,

where R has a real diagonal, as LAPACK makes it.  A wide matrix is ``[A1 A2] = Q [R1 R2]`` with square A1: its rule is
the one for A1 with ``G_Q + A2 G_R2^H``, and ``G_A2 = Q G_R2``.  (Liao et al., PRX 9, 031041, for the real case;
arXiv:2009.10071 for wide matrices.)  The complete decomposition of a tall matrix is ``[Q Q'] [R; 0]``, of which Q' is
arbitrary up to a unitary: see ``full_basis.py``.  The code is the complex conjugate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import defbatch, defjvp, defvjp_tuned, implements, like, primitive, stack_of, stacks
from qad.linalg.equations.triangular import solve_lower, solve_upper
from qad.linalg.support.check import batch_entry, matrices
from qad.linalg.support.degeneracy import rounding
from qad.linalg.support.full_basis import folded
from qad.linalg.support.hermitian_parts import adjoint

if TYPE_CHECKING:
    from typing import Any, Literal, overload

    from qad.typing import Array, ArrayLike, QRResult

    @overload
    def qr(a: ArrayLike, mode: Literal["reduced", "complete"] = "reduced") -> QRResult: ...
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
        for another mode on a Tensor; in the backward pass or in forward mode, if `a` is rank-deficient; in the
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
    if mode == "r":
        return reduced(a)[1]
    if mode == "reduced" or (mode == "complete" and a.shape[-2] <= a.shape[-1]):
        return reduced(a)
    if mode == "complete":
        return complete(a)
    raise ArgumentError(f'qr: mode {mode!r} has no derivative rule: write mode="reduced", "complete" or "r"')


implements(np.linalg.qr)(qr)


@primitive(name="qr")
def reduced(a: Array) -> tuple[Array, Array]:
    """The reduced decomposition."""
    return np.linalg.qr(a)


@primitive(name="qr")
def complete(a: Array) -> tuple[Array, Array]:
    """The complete decomposition of tall matrices."""
    return np.linalg.qr(a, "complete")


def _complete_vjp(needed, g, ans, a, *, end=None):
    gq, gr = g
    q, r = ans
    n = a.shape[-1]
    r = r[..., :n, :]
    _check_rank(stack_of(r))
    gq, q = folded(gq, q, n, "qr", rounding(like(r).ones(1, r.dtype).real, end))
    return (_tall(gq, None if gr is None else gr[..., :n, :], q, r),)


def _reduced_vjp(needed, g, ans, a):
    gq, gr = g
    q, r = ans
    k = q.shape[-1]
    _check_rank(stack_of(r)[..., :, :k])
    if a.shape[-1] <= k:
        return (_tall(gq, gr, q, r),)
    if gr is None:
        gr = r * 0.0
    gr1, gr2 = gr[..., :, :k], gr[..., :, k:]
    turned = a[..., :, k:] @ gr2.mT
    ga1 = _tall(turned.conj() if gq is None else gq + turned.conj(), gr1, q, r[..., :, :k])
    return (np.concatenate([ga1, q.conj() @ gr2], axis=-1),)


def _reduced_jvp(tangents, ans, a):
    """``dA R^-1 = dQ + Q N`` with N = dR R^-1, which is upper triangular and has a real diagonal, as R has."""
    (t,), (q, r) = tangents, ans
    k = q.shape[-1]
    r1 = r[..., :, :k]
    _check_rank(stack_of(r1))
    x = solve_lower(r1.mT, t[..., :, :k].mT).mT
    p = adjoint(q) @ x
    n = np.triu(p, 1) + adjoint(np.tril(p, -1)) + p.real * like(p).eye(k)
    dq, dr = x - q @ n, n @ r1
    if a.shape[-1] > k:
        dr = np.concatenate([dr, adjoint(dq) @ a[..., :, k:] + adjoint(q) @ t[..., :, k:]], axis=-1)
    return dq, dr


def _tall(gq, gr, q, r):
    """The rule for at least as many rows as columns."""
    if gr is None:
        x = -(q.mT @ gq)
    else:
        x = gr @ r.mT if gq is None else gr @ r.mT - q.mT @ gq
    strict = np.triu(x, 1)
    y = strict + strict.conj().mT + x.real * like(q).eye(q.shape[-1])
    inner = q.conj() @ y
    return solve_upper(r, (inner if gq is None else gq + inner).mT).mT


def _check_rank(r):
    """Raise where a diagonal entry of R is zero to rounding."""
    size = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    largest = np.abs(r).max(axis=(-2, -1), initial=0.0)
    bad = np.argwhere(size <= 10 * r.shape[-1] * np.finfo(r.dtype).eps * largest[..., None])
    if len(bad):
        *batch, i = map(int, bad[0])
        here = batch_entry(batch)
        raise ArgumentError(
            f"qr{here}: column {i} depends on those before it (R[{i}, {i}] is {size[tuple(bad[0])]:.3g}, of "
            f"{largest[tuple(batch)]:.3g}), so that Q is not determined. Drop such columns, or use qad.linalg.svd"
        )


defvjp_tuned(reduced, shared=_reduced_vjp, fresh=True)
defvjp_tuned(complete, shared=_complete_vjp, scaled=True)
defjvp(reduced, shared=_reduced_jvp)
defbatch(reduced, stacks(reduced, 2))
defbatch(complete, stacks(complete, 2))
