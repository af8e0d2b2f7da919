"""Functions of Hermitian matrices ``F = V f(w) V^H`` by divided differences (Daleckii and Krein).

    dF = V (f[w_i, w_j] o V^H dA V) V^H

holds whatever the multiplicities, and so does the formula for the second derivative, with f[w_i, w_k, w_j]
(Higham, "Functions of Matrices", chapter 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.extend import primitive, stack_of
from qad.linalg.functions.certain import require_known
from qad.linalg.functions.divided_differences import first_differences, second_derivative
from qad.linalg.functions.elementwise import ElementwiseFunction
from qad.linalg.functions.twice_differentiable import twice_differentiable
from qad.linalg.support.check import require_hermitian, square
from qad.linalg.support.drivers import hermitian_eigenpairs
from qad.linalg.support.hermitian_parts import adjoint, hermitian

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qad.typing import Array, ArrayLike


def funm_herm(f: Callable[[Any], Any], a: ArrayLike) -> Array:
    """A function of Hermitian matrices, with derivatives that are exact at degenerate eigenvalues as well.

    Parameters
    ----------
    f : callable
        Of an array of real numbers, elementwise, written in NumPy's functions: ``np.exp``, ``np.log``,
        ``lambda w: 1 / np.sqrt(w)``. It may return complex numbers, ``lambda w: np.exp(-1j * w)``. Its
        derivatives come from the tape; it must not depend on Tensors of its own.
    a : array (..., n, n)
        Hermitian, or real symmetric. The gradient is projected to its Hermitian part.

    Returns
    -------
    array (..., n, n)
        ``V diag(f(w)) V^H``.

    Raises
    ------
    ArgumentError
        If `a` is not Hermitian, or an entry is not finite; if `f` depends on a Tensor;
        where `f` has no finite derivative on the spectrum.
    ShapeError
        If the matrices are not square.
    MissingRuleError
        For third derivatives.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: np.trace(qad.linalg.funm_herm(np.sqrt, a)))(4.0 * np.eye(2)).round(6)
    array([[0.25, 0.  ],
           [0.  , 0.25]])
    """
    a = square(a, "funm_herm")
    require_hermitian(stack_of(a), "funm_herm")
    return _funm(a, f=ElementwiseFunction(f))[0]


@primitive(name="funm_herm")
def _funm(a, *, f):
    """The function; eigenvalues and eigenvectors come along for the rules."""
    w, v = hermitian_eigenpairs(a)
    return (v * f.value(w)[..., None, :]) @ adjoint(v), w, v


@primitive(name="funm_herm (first derivative)")
def _along(e, a, w, v, *, f):
    """First derivative along `e` (..., n, n)."""
    require_known(f, w, 1)
    vh = adjoint(v)
    return v @ (first_differences(f, w) * (vh @ e @ v)) @ vh


@primitive(name="funm_herm (second derivative)")
def _along_two(e, d, a, w, v, *, f):
    """Second derivative along `e` and `d` (..., n, n)."""
    require_known(f, w, 2)
    vh = adjoint(v)
    return v @ second_derivative(f, w, vh @ e @ v, vh @ d @ v) @ vh


twice_differentiable("funm_herm", (_funm, _along, _along_two), (1, 2), lambda x: x.mT, hermitian)
