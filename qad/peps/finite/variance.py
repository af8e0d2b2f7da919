"""The variance of the energy of finite lattices, from energies of states on which a term has acted.

With ``psi_t = (1 + t h) psi`` for one term h of H,

    <psi_t|H|psi_t> - <psi_-t|H|psi_-t> = 4 t Re <psi|H h|psi>,

exactly, and the sum over all terms is <H^2>.  A term on two neighbours makes one bond larger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import as_array, value_of
from qad.peps.checks import FLOWS
from qad.peps.finite.state import FinitePEPS
from qad.peps.finite.values import log_norm2, operator_of, terms_on, values_of
from qad.peps.models import Term
from qad.symmetric.generic import as_map, fused, halves_of, join

if TYPE_CHECKING:
    from qad.typing import Real

    Place = tuple[int, int]


def variance(state: FinitePEPS, model: Any, chi: int = 32) -> Real:
    """The variance ``<H^2> - <H>^2`` of the energy of the whole lattice: zero for an eigenstate, and for no other.

    It takes two energies for each term, with one bond up to ``d**2`` times larger.

    Parameters
    ----------
    state : FinitePEPS
    model : model of `qad.peps`, or list of (operator, sites)
        As in `energy`, of terms on single sites and on neighbours.
    chi : int
        Largest bond of the boundaries. The variance is exact where nothing is cut; elsewhere its error is about that of
        the energies times their number: compare two `chi`.

    Returns
    -------
    real scalar

    Raises
    ------
    ArgumentError
        If a term acts on other sites, or is not Hermitian.

    Examples
    --------
    >>> import numpy as np, qad
    >>> up = qad.peps.finite.FinitePEPS([[np.array([1.0, 0.0]).reshape(2, 1, 1, 1, 1)] * 3] * 2)
    >>> z, x = np.diag([1.0, -1.0]), np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> field = lambda s: [(s, [(r, c)]) for r in range(2) for c in range(3)]
    >>> [round(float(qad.peps.finite.variance(up, field(s))), 9) for s in (z, x)]
    [0.0, 6.0]
    """
    terms = terms_on(state, model)
    norm, squares = log_norm2(state, chi), []
    energy = np.sum(np.stack(values_of(state, terms, chi)))
    for term in terms:
        size = float(np.linalg.norm(as_array(value_of(term.operator))))
        if not size:
            continue
        weighed = []
        for sign in (1, -1):
            changed = acted(state, term, sign / (2 * size))  # 1 + t h has an inverse: no state vanishes
            weight = np.exp(log_norm2(changed, chi) - norm)
            weighed.append(weight * np.sum(np.stack(values_of(changed, terms, chi))))
        squares.append((weighed[0] - weighed[1]) * size / 2)
    return sum(squares) - energy**2


def acted(state: FinitePEPS, term: Term, t: float) -> FinitePEPS:
    """``(1 + t h) psi`` for a term h on one site, or on two neighbours."""
    rows = [list(row) for row in state.tensors]
    d = int(np.prod(term.operator.shape[: len(term.sites)]))
    matrix = np.eye(d) + t * term.operator.reshape(d, d)
    gate = operator_of(state, Term(matrix.reshape(term.operator.shape), term.sites))
    if len(term.sites) == 1:
        (r, c) = term.sites[0]
        rows[r][c] = join(gate, rows[r][c])
        return of_one_dtype(rows, state)
    places, legs, gate = neighbours(term, gate, state)
    for (r, c), leg, half in zip(places, legs, halves(gate), strict=True):
        x = join(half, rows[r][c], ((1,), (0,)))  # out, of the gate, up, left, down, right
        x = x.transpose(0, *range(2, leg + 1), 1, *range(leg + 1, 6))
        rows[r][c] = fused(x, [2 if axis == leg else 1 for axis in range(5)], FLOWS)
    return of_one_dtype(rows, state)


def of_one_dtype(rows: list[list[Any]], like: FinitePEPS) -> FinitePEPS:
    """The state of these sites, in the dtype in which all of them fit."""
    dtype = np.result_type(*{t.dtype for row in rows for t in row})
    sites = [[t if t.dtype == dtype else t.astype(dtype) for t in row] for row in rows]
    return FinitePEPS(sites, like.conserved, like.kind)


def neighbours(term: Term, gate: Any, state: FinitePEPS) -> tuple[tuple[Place, Place], tuple[int, int], Any]:
    """The two sites of a term, the left or upper one first, the legs between them, and the gate in this order."""
    columns = state.shape[1]
    if len(term.sites) == 2:
        for turned in (False, True):
            (r, c), (down, right) = places = term.sites[::-1] if turned else term.sites
            ordered = gate.transpose(1, 0, 3, 2) if turned else gate
            if (down, right) == (r + 1, c):
                return places, (3, 1), ordered
            if down == r and right == ((c + 1) % columns if state.cylinder else c + 1):
                return places, (4, 2), ordered
    raise ArgumentError(f"variance: a term acts on {term.sites}; it takes terms on single sites and on neighbours")


def halves(gate: Any) -> tuple[Any, Any]:
    """A gate as a sum of products, ``[out, in, k]`` of its first site and of its second."""
    where, matrices = as_map(gate.transpose(0, 2, 1, 3), 2)  # what the first site does, by what the second does
    used = [np.flatnonzero(np.abs(as_array(value_of(m))).max(1)) for m in matrices]
    pairs = [(np.eye(len(m), dtype=m.dtype)[:, rows], m[rows]) for m, rows in zip(matrices, used, strict=True)]
    first, second = halves_of(where, pairs, "variance")
    return first, second.transpose(1, 2, 0)
