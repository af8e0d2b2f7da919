"""LQ decomposition: QR of the adjoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.linalg.decompositions.qr import qr
from qad.linalg.support.check import matrices
from qad.linalg.support.hermitian_parts import adjoint

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike


def lq(a: ArrayLike) -> tuple[Array, Array]:
    """LQ decomposition ``a = L @ Q``: lower triangular with a real diagonal, times orthonormal rows.

    Parameters
    ----------
    a : array (..., m, n)

    Returns
    -------
    L, Q : arrays (..., m, k) and (..., k, n), with k = min(m, n)

    Raises
    ------
    ArgumentError
        If an entry is not finite.
        In the backward pass or in forward mode, if `a` is rank-deficient, or so nearly as `qr` refuses.

    Examples
    --------
    >>> import numpy as np, qad
    >>> l, q = qad.linalg.lq(np.array([[3.0, 4.0]]))
    >>> abs(l), abs(q)
    (array([[5.]]), array([[0.6, 0.8]]))
    """
    q, r = qr(adjoint(matrices(a, "lq")))
    return adjoint(r), adjoint(q)
