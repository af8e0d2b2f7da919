"""General functions of diagonalisable matrices, by divided differences over their complex spectrum.

With ``A = V diag(w) V^-1`` and ``M = V^-1 E V``

    f(A) = V diag(f(w)) V^-1,    L(A, E) = V (f[w_i, w_j] o M) V^-1

(Daleckii and Krein; N. J. Higham, Functions of Matrices, theorem 3.11), exact at and near coinciding eigenvalues.  The
block matrix ``[[A, E], [0, A]]`` gives L as well, but is never diagonalisable, which Schur and Parlett's method for
general f suffers from.  For transposes ``tr(X L(A, E)) = tr(E L(A, X))``, and likewise for the second derivative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.linalg when it is first used

from qad.core.errors import ArgumentError
from qad.extend import primitive
from qad.linalg.functions.certain import require_known
from qad.linalg.functions.divided_differences import first_differences, second_derivative
from qad.linalg.functions.elementwise import ElementwiseFunction
from qad.linalg.functions.frechet import each
from qad.linalg.functions.twice_differentiable import twice_differentiable
from qad.linalg.support import tolerances
from qad.linalg.support.check import square

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.typing import Array, ArrayLike


def funm(f: Callable[[Any], Any], a: ArrayLike) -> Array:
    """``f(A)`` of any diagonalisable matrix, for a holomorphic function f.

    Parameters
    ----------
    f : callable
        Of an array of complex numbers, elementwise and holomorphic at the eigenvalues, written in NumPy's functions:
        ``np.cos``, ``lambda w: w**0.3``. Its derivatives come from the tape; it must not depend on Tensors of its own.
    a : array (..., n, n)
        Real or complex. For Hermitian matrices `funm_herm` is faster and more accurate.

    Returns
    -------
    array (..., n, n)
        Complex; real where `a` is real and the imaginary part vanishes to rounding.

    Raises
    ------
    ArgumentError
        If rounding would be more than 1e-4 of the result, or of a derivative of order k, by the condition number of the
        eigenvectors to the power k + 1 (above 1.8e10, 1.3e5 in first derivatives, 2.6e3 in second ones): the matrix is
        not diagonalisable, or nearly not. `expm`, `logm` and `sqrtm` serve such matrices. Or if `f` or a
        derivative is not finite at an eigenvalue.
    ShapeError
        If the matrices are not square.
    MissingRuleError
        For third derivatives.

    Examples
    --------
    >>> import numpy as np, qad
    >>> a = np.array([[1.0, 2.0], [0.0, 3.0]])
    >>> qad.linalg.funm(np.square, a).round(12)
    array([[1., 8.],
           [0., 9.]])
    >>> qad.grad(lambda a: np.trace(qad.linalg.funm(np.square, a)))(a).round(12)
    array([[2., 0.],
           [4., 6.]])
    """
    return _funm(square(a, "funm"), f=ElementwiseFunction(f))[0]


@primitive(name="funm")
def _funm(a, *, f):
    """The function; eigenvalues, eigenvectors and their inverse come along for the rules."""
    w, v, inverse = _diagonalised(a)
    condition = _require_basis(v, 0)
    out = (v * f.value(w)[..., None, :]) @ inverse
    small = tolerances.zero(w.dtype, a.shape[-1]) * condition
    if a.dtype.kind == "f" and np.abs(out.imag).max(initial=0) <= small * np.abs(out).max(initial=0):
        return out.real.astype(a.dtype), w, v, inverse
    return _narrow(out, a), w, v, inverse


@primitive(name="funm (first derivative)")
def _along(e, a, w, v, inverse, *, f):
    """First derivative along `e` (..., n, n)."""
    _require_basis(v, 1)
    require_known(f, w, 1)
    return _narrow(v @ (first_differences(f, w) * (inverse @ e @ v)) @ inverse, a)


@primitive(name="funm (second derivative)")
def _along_two(e, d, a, w, v, inverse, *, f):
    """Second derivative along `e` and `d` (..., n, n)."""
    _require_basis(v, 2)
    require_known(f, w, 2)
    return _narrow(v @ second_derivative(f, w, inverse @ e @ v, inverse @ d @ v) @ inverse, a)


def _narrow(out, a):
    """Complex `out` in the precision of `a`: all is computed in double precision, of which vectors lose digits."""
    return out.astype(np.result_type(a.real.dtype, np.complex64), copy=False)


def _diagonalised(a):
    """Eigenvalues (..., n), eigenvectors and their inverse (..., n, n); the vectors of normal matrices are unitary."""
    a = a.astype(np.result_type(a, float), copy=False)
    return each(_diagonal_form, a, dtype=complex)


def _diagonal_form(a):
    t, z = scipy.linalg.schur(a, output="complex")
    if np.abs(np.triu(t, 1)).max(initial=0) <= tolerances.noise(a.dtype, 1) * np.abs(t).max(initial=0):
        return np.diagonal(t), z, z.conj().T
    w, v = np.linalg.eig(a.astype(np.result_type(a, np.complex64)))
    _require_basis(v, 0)
    return w, v, np.linalg.inv(v)


def _require_basis(v, order):
    """The condition number of the vectors, the largest of the stack; raises where it spoils this derivative."""
    worst = np.linalg.cond(v).max() if v.size else 1.0
    if not worst ** (order + 1) * tolerances.lost(v.dtype) < 1.0:
        raise ArgumentError(
            f"funm: the condition number of the eigenvectors is {worst:.3g}: the matrix is not diagonalisable, to "
            f"rounding (that of derivatives of order {order}). Use expm, logm or sqrtm, or perturb it"
        )
    return worst


twice_differentiable("funm", (_funm, _along, _along_two), (1, 2, 2), lambda x: x.mT)
