"""Square root X of a matrix: ``X dX + dX X = dA``, a Sylvester equation (Higham, "Functions of Matrices", 6.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.linalg when it is first used

from qad.core.errors import ArgumentError
from qad.extend import core, primitive, rule, stack_of
from qad.linalg.functions.frechet import each
from qad.linalg.support import tolerances
from qad.linalg.support.check import batch_entry, square

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike


def sqrtm(a: ArrayLike) -> Array:
    """Principal square root of square matrices.

    For Hermitian positive matrices ``funm_herm(np.sqrt, a)`` is faster, and returns a Hermitian matrix.

    Parameters
    ----------
    a : array (..., n, n)

    Returns
    -------
    array (..., n, n)

    Raises
    ------
    ShapeError
        If the matrices are not square.
    ArgumentError
        If an entry is not finite, or an eigenvalue is zero or lies on the negative axis, where the root has a cut.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.grad(lambda a: np.trace(qad.linalg.sqrtm(a)))(np.diag([4.0, 1.0]))
    array([[0.25, 0.  ],
           [0.  , 0.5 ]])
    """
    a = square(a, "sqrtm")
    off_the_cut(stack_of(a), "sqrtm")
    return _root(a)


def off_the_cut(a: np.ndarray, owner: str) -> None:
    """Raise if an eigenvalue of the bare matrices `a` is zero or negative, to rounding."""
    w = np.linalg.eigvals(a)
    size = np.abs(w).max(axis=-1, initial=0.0)[..., None]
    limit = tolerances.zero(a.dtype, a.shape[-1])
    on_axis = (np.abs(w.imag) <= limit * np.abs(w)) & (w.real <= 0.0)
    bad = np.argwhere(on_axis | (np.abs(w) <= limit * size))
    if len(bad):
        raise ArgumentError(
            f"{owner}{batch_entry(bad[0][:-1])}: the eigenvalue {w[tuple(bad[0])]:.6g} is zero or lies on the negative "
            "axis, where the principal branch ends. Turn the matrix by a phase, or shift it"
        )


@primitive(name="sqrtm")
def _root(a):
    return each(_of_one, a)


def _of_one(a):
    """The root of one matrix: that of a real one, whose spectrum is off the cut, is real."""
    root = scipy.linalg.sqrtm(a)
    return root if a.dtype.kind == "c" else root.real


@primitive
def sylvester(a: Array, b: Array, q: Array) -> Array:
    """Solution X of ``a X + X b = q``, all (..., n, n)."""
    return each(scipy.linalg.solve_sylvester, a, b, q) if q.size else q


def _sylvester_vjp(needed, g, x, a, b, q):
    gq = sylvester(a.mT, b.mT, g)
    rules = (lambda: -(gq @ x.mT), lambda: -(x.mT @ gq), lambda: gq)
    return [rules[i]() for i in needed]


rule(_root, lambda g, x, a: sylvester(x.mT, x.mT, g), forward=lambda t, x, a: sylvester(x, x, t), batch=core(2))
rule(
    sylvester,
    shared=_sylvester_vjp,
    forward=(
        lambda t, x, a, b, q: -sylvester(a, b, t @ x),
        lambda t, x, a, b, q: -sylvester(a, b, x @ t),
        lambda t, x, a, b, q: sylvester(a, b, t),
    ),
    batch=core(2, 2, 2),
)
