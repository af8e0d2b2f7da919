"""Sites of density matrices: pairs (ket, bra) of the basis states of a site."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from qad.mps.operators.local import MADE_OF, Site

DENSITY = "density of "  # begins the name of the kind


@lru_cache
def doubled(kind: Site) -> Site:
    """What a density matrix has on a site: pairs (ket, bra) of its basis states, the ket more significant.

    Parameters
    ----------
    kind : Site

    Returns
    -------
    Site
        With Id, for every operator A of the site "A ket", which makes ``A rho``, and "A bra", which makes ``rho A``;
        its charges are those of the ket less those of the bra, its states the projectors on those of the site.

    Examples
    --------
    >>> import qad
    >>> pairs = qad.mps.site("density of spin-1/2")
    >>> pairs.phys, pairs.charges["Sz"], pairs.states
    (4, (0, 2, -2, 0), {'up': 0, 'down': 3})
    """
    one, size = kind.operators["Id"], kind.phys
    operators = {"Id": np.eye(size * size)}
    for name, matrix in kind.operators.items():
        if name != "Id":
            operators |= {f"{name} ket": np.kron(matrix, one), f"{name} bra": np.kron(one, matrix.T)}
    charges = {name: tuple([p - q for p in own for q in own]) for name, own in kind.charges.items()}
    charges |= {name: tuple([q % 2 for q in own]) for name, own in charges.items() if name == "parity"}
    charges.pop("parity x", None)  # which counts other states than pairs of these
    states = {name: number * (size + 1) for name, number in kind.states.items()}
    return Site(DENSITY + kind.name, operators, charges=charges, states=states)


MADE_OF[DENSITY] = doubled
