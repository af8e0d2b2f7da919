"""Cholesky factor ``A = L L^H``: ``G_A = herm(L^-H phi(L^H G) L^-1)``, ``dL = L phi(L^-1 dA L^-H)``.

There phi takes the lower triangle with half the diagonal.

Murray, "Differentiation of the Cholesky decomposition" (arXiv:1602.07527), complex and with a real diagonal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import core, implements, like, primitive, rule, stack_of
from qad.linalg.equations.triangular import solve_lower
from qad.linalg.support.check import batch_entry, require_hermitian, square
from qad.linalg.support.hermitian_parts import hermitian

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike


def cholesky(a: ArrayLike, /, *, upper: bool = False) -> Array:
    """Cholesky factor of Hermitian positive definite matrices.

    Parameters
    ----------
    a : array (..., n, n)
        Hermitian; one triangle is read. The gradient is that of a Hermitian matrix.
    upper : bool
        Return ``L^H`` instead of L.

    Returns
    -------
    array (..., n, n)

    Raises
    ------
    LinAlgError
        If `a` is not positive definite; with its lowest eigenvalue.
    ShapeError
        If the matrices are not square.
    ArgumentError
        If an entry is not finite.
        In the backward pass or in forward mode, if `a` is not Hermitian.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: qad.linalg.cholesky(a).sum())(4.0 * np.eye(2))
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """
    a = square(a, "cholesky")
    return lower(a.conj().mT).conj().mT if upper else lower(a)


implements(np.linalg.cholesky)(cholesky)


@primitive(name="cholesky")
def lower(a: Array) -> Array:
    """The lower factor."""
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError as error:
        lowest = np.linalg.eigvalsh(a)[..., 0]
        at = np.unravel_index(lowest.argmin(), lowest.shape)
        raise np.linalg.LinAlgError(
            f"cholesky: the matrix{batch_entry(at)} is not positive definite: its lowest eigenvalue is {lowest[at]:.3g}"
        ) from error


def _lower_vjp(g, ans, a):
    require_hermitian(stack_of(a), "cholesky")
    up = ans.mT
    return hermitian(np.linalg.solve(up, np.linalg.solve(up.conj(), _phi(up @ g).mT).mT))


def _lower_jvp(t, ans, a):
    require_hermitian(stack_of(a), "cholesky")
    half = solve_lower(ans, hermitian(t))
    return ans @ _phi(solve_lower(ans, half.conj().mT))


def _phi(x):
    return np.tril(x, -1) + x.real * (0.5 * like(x).eye(x.shape[-1]))


rule(lower, _lower_vjp, forward=_lower_jvp, batch=core(2), fresh=True)
