"""Correlations of pairs of fermions on bonds: what superconducting order is told by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.keywords import keywords_told
from qad.mps.measure.multipoint import multipoint

if TYPE_CHECKING:
    from qad.mps.chain.state import MPS
    from qad.mps.charges.quantities import Kinds
    from qad.typing import Array, ArrayLike

HALF = 0.5**0.5
PAIRINGS: dict[str, tuple[tuple[float, str, str], ...]] = {  # weights, and the spins of the annihilators on i and j
    "singlet": ((HALF, "up", "dn"), (-HALF, "dn", "up")),
    "triplet": ((HALF, "up", "dn"), (HALF, "dn", "up")),
    "triplet up": ((1.0, "up", "up"),),
    "triplet down": ((1.0, "dn", "dn"),),
    "spinless": ((1.0, "", ""),),
}


@keywords_told
def pair_correlations(
    psi: MPS, bonds: ArrayLike, others: ArrayLike | None = None, *, pairing: str = "singlet", kind: Kinds = None
) -> Array:
    """``<psi| Delta_b^dagger Delta_c |psi> / <psi|psi>`` of pairs of fermions on bonds b and c.

    Parameters
    ----------
    psi : MPS
        Of electrons or of the t-J model; of spinless fermions for "spinless".
    bonds : int array (m, 2)
        Pairs of sites (i, j), such as ``lattice.bonds("nearest")``; (i, i) are pairs on one site.
    others : int array (k, 2), optional
        The bonds c; by default `bonds`.
    pairing : str
        ``Delta_ij``: "singlet", ``(Cup_i Cdn_j - Cdn_i Cup_j) / sqrt(2)``; "triplet", the same with a plus sign, of no
        magnetisation; "triplet up" and "triplet down", ``Cup_i Cup_j`` and ``Cdn_i Cdn_j``; "spinless", ``C_i C_j``.
    kind : str, Site, or a sequence of them, optional
        What stands on the sites; by default what the state knows.

    Returns
    -------
    array (m, k)
        Singlets are even under exchange of i and j, triplets odd.  A pair field of a symmetry has a sign s for each
        bond, as +1 along x and -1 along y for d waves: ``s @ table @ s``.

    Raises
    ------
    ArgumentError
        For an unknown pairing, a site that does not exist, or sites without such fermions.
    ShapeError
        If the bonds are no pairs of sites.

    Notes
    -----
    Sums of at most four `multipoint`, with all Jordan-Wigner strings and signs.  Of a paired state the table stays
    finite, or falls by a power, between bonds far from each other; without pairs it falls as the square of
    ``<Cdag C>``.  C. N. Yang, Rev. Mod. Phys. 34, 694 (1962).

    Examples
    --------
    >>> import numpy as np, qad
    >>> H = qad.mps.tj(qad.mps.Lattice.ladder(2), 0.0, [0, 1.0, 1.0, 0])  # exchange on legs alone
    >>> found = qad.mps.ground_state(H, bond=8, conserve=("N", "Sz"), sector=(4, 0))
    >>> qad.mps.pair_correlations(found.state, [(0, 2), (1, 3)]).real.round(6) + 0.0  # two singlets that stay
    array([[1., 0.],
           [0., 1.]])
    """
    if pairing not in PAIRINGS:
        raise ArgumentError(f"no pairing is called {pairing!r}: choose one of {', '.join(map(repr, PAIRINGS))}")
    left, right = np.asarray(bonds), np.asarray(bonds if others is None else others)
    for rows in (left, right):
        if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iu":
            raise ShapeError(f"bonds are pairs of sites (i, j), an int array (m, 2), not {rows.dtype} {rows.shape}")
    shape = len(left), len(right), 2
    sites = np.concatenate([np.broadcast_to(left[:, None, ::-1], shape), np.broadcast_to(right[None], shape)], axis=-1)
    terms = [
        weight * other * multipoint(psi, (f"Cdag{b}", f"Cdag{a}", f"C{c}", f"C{d}"), sites, kind=kind)
        for weight, a, b in PAIRINGS[pairing]
        for other, c, d in PAIRINGS[pairing]
    ]
    return sum(terms[1:], terms[0])
