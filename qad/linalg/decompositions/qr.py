"""QR decomposition.  For m > n, in the public convention,

    X = triu(G_R R^H - Q^H G_Q),   Y = X + X^H with diagonal Re(X_ii),   G_A = (G_Q + Q Y) R^-H,

where R has a real diagonal, as LAPACK makes it.  (Liao et al., PRX 9, 031041, for the real case.)  Where Q is square,
it can only turn: ``dQ = Q (S - S^H)``, where S is the lower triangle of ``Q^H dA1 R1^-1`` with i times the imaginary
part of its diagonal, for ``A = [A1 A2]`` and ``R = [R1 R2]`` with square blocks first.  So with
``D = Q^H G_Q - G_R R^H`` minus its adjoint and ``L = tril(D, -1) + diag(D) / 2``,

    G_A = Q (G_R + [L R1^-H, 0]),

which in the real case divides by all columns of R1 but the last one.  The complete decomposition of a tall matrix is
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
    if mode == "r":
        return reduced(a, levels=orders(a))[1]
    if mode == "reduced" or (mode == "complete" and a.shape[-2] <= a.shape[-1]):
        return reduced(a, levels=orders(a))
    if mode == "complete":
        return complete(a, levels=orders(a))
    raise ArgumentError(f'qr: mode {mode!r} has no derivative rule: write mode="reduced", "complete" or "r"')


implements(np.linalg.qr)(qr)


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
    gq, gr = g
    q, r = ans
    k = q.shape[-1]
    _check_rank(stack_of(r)[..., :, :k])
    if a.shape[-2] > k:
        return (_tall(gq, gr, q, r, levels),)
    return (_square(gq, gr, q, r, levels),)


def _square(gq, gr, q, r, levels):
    """The rule for no more rows than columns, where Q turns: of R a part is inverted, see `_part`."""
    k, part = q.shape[-1], _part(r)
    unit, moved = like(q).eye(k), 0.0
    if gr is not None:
        upper = np.triu(gr[..., :, :k], 1) + gr[..., :, :k].real * unit
        moved = gr = upper if gr.shape[-1] == k else np.concatenate([upper, gr[..., :, k:]], axis=-1)
    turn = -(gr @ r.mT) if gq is None else q.mT @ gq if gr is None else q.mT @ gq - gr @ r.mT
    slope = turn - turn.conj().mT
    slope = np.tril(slope, -1) + slope * (0.5 * unit)
    if part:
        check_triangle(stack_of(r), part, levels, "qr")
        inner = solve_upper(r[..., :part, :part], slope[..., :, :part].mT).mT
        if r.shape[-1] > part:
            inner = np.concatenate([inner, 0.0 * r[..., :, part:]], axis=-1)
        moved = moved + inner
    elif gr is None:
        moved = 0.0 * r
    return q.conj() @ moved


def _part(r):
    """The size of the block of R that a rule inverts, where Q is square.

    The last column of a real Q is determined by the others, up to its sign; that of a complex one up to its phase,
    which the last entry of R determines.
    """
    k = r.shape[-2]
    return k if stack_of(r).dtype.kind == "c" else max(k - 1, 0)


def _reduced_jvp(tangents, ans, a, *, levels=1):
    """``dA R^-1 = dQ + Q N`` with N = dR R^-1, which is upper triangular and has a real diagonal, as R has.

    Of a square Q the change is a rotation, ``dQ = Q W``, and ``dR = Q^H dA - W R``.
    """
    (t,), (q, r) = tangents, ans
    k = q.shape[-1]
    r1 = r[..., :, :k]
    _check_rank(stack_of(r1))
    part = k if a.shape[-2] > k else _part(r)
    check_triangle(stack_of(r), part, orders(a) + 1, "qr")
    if a.shape[-2] > k:
        x = solve_lower(r1.mT, t.mT).mT
        p = adjoint(q) @ x
        n = np.triu(p, 1) + adjoint(np.tril(p, -1)) + p.real * like(p).eye(k)
        return x - q @ n, n @ r1
    inner, unit = adjoint(q) @ t, like(q).eye(k)
    p = inner[..., :, part:k] * 0.0
    if part:
        p = np.concatenate([solve_lower(r1[..., :part, :part].mT, inner[..., :, :part].mT).mT, p], axis=-1)
    w = np.tril(p, -1)
    w = w - adjoint(w) + (p - p.real) * unit
    dr = inner - w @ r
    square = np.triu(dr[..., :, :k], 1) + dr[..., :, :k].real * unit
    return q @ w, np.concatenate([square, dr[..., :, k:]], axis=-1)


def _tall(gq, gr, q, r, levels):
    """The rule for more rows than columns."""
    if gr is None:
        x = -(q.mT @ gq)
    else:
        x = gr @ r.mT if gq is None else gr @ r.mT - q.mT @ gq
    strict = np.triu(x, 1)
    y = strict + strict.conj().mT + x.real * like(q).eye(q.shape[-1])
    inner = q.conj() @ y
    check_triangle(stack_of(r), r.shape[-1], levels, "qr")
    return solve_upper(r, (inner if gq is None else gq + inner).mT).mT


def _check_rank(r):
    """Raise where a diagonal entry of R is zero to rounding."""
    size = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    largest = np.abs(r).max(axis=(-2, -1), initial=0.0)
    bad = np.argwhere(size <= tolerances.zero(r.dtype, r.shape[-1]) * largest[..., None])
    if len(bad):
        *batch, i = map(int, bad[0])
        here = batch_entry(batch)
        raise ArgumentError(
            f"qr{here}: column {i} depends on those before it (R[{i}, {i}] is {size[tuple(bad[0])]:.3g}, of "
            f"{largest[tuple(batch)]:.3g}), so that Q is not determined. Drop such columns, or use qad.linalg.svd"
        )


rule(reduced, shared=_reduced_vjp, forward_shared=_reduced_jvp, batch=core(2), fresh=True)
rule(complete, shared=_complete_vjp, batch=core(2), scaled=True)
