"""Sign and logarithm of the determinant: ``G_A = (g_log - i Im(conj(g_sign) sign)) A^-H``.

That is: log det A changes by tr(A^-1 dA); its real part moves the logarithm, its imaginary part the phase.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import core, implements, primitive, rule, stack_of
from qad.linalg.support.check import square

if TYPE_CHECKING:
    from qad.typing import ArrayLike, SlogdetResult


def slogdet(a: ArrayLike) -> SlogdetResult:
    """Sign (a phase, for complex `a`) and logarithm of the absolute value of the determinant.

    Parameters
    ----------
    a : array (..., n, n)

    Returns
    -------
    sign, logabsdet : a named tuple of arrays (...)

    Raises
    ------
    ShapeError
        If the matrices are not square.
    ArgumentError
        If an entry is not finite.
        In the backward pass or in forward mode, at a singular matrix.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: qad.linalg.slogdet(a).logabsdet)(np.diag([1.0, 2.0]))
    array([[1. , 0. ],
           [0. , 0.5]])
    """
    return _slogdet(square(a, "slogdet"))


implements(np.linalg.slogdet)(slogdet)


_slogdet = primitive(np.linalg.slogdet, name="slogdet")


def _slogdet_vjp(needed, g, ans, a):
    gs, gl = g
    sign, _ = ans
    _check_regular(sign)
    weight = gl
    if gs is not None and a.dtype.kind == "c":
        turn = (gs * sign * 1j).real * -1j
        weight = turn if gl is None else gl + turn
    if weight is None:
        return (a * 0.0,)
    return (weight[..., None, None] * np.linalg.inv(a).mT,)


def _slogdet_jvp(tangents, ans, a):
    sign, _ = ans
    _check_regular(sign)
    moved = (np.linalg.inv(a).mT * tangents[0]).sum(axis=(-2, -1))
    return (sign * moved.imag * 1j if a.dtype.kind == "c" else sign * 0.0), moved.real


def _check_regular(sign):
    if (stack_of(sign) == 0).any():
        raise ArgumentError("slogdet: the matrix is singular, where the logarithm has no derivative; det(A) has one")


rule(_slogdet, shared=_slogdet_vjp, forward_shared=_slogdet_jvp, batch=core(2), fresh=True)
