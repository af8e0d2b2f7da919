"""Finite lattices: energies, expectation values, norms and samples of projected entangled pair states, by boundary MPS.

The halves of <psi|psi> above and below a row are matrix product states of bonds up to chi.  One sweep down and one up
make them for all rows, and in a row, or two, environments of all columns serve all terms there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import value_of
from qad.mps.local import site as kind_of
from qad.peps.finite_rows import Strip, absorbed, boundaries, check_ranks, closed, double_layer, rim
from qad.peps.finite_sampling import sample
from qad.peps.finite_state import PEPS, opened
from qad.peps.finite_terms import Placed, against, measured_order, one, placed, strip_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array, ArrayLike, Real

__all__ = ["PEPS", "energy", "expectation", "local_expectations", "log_norm2", "norm2", "sample"]


def energy(state: PEPS, model: Any, chi: int = 32) -> Real:
    """The energy ``<psi|H|psi> / <psi|psi>`` of the whole lattice.

    Parameters
    ----------
    state : PEPS
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
        If a term does not fit; if derivatives are asked for where a bond of the boundary holds less than it could.
    ShapeError
        If an operator does not fit its sites.

    Notes
    -----
    Derivatives are those of the boundaries as they are cut: exact where nothing is.

    Examples
    --------
    >>> import numpy as np, qad
    >>> state = qad.peps.finite.PEPS.random(3, 3, bond=2)
    >>> z = np.diag([1.0, -1.0])
    >>> field = [(z, [(r, c)]) for r in range(3) for c in range(3)]
    >>> value, gradient = qad.value_and_grad(qad.peps.finite.energy)(state, field, chi=16)
    >>> bool(-9 < value < 9), gradient[1, 1].shape
    (True, (2, 2, 2, 2, 2))
    """
    return np.sum(np.stack(values_of(state, placed(model, known(state).shape, state.cylinder), chi)))


def expectation(state: PEPS, operator: ArrayLike, sites: Sequence[tuple[int, int]], chi: int = 32) -> Real:
    """The expectation value of a Hermitian operator on some sites.

    Parameters
    ----------
    state : PEPS
    operator : array
        A matrix ``(d**n, d**n)``, or with legs ``(out, ..., in, ...)``.
    sites : sequence of (row, column)
        In two rows at most.
    chi : int

    Returns
    -------
    real scalar

    Examples
    --------
    >>> import numpy as np, qad
    >>> up = qad.peps.finite.PEPS([[np.array([1.0, 0.0]).reshape(2, 1, 1, 1, 1)] * 3] * 2)
    >>> float(qad.peps.finite.expectation(up, np.diag([0.5, -0.5]), [(0, 1)]))
    0.5
    """
    return values_of(state, [one(operator, sites, known(state).shape, state.cylinder)], chi)[0]


def local_expectations(state: PEPS, operator: str | ArrayLike, chi: int = 32) -> Array:
    """The expectation value of a Hermitian operator on each site.

    Parameters
    ----------
    state : PEPS
    operator : array (d, d) or str
        Or the name of an operator of spins: "Sx", "Sy", "Sz".
    chi : int

    Returns
    -------
    real array (rows, columns)

    Examples
    --------
    >>> import numpy as np, qad
    >>> up = qad.peps.finite.PEPS([[np.array([1.0, 0.0]).reshape(2, 1, 1, 1, 1)] * 3] * 2)
    >>> qad.peps.finite.local_expectations(up, "Sz")
    array([[0.5, 0.5, 0.5],
           [0.5, 0.5, 0.5]])
    """
    rows, columns = known(state).shape
    if isinstance(operator, str):
        d = state[0, 0].shape[0]
        operator = kind_of(f"spin-{d - 1}/2" if d % 2 == 0 else f"spin-{(d - 1) // 2}").matrix(operator)
    terms = [one(operator, [(r, c)], state.shape, False) for r in range(rows) for c in range(columns)]
    return np.stack(values_of(state, terms, chi)).reshape(rows, columns)


def log_norm2(state: PEPS, chi: int = 32) -> Real:
    """The logarithm of ``<psi|psi>``.

    Parameters
    ----------
    state : PEPS
    chi : int

    Returns
    -------
    real scalar

    Examples
    --------
    >>> import numpy as np, qad
    >>> state = qad.peps.finite.PEPS.random(3, 3, bond=2)
    >>> exact = np.log(np.sum(state.to_dense() ** 2))
    >>> print(round(float(qad.peps.finite.log_norm2(state, chi=16) - exact), 12) + 0.0)
    0.0
    """
    doubles, total = layers(known(state), chi)
    row = rim(len(doubles[0]), state.dtype)
    for sites in doubles:
        row, logarithm = absorbed(row, [closed(e) for e in sites], chi)
        total = total + logarithm
    last = row[0][:, 0]
    for t in row[1:]:
        last = last @ t[:, 0]
    return total + np.log(last[0, 0].real)


def norm2(state: PEPS, chi: int = 32) -> Real:
    """``<psi|psi>``; of large lattices take `log_norm2`, which does not overflow.

    Parameters
    ----------
    state : PEPS
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
    >>> state = qad.peps.finite.PEPS.random(2, 2, bond=2)
    >>> bool(abs(qad.peps.finite.norm2(state) - (state.to_dense() ** 2).sum()) < 1e-12)
    True
    """
    logarithm = log_norm2(state, chi)
    if abs(logarithm) > 0.99 * abs(np.log(float(np.finfo(state.dtype).max))):
        raise ArgumentError("norm2: the norm is too large or too small for a number: take log_norm2")
    return np.exp(logarithm)


def layers(state: PEPS, chi: int) -> tuple[list[list[Array]], float]:
    """The double layer of each row, physical legs open, of site tensors of size one; the logarithm of what they had."""
    if not isinstance(chi, (int, np.integer)) or chi < 1:
        raise ArgumentError(
            f"chi is {chi!r}: write a whole number of at least 1; bond**2 or more is needed for a good value"
        )
    rows = opened(state)
    sizes = [[float(np.max(np.abs(value_of(t)))) for t in row] for row in rows]
    if not all(0 < size < np.inf for row in sizes for size in row):
        raise ArgumentError("the state is zero, or has entries that are not finite")
    if any(value_of(t) is not t for row in rows for t in row):
        check_ranks([[value_of(t) for t in row] for row in rows], int(chi))
    doubles = [[double_layer(t / n) for t, n in zip(*pair, strict=True)] for pair in zip(rows, sizes, strict=True)]
    return doubles, 2 * float(np.sum(np.log(np.concatenate(sizes))))


def known(state: PEPS) -> PEPS:
    """The state, if it is one of a finite lattice."""
    if not isinstance(state, PEPS):
        raise ArgumentError(f"qad.peps.finite takes its own PEPS, not {type(state).__name__}")
    return state


def values_of(state: PEPS, terms: Sequence[Placed], chi: int) -> list[Array]:
    """The expectation value of each term."""
    doubles = layers(state, chi)[0]
    rows = [[closed(e) for e in row] for row in doubles]
    above, below = boundaries(rows, chi)
    dims = {(r, c): t.shape[0] for r, row in enumerate(state.tensors) for c, t in enumerate(row)}
    strips: dict[tuple[int, int], Strip] = {}
    densities: dict[tuple, Array] = {}
    found = []
    for term in terms:
        first, height = key = strip_of(term.sites)
        if key not in strips:
            strips[key] = Strip(above[first], rows[first : first + height], below[first + height - 1])
        order = tuple(measured_order(term.sites))
        if order not in densities:
            opened_sites = {
                c: [doubles[r][c] if (r, c) in order else rows[r][c] for r in range(first, first + height)]
                for _, c in order
            }
            densities[order] = strips[key].density(opened_sites)
        value, norm = against(densities[order], term, dims)
        found.append((value / norm).real)
    return found
