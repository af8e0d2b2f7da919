"""Models of fermions on the square lattice, with the couplings of the chains of `qad.mps`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.mps.models.terms import hopping, spin_product
from qad.mps.operators.opsum import OpSum
from qad.peps.models import DIAGONALS, NEIGHBOURS, Model, Sites, term

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import RealNumber

ONE: tuple[Sites, ...] = (((0, 0),),)


def hubbard(
    t: RealNumber,
    u: RealNumber,
    *,
    v: RealNumber = 0.0,
    t2: RealNumber = 0.0,
    mu: RealNumber = 0.0,
    h: RealNumber = 0.0,
) -> Model:
    """The Hubbard model ``H = -t sum_(<ij>, spin) (Cdag_i C_j + h.c.) + U sum_i Nup_i Ndn_i``, and its extensions.

    Parameters
    ----------
    t, u : real number
        Hopping t of neighbours and repulsion U; all couplings may be Tensors.
    v : real number
        Repulsion of neighbours, ``V N_i N_j``.
    t2 : real number
        Hopping t' across the diagonals, with the sign of t.
    mu, h : real number
        Chemical potential, ``-mu N_i``, and field along z, ``-h Sz_i``.

    Returns
    -------
    Model
        Of sites of kind "electron"; it conserves "N" and "Sz".

    Examples
    --------
    >>> import qad
    >>> qad.peps.hubbard(1.0, 8.0)
    Model(3 terms, on 2 sites at most)
    >>> qad.peps.hubbard(1.0, 8.0).kind
    Site('electron')
    """
    near = hopping(OpSum(2, "electron").add(v, "N", 0, "N", 1), t, 0, 1)
    far = hopping(OpSum(2, "electron"), t2, 0, 1)
    own = OpSum(1, "electron").add(u, "NupNdn", 0).add(-mu, "N", 0).add(-h, "Sz", 0)
    return of_sums((near, NEIGHBOURS), (far, DIAGONALS), (own, ONE))


def tj(
    t: RealNumber,
    j: RealNumber,
    *,
    t2: RealNumber = 0.0,
    mu: RealNumber = 0.0,
    h: RealNumber = 0.0,
) -> Model:
    """The t-J model ``H = -t sum_(<ij>, spin) (Cdag_i C_j + h.c.) + J sum_<ij> (S_i . S_j - N_i N_j / 4)``.

    Parameters
    ----------
    t, j : real number
        Hopping t and exchange J of neighbours; all couplings may be Tensors.
    t2, mu, h : real number
        Hopping across the diagonals, chemical potential and field along z, as in `hubbard`.

    Returns
    -------
    Model
        Of sites of kind "t-J", without two electrons on one site; it conserves "N" and "Sz".

    Examples
    --------
    >>> import qad
    >>> qad.peps.tj(1.0, 0.5, mu=2.0).terms[0].operator.shape
    (3, 3, 3, 3)
    """
    near = hopping(OpSum(2, "t-J").add(-0.25 * j, "N", 0, "N", 1), t, 0, 1)
    spin_product(near, j, 0, 1)
    far = hopping(OpSum(2, "t-J"), t2, 0, 1)
    own = OpSum(1, "t-J").add(-mu, "N", 0).add(-h, "Sz", 0)
    return of_sums((near, NEIGHBOURS), (far, DIAGONALS), (own, ONE))


def fermions(t: RealNumber, *, delta: RealNumber = 0.0, v: RealNumber = 0.0, mu: RealNumber = 0.0) -> Model:
    """Spinless fermions, ``H = sum_<ij> -t (Cdag_i C_j + h.c.) + (d_ij C_i C_j + h.c.) + V N_i N_j - mu sum_i N_i``.

    Parameters
    ----------
    t : real number
        Hopping t of neighbours; all couplings may be Tensors.
    delta : real number
        Pairing of the form p + ip: ``d_ij`` is delta for j to the right of i, and ``1j * delta`` for j below i.
    v : real number
        Repulsion of neighbours, ``V N_i N_j``.
    mu : real number
        Chemical potential.

    Returns
    -------
    Model
        Of sites of kind "fermion"; it conserves "N" without pairing.

    Notes
    -----
    Without V the fermions are free, and the energy of a site is the mean over momenta of ``(xi - E) / 2``, with
    ``xi = -2 t (cos kx + cos ky) - mu`` and ``E**2 = xi**2 + 4 delta**2 (sin(kx)**2 + sin(ky)**2)``: -2.624123 for
    t = delta = 1 and mu = 2.

    Examples
    --------
    >>> import qad
    >>> qad.peps.fermions(1.0, delta=1.0, mu=2.0)
    Model(3 terms, on 2 sites at most)
    """
    sums = [(OpSum(1, "fermion").add(-mu, "N", 0), ONE)]
    for sites, phase in zip(NEIGHBOURS, (1, 1j), strict=True):
        bond = OpSum(2, "fermion").add(v, "N", 0, "N", 1)
        bond.add(-t, "Cdag", 0, "C", 1).add(-t, "Cdag", 1, "C", 0)
        bond.add(phase * delta, "C", 0, "C", 1).add(np.conj(phase) * delta, "Cdag", 1, "Cdag", 0)
        sums.append((bond, [sites]))
    return of_sums(*sums)


def of_sums(*sums: tuple[OpSum, Sequence[Sites]]) -> Model:
    """The model of sums of products, each on all of its places; a sum without terms adds nothing."""
    terms, kind = [], sums[0][0].sites[0]
    for total, places in sums:
        if len(total):
            operator = total.mpo().to_dense().reshape((kind.phys,) * 2 * len(total.sites))
            terms += [term(operator, sites) for sites in places]
    return Model(terms, kind)
