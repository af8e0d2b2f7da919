"""Polar decomposition ``A = U P``, by `funm_svd`: exact at degenerate singular values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.core.errors import ArgumentError
from qad.linalg.functions.funm_svd import funm_svd
from qad.linalg.support.check import matrices
from qad.linalg.support.hermitian_parts import adjoint, hermitian

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike


def polar(a: ArrayLike, side: str = "right") -> tuple[Array, Array]:
    """Polar decomposition ``a = U @ P`` (right) or ``a = P @ U`` (left), with P Hermitian and positive.

    Parameters
    ----------
    a : array (..., m, n)
    side : "right" or "left"
        Where P stands.

    Returns
    -------
    U, P : arrays (..., m, n) and (..., n, n) or, on the left, (..., m, m)
        U has orthonormal columns if m >= n, else orthonormal rows.

    Raises
    ------
    ArgumentError
        If an entry is not finite;
        in a derivative, if a singular value is zero, or so nearly that rounding would be more than 1e-4 of it.

    Notes
    -----
    Formula: `funm_svd` with f = 1 gives U, and P is the Hermitian part of ``U^H A``.

    Examples
    --------
    >>> import numpy as np, qad
    >>> u, p = qad.linalg.polar(2.0 * np.eye(2))
    >>> p
    array([[2., 0.],
           [0., 2.]])
    """
    if side not in ("right", "left"):
        raise ArgumentError(f'polar: side={side!r}; write "right" for a = U P, or "left" for a = P U')
    a = matrices(a, "polar")
    u = funm_svd(lambda s: 1.0, a)
    return u, hermitian(adjoint(u) @ a if side == "right" else a @ adjoint(u))
