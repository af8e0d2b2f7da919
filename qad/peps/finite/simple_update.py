"""Imaginary time on finite lattices, with the weights of bonds in the place of environments: starts for searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.keywords import keywords_told
from qad.peps.charges import charges_of_sites, check_conserves, kind_of
from qad.peps.checks import check_kind
from qad.peps.finite.state import FinitePEPS
from qad.peps.finite.terms import in_rows, placed, places_of
from qad.peps.models import Model
from qad.peps.search.paths import along_paths, links_of
from qad.peps.search.weighted import Weighted, started

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.charges.quantities import Names
    from qad.typing import Seed


@keywords_told
def simple_update(
    model: Model,
    shape: tuple[int, int],
    bond: int,
    seed: Seed = 0,
    *,
    steps: Sequence[tuple[float, int]] = ((0.1, 100), (0.02, 200)),
    conserve: Names | None = None,
    sector: object = None,
) -> FinitePEPS:
    """A state near the ground state of a finite lattice, by imaginary time and singular values of single bonds.

    Parameters
    ----------
    model : Model
        Of terms on sites, neighbours and diagonals, repeated from every site where they fit.
    shape : (rows, columns)
        An open lattice of two sites or more.
    bond : int
    seed : int or numpy.random.Generator
        Of the product of spins from which time begins where nothing is conserved.
    steps : sequence of (time, number)
        The steps of time, the large ones first.
    conserve : str or sequence of str, optional
        What the state conserves, ``"Sz"`` or ``("N", "Sz")``: its sites are symmetric tensors then. Time begins from
        the product of basis states of lowest energy. Fermions always conserve their parity.
    sector : int or tuple of int, optional
        The total of what is conserved, in the units of chains: N, 2 Sz. Default that of the lowest product.

    Returns
    -------
    FinitePEPS

    Raises
    ------
    ArgumentError
        If a term acts on other sites, is recorded, or changes what is conserved; if no product of basis states has
        these totals.

    Examples
    --------
    >>> import qad
    >>> near = qad.peps.finite.simple_update(qad.peps.hubbard(1.0, 8.0), (2, 2), 4, conserve=("N", "Sz"), sector=(4, 0))
    >>> near
    FinitePEPS(2 x 2 sites, open, bond 4, N, Sz, fermions conserved, float64)
    >>> bool(-1.3202 < qad.peps.finite.energy(near, qad.peps.hubbard(1.0, 8.0)) < -1.1)     # the lowest is -1.320235
    True
    """
    check_kind(model, Model)
    kind, places = kind_of(model), places_of(shape)
    links, everywhere = links_of(shape), placed(model, shape, False)
    terms = along_paths(everywhere, kind, links)
    on = [(t.operator, tuple([places.index(site) for site in t.sites])) for t in everywhere]
    conserved, reference = charges_of_sites(kind, on, [1] * len(places), conserve, sector)
    check_conserves(model, conserved)
    network = Weighted(started(places, kind, np.result_type(*terms.values()), conserved, reference, seed), links)
    network.evolve(network.graded(terms, conserved, kind), bond, steps)
    return FinitePEPS(in_rows(network.balanced(), shape), conserved, model.kind)
