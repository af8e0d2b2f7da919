"""Thermal states of finite lattices: purifications, in imaginary time.

Beside every site stands an ancilla, of the same kind and of opposite charge, on which operators do not act.  Of pairs
in ``sum_x |x x>``, which stand for infinite temperature, ``exp(-beta H / 2)`` makes a state whose means are those of
``exp(-beta H)``, and whose squared norm is the partition function.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.keywords import keywords_told
from qad.mps.thermal.products import tell
from qad.peps.charges import conserved_names, counted_from, kind_of
from qad.peps.checks import check_kind
from qad.peps.finite.ancillas import beside, lifted
from qad.peps.finite.state import FinitePEPS
from qad.peps.finite.terms import in_rows, placed, places_of
from qad.peps.models import Model
from qad.peps.search.paths import along_paths, links_of
from qad.peps.search.weighted import Weighted, gate, product_of
from qad.showing.progress import bar_for

if TYPE_CHECKING:
    from qad.mps.charges.quantities import Names


@keywords_told
def thermal_state(
    model: Model,
    shape: tuple[int, int],
    beta: float,
    bond: int,
    *,
    steps: int = 20,
    conserve: Names | None = None,
) -> FinitePEPS:
    """The thermal state ``exp(-beta H)`` of a finite lattice, as a purification.

    Parameters
    ----------
    model : Model
        Of terms on sites, neighbours and diagonals, repeated from every site where they fit.
    shape : (rows, columns)
        An open lattice of two sites or more.
    beta : float
        Inverse temperature, in inverse units of the model.
    bond : int
        Largest bond dimension.
    steps : int
        Of imaginary time, of second order.
    conserve : str or sequence of str, optional
        What the model conserves, ``"Sz"`` or ``("N", "Sz")``: it saves time and memory, and all sectors are there.
        Fermions always conserve their parity.

    Returns
    -------
    FinitePEPS
        ``exp(-beta H / 2)`` as a state of sites beside their ancillas. `energy` and `expectation` with operators of the
        sites are thermal means, and `log_norm2` is the logarithm of the partition function.

    Raises
    ------
    ArgumentError
        If a term acts on other sites, is recorded, or changes what is conserved; if a number is none.

    Warns
    -----
    RuntimeWarning
        If the bond cuts off more than 1e-6 of the weight.

    Notes
    -----
    F. Verstraete, J. J. Garcia-Ripoll and J. I. Cirac, Phys. Rev. Lett. 93, 207204 (2004). Bonds are cut by their
    weights, as in `qad.peps.simple_update`: compare two bonds.

    Examples
    --------
    >>> import qad
    >>> model = qad.peps.heisenberg()
    >>> hot = qad.peps.finite.thermal_state(model, (2, 2), beta=0.2, bond=4)
    >>> hot
    FinitePEPS(2 x 2 sites, open, bond 4, float64)
    >>> round(float(qad.peps.finite.energy(hot, model)), 3)             # that of exp(-0.2 H) is -0.1573
    -0.157
    """
    check_kind(model, Model)
    kind, places = kind_of(model), places_of(shape)
    if len(places) < 2 or not isinstance(steps, Integral) or steps < 1 or not np.isfinite(beta):
        raise ArgumentError(
            "thermal_state takes lattices of two sites or more, a finite beta, and steps, a positive whole number, not "
            f"{shape!r}, {beta!r} and {steps!r}"
        )
    pair, links, names = beside(kind), links_of(shape), conserved_names(kind, conserve)
    terms = along_paths([lifted(t, pair) for t in placed(model, shape, False)], pair, links)
    identity, conserved = np.eye(kind.phys, dtype=np.result_type(*terms.values())).reshape(-1), None
    sites = [identity.reshape(-1, 1, 1, 1, 1)] * len(places)
    if names:
        conserved = counted_from(kind, names, [0] * len(places)).pairs()
        sites = product_of(conserved, [identity] * len(places))
    network = Weighted(dict(zip(places, sites, strict=True)), links)
    terms = network.graded(terms, conserved, pair)
    gates = [(*at, gate(term, beta / (4 * steps))) for at, term in terms.items()]
    with bar_for(label="steps of imaginary time", total=steps) as bar:
        for _ in range(steps):
            network.apply([*gates, *gates[::-1]], bond)
            bar.update()
    tell(network.discarded, bond)
    scale = np.exp(network.log_norm / len(places))
    return FinitePEPS(in_rows([x * scale for x in network.balanced()], shape), conserved, pair)
