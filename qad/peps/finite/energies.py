"""Finite lattices: energies, expectation values, norms and samples of projected entangled pair states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.peps.finite.state import FinitePEPS
from qad.peps.finite.terms import one
from qad.peps.finite.values import known, log_norm2, terms_on, values_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array, ArrayLike, Real

__all__ = ["energy", "expectation", "local_expectations", "norm2"]


def energy(state: FinitePEPS, model: Any, chi: int = 32) -> Real:
    """The energy ``<psi|H|psi> / <psi|psi>`` of the whole lattice.

    Parameters
    ----------
    state : FinitePEPS
    model : model of `qad.peps`, or list of (operator, sites)
        The terms of a model are repeated from every site where all their sites are on the lattice; those of a list
        stand where they say, ``[(row, column), ...]``. An operator is a matrix ``(d**n, d**n)``, or has legs
        ``(out, ..., in, ...)``; it may be a Tensor. A term may reach over any columns, but two rows at most.
    chi : int
        Largest bond of the boundaries. Nothing is cut if it is at least ``bond**(2 * (rows - 1))``.

    Returns
    -------
    real scalar

    Raises
    ------
    ArgumentError
        If a term does not fit or is not Hermitian; if derivatives are asked for where a bond of the boundary holds less
        than it could.
    ShapeError
        If an operator does not fit its sites.

    Notes
    -----
    Derivatives are those of the boundaries as they are cut: exact where nothing is.

    Examples
    --------
    >>> import numpy as np, qad
    >>> state = qad.peps.finite.FinitePEPS.random(3, 3, bond=2)
    >>> z = np.diag([1.0, -1.0])
    >>> field = [(z, [(r, c)]) for r in range(3) for c in range(3)]
    >>> value, gradient = qad.value_and_grad(qad.peps.finite.energy)(state, field, chi=16)
    >>> bool(-9 < value < 9), gradient[1, 1].shape
    (True, (2, 2, 2, 2, 2))
    """
    return np.sum(np.stack(values_of(state, terms_on(state, model), chi)))


def expectation(state: FinitePEPS, operator: str | ArrayLike, sites: Sequence[tuple[int, int]], chi: int = 32) -> Real:
    """The expectation value of a Hermitian operator on some sites.

    Parameters
    ----------
    state : FinitePEPS
    operator : array or str
        A matrix ``(d**n, d**n)``, or with legs ``(out, ..., in, ...)``; or the name of an operator of a single site.
    sites : sequence of (row, column)
        In two rows at most.
    chi : int

    Returns
    -------
    real scalar

    Examples
    --------
    >>> import numpy as np, qad
    >>> up = qad.peps.finite.FinitePEPS([[np.array([1.0, 0.0]).reshape(2, 1, 1, 1, 1)] * 3] * 2)
    >>> float(qad.peps.finite.expectation(up, np.diag([0.5, -0.5]), [(0, 1)]))
    0.5
    """
    operator = known(state).site.matrix(operator) if isinstance(operator, str) else operator
    return values_of(state, [one(operator, sites, state.shape, state.cylinder)], chi)[0]


def local_expectations(state: FinitePEPS, operator: str | ArrayLike, chi: int = 32) -> Array:
    """The expectation value of a Hermitian operator on each site.

    Parameters
    ----------
    state : FinitePEPS
    operator : array (d, d) or str
        Or its name: "Sx", "N"; of spins, where the state does not know what stands on its sites.
    chi : int

    Returns
    -------
    real array (rows, columns)

    Examples
    --------
    >>> import numpy as np, qad
    >>> up = qad.peps.finite.FinitePEPS([[np.array([1.0, 0.0]).reshape(2, 1, 1, 1, 1)] * 3] * 2)
    >>> qad.peps.finite.local_expectations(up, "Sz")
    array([[0.5, 0.5, 0.5],
           [0.5, 0.5, 0.5]])
    """
    rows, columns = known(state).shape
    operator = state.site.matrix(operator) if isinstance(operator, str) else operator
    terms = [one(operator, [(r, c)], state.shape, False) for r in range(rows) for c in range(columns)]
    return np.stack(values_of(state, terms, chi)).reshape(rows, columns)


def norm2(state: FinitePEPS, chi: int = 32) -> Real:
    """``<psi|psi>``; of large lattices take `log_norm2`, which does not overflow.

    Parameters
    ----------
    state : FinitePEPS
    chi : int

    Returns
    -------
    real scalar

    Raises
    ------
    ArgumentError
        If it is no number of this dtype.

    Examples
    --------
    >>> import qad
    >>> state = qad.peps.finite.FinitePEPS.random(2, 2, bond=2)
    >>> bool(abs(qad.peps.finite.norm2(state) - qad.abs2(state.to_dense()).sum()) < 1e-12)
    True
    """
    logarithm = log_norm2(state, chi)
    if abs(logarithm) > 0.99 * abs(np.log(float(np.finfo(state.dtype).max))):
        raise ArgumentError("norm2: the norm is too large or too small for a number: take log_norm2")
    return np.exp(logarithm)
