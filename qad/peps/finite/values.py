"""Expectation values and norms of finite lattices, by boundary matrix product states.

The halves of <psi|psi> above and below a row are matrix product states of bonds up to chi.  One sweep down and one up
make them for all rows, and in a row, or two, environments of all columns serve all terms there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import Tensor
from qad.mps.operators.local import site as site_of
from qad.peps.charges import check_same_kind, graded
from qad.peps.finite.ancillas import BESIDE, lifted
from qad.peps.finite.rows import Strip, absorbed, boundaries, check_ranks, closed, double_layer, largest, opened, rim
from qad.peps.finite.state import FinitePEPS
from qad.peps.finite.terms import against, placed
from qad.symmetric.generic import join, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.peps.models import Term
    from qad.typing import Array, Real


def log_norm2(state: FinitePEPS, chi: int = 32) -> Real:
    """The logarithm of ``<psi|psi>``.

    Parameters
    ----------
    state : FinitePEPS
    chi : int

    Returns
    -------
    real scalar

    Examples
    --------
    >>> import numpy as np, qad
    >>> state = qad.peps.finite.FinitePEPS.random(3, 3, bond=2)
    >>> exact = np.log(np.sum(qad.abs2(state.to_dense())))
    >>> print(round(float(qad.peps.finite.log_norm2(state, chi=16) - exact), 12) + 0.0)
    0.0
    """
    doubles, total = layers(known(state), chi)
    rows = [[closed(e) for e in sites] for sites in doubles]
    row = rim(rows[0])
    for sites in rows:
        row, logarithm = absorbed(row, sites, chi)
        total = total + logarithm
    last = row[0]
    for t in row[1:]:
        last = join(last, t)
    return total + np.log(np.sum(numbers(last)).real)  # one number, its legs are those of the rim


def layers(state: FinitePEPS, chi: int) -> tuple[list[list[Any]], float]:
    """The double layer of each row, physical legs open, of site tensors of size one; the logarithm of what they had."""
    if not isinstance(chi, (int, np.integer)) or chi < 1:
        raise ArgumentError(
            f"chi is {chi!r}: write a whole number of at least 1; bond**2 or more is needed for a good value"
        )
    rows = opened(state)
    sizes = [[largest(t) for t in row] for row in rows]
    if not all(0 < size < np.inf for row in sizes for size in row):
        raise ArgumentError("the state is zero, or has entries that are not finite")
    if any(type(numbers(t)) is Tensor for row in rows for t in row):
        check_ranks(rows, int(chi))
    doubles = [[double_layer(t / n) for t, n in zip(*pair, strict=True)] for pair in zip(rows, sizes, strict=True)]
    return doubles, 2 * float(np.sum(np.log(np.concatenate(sizes))))


def known(state: FinitePEPS) -> FinitePEPS:
    """The state, if it is one of a finite lattice."""
    if not isinstance(state, FinitePEPS):
        got = type(state)
        raise ArgumentError(f"a qad.peps.finite.FinitePEPS is needed, but got {got.__module__}.{got.__name__}")
    return state


def terms_on(state: FinitePEPS, model: Any) -> list[Term]:
    """The terms of a model where they fit on the lattice of a state, if it stands on the same kind of sites."""
    kind = known(state).kind
    if kind is not None and kind.name.startswith(BESIDE):
        kind = site_of(kind.name.removeprefix(BESIDE))
    if hasattr(model, "terms"):  # those of a list say nothing of the kind
        check_same_kind(model, state.conserved, kind)
    return placed(model, state.shape, state.cylinder)


def values_of(state: FinitePEPS, terms: Sequence[Term], chi: int) -> list[Array]:
    """The expectation value of each term."""
    doubles = layers(state, chi)[0]
    rows = [[closed(e) for e in row] for row in doubles]
    above, below = boundaries(rows, chi)
    strips: dict[tuple[int, int], tuple[Strip, Any]] = {}  # with their norms
    densities: dict[tuple, Any] = {}
    found = []
    for term in terms:
        measured = [r for r, _ in term.sites]
        first, height = key = min(measured), max(measured) - min(measured) + 1
        if key not in strips:
            strip = Strip(above[first], rows[first : first + height], below[first + height - 1])
            strips[key] = strip, strip.density({0: strip.columns[0][1:-1]})
        strip, norm = strips[key]
        order = tuple(sorted(term.sites, key=lambda site: site[::-1]))  # as a strip passes them
        if order not in densities:
            opened_sites = {
                c: [doubles[r][c] if (r, c) in order else rows[r][c] for r in range(first, first + height)]
                for _, c in order
            }
            densities[order] = strip.density(opened_sites)
        found.append((against(densities[order], order, term.sites, operator_of(state, term)) / norm).real)
    return found


def operator_of(state: FinitePEPS, term: Term) -> Any:
    """The operator of a term, as sites of this state take it."""
    term = lifted(term, state.site)
    wanted = tuple([state[site].shape[0] for site in term.sites])
    if term.operator.shape != wanted * 2:
        raise ShapeError(
            f"an operator of shape {term.operator.shape} acts on sites {term.sites} of dimensions {wanted}"
        )
    if state.conserved is None:
        return term.operator
    letters = [r * state.shape[1] + c for r, c in term.sites]
    return graded(term.operator, letters, state.conserved, state.site, term.sites)
