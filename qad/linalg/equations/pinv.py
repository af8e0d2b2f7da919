"""Moore-Penrose inverse P.  In the public convention (Golub and Pereyra, SIAM J. Numer. Anal. 10, 413, 1973)

G_A = -P^H G P^H + (1 - A P) G^H P P^H + P^H P G^H (1 - P A).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import core, implements, primitive, rule, stack_of, value_of
from qad.linalg.support import tolerances
from qad.linalg.support.check import largest_entry, matrices, one_norm
from qad.linalg.support.conditioned import check_condition
from qad.linalg.support.derivative_order import orders

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike


def pinv(
    a: ArrayLike, rcond: ArrayLike | None = None, hermitian: bool = False, *, rtol: ArrayLike | None = None
) -> Array:
    """Moore-Penrose inverse, with NumPy's signature.

    Parameters
    ----------
    a : array (..., m, n)
    rcond, rtol : float or array (...), optional
        Singular values below this multiple of the largest count as zero.
    hermitian : bool
        NumPy's shortcut for Hermitian matrices.

    Returns
    -------
    array (..., n, m)

    Raises
    ------
    ShapeError
        If `a` has fewer than two axes.
    ArgumentError
        If an entry is not finite; for a second derivative of a rank-deficient matrix. In a derivative where `rcond`
        drops values that are not zero to rounding, or where a value is kept that is so small that rounding would be
        more than 1e-4 of the derivative.

    Notes
    -----
    Where `a` is rank-deficient the pseudoinverse is discontinuous: the gradient is that along matrices of the
    same rank, and there is no second derivative.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: qad.linalg.pinv(a).sum())(np.array([[2.0], [0.0]])).round(6)
    array([[-0.25],
           [ 0.25]])
    """
    a = matrices(a, "pinv")
    if orders(a) > 1 and _rank(a) < min(a.shape[-2:]):
        raise ArgumentError(
            "pinv: the pseudoinverse of a rank-deficient matrix has no second derivative: it jumps where a direction "
            "changes its rank. Write A as a product of thin factors of full rank, or use the inverse of A^H A + c"
        )
    return _pinv(a, hermitian=hermitian, **_cut(value_of(rcond), value_of(rtol)))


implements(np.linalg.pinv)(pinv)


def _cut(rcond, rtol):
    """Whichever of the two names of the cutoff was given."""
    return {"rcond": rcond} if rcond is not None else {"rtol": rtol} if rtol is not None else {}


_pinv = primitive(np.linalg.pinv, name="pinv")


def _pinv_vjp(g, p, a, **options):
    _check_cut(stack_of(p), stack_of(a), options)
    advice = "Write A as a product of thin factors of lower rank, or use the inverse of A^H A + c"
    check_condition(one_norm(stack_of(a)) * one_norm(stack_of(p)), stack_of(p).dtype, "pinv", advice)
    pt, gh = p.mT, g.conj().mT
    total = -(pt @ g @ pt)
    pc, (m, n) = p.conj(), a.shape[-2:]
    if m > n or _rank(a) < m:
        right = gh @ pc @ pt
        total = total + right - (a.conj() @ (pc @ right))
    if n > m or _rank(a) < n:
        left = pt @ pc @ gh
        total = total + left - (left @ pc) @ a.conj()
    return total


def _check_cut(p, a, options):
    """Raise where a cutoff was given that drops more than rounding, of which the rule knows nothing."""
    if len(options) < 2:
        return
    dropped = largest_entry(a - a @ p @ a) * largest_entry(p)
    if (dropped > tolerances.quarter(p.dtype)).any():
        raise ArgumentError(
            "pinv: the cutoff drops singular values that are not zero, and its derivative knows nothing of them: write "
            "qad.linalg.funm_svd(lambda s: np.where(s > cutoff, 1 / np.where(s > cutoff, s, 1.0), 0.0), a), and take "
            "its conjugate transpose"
        )


def _rank(a):
    """The least rank in a stack of matrices that hold something; without bound where they are empty."""
    return np.linalg.matrix_rank(stack_of(a)).min() if a.size else np.inf


rule(_pinv, _pinv_vjp, batch=core(2), fresh=True)
