"""Hamiltonians of electrons and of spinless fermions on chains, as matrix product operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.mps.models.couplings import FiniteTerms
from qad.mps.models.terms import doped, repelling

if TYPE_CHECKING:
    from qad.mps.models.lattice import Lattice
    from qad.mps.operators.mpo import MPO
    from qad.typing import ArrayLike, RealNumber


def hubbard(
    n: int | Lattice,
    t: RealNumber | ArrayLike,
    u: RealNumber | ArrayLike,
    periodic: bool = False,
    *,
    v: RealNumber | ArrayLike = 0.0,
    t2: RealNumber | ArrayLike = 0.0,
    mu: RealNumber | ArrayLike = 0.0,
    h: RealNumber | ArrayLike = 0.0,
) -> MPO:
    """The Hubbard chain ``H = sum_i -t sum_spin (Cdag_i C_(i+1) + h.c.) + U Nup_i Ndn_i``, and its extensions.

    Parameters
    ----------
    n : int or Lattice
        Number of sites, of kind "electron"; at least 2 (3 on a ring), or a ladder or cylinder.
    t, u : real numbers, arrays or Tensors
        Hopping t and repulsion U, one for all bonds or sites, or one for each; they may be differentiated.
    periodic : bool
    v : real number, array or Tensor
        Repulsion V of neighbours, ``V N_i N_(i+1)``.
    t2 : real number, array or Tensor
        Hopping t' of second neighbours, with the sign of t: ``-t' (Cdag_i C_(i+2) + h.c.)``; on a lattice across the
        diagonals.  A ring has at least 5 sites then.
    mu, h : real numbers, arrays or Tensors
        Chemical potential, ``-mu N_i``, and field along z, ``-h Sz_i``.

    Returns
    -------
    MPO
        Of bond 6 on a chain, 7 with V, 10 with t'; it conserves "N" and "Sz".

    Examples
    --------
    >>> import numpy as np, qad
    >>> H = qad.mps.hubbard(2, 1.0, 4.0)
    >>> bool(np.isclose(np.linalg.eigvalsh(H.to_dense()), 2 - 2 * np.sqrt(2)).any())  # two electrons, a singlet
    True
    """
    return repelling(FiniteTerms(n, periodic, "electron"), t, u, v, t2, mu, h).mpo()


def tj(
    n: int | Lattice,
    t: RealNumber | ArrayLike,
    j: RealNumber | ArrayLike,
    periodic: bool = False,
    *,
    t2: RealNumber | ArrayLike = 0.0,
    mu: RealNumber | ArrayLike = 0.0,
    h: RealNumber | ArrayLike = 0.0,
) -> MPO:
    """The t-J chain ``H = -t sum_(i, spin) (Cdag_i C_(i+1) + h.c.) + J sum_i (S_i . S_(i+1) - N_i N_(i+1) / 4)``.

    Parameters
    ----------
    n : int or Lattice
        Number of sites, of kind "t-J", without two electrons on one site; at least 2 (3 on a ring), or a ladder or
        cylinder.
    t, j : real numbers, arrays or Tensors
        Hopping t and exchange J, one for all bonds or one for each; they may be differentiated.
    periodic : bool
    t2, mu, h : real numbers, arrays or Tensors
        Hopping t' of second neighbours, chemical potential and field along z, as in `hubbard`.

    Returns
    -------
    MPO
        It conserves "N" and "Sz".

    Examples
    --------
    >>> import numpy as np, qad
    >>> float(np.linalg.eigvalsh(qad.mps.tj(2, 0.1, 1.0).to_dense())[0].round(12))  # a singlet
    -1.0
    """
    return doped(FiniteTerms(n, periodic, "t-J"), t, j, t2, mu, h).mpo()


def kitaev_chain(
    n: int | Lattice,
    t: RealNumber | ArrayLike,
    delta: RealNumber | ArrayLike,
    mu: RealNumber | ArrayLike,
    periodic: bool = False,
) -> MPO:
    """Kitaev's chain ``H = sum_i -t (Cdag_i C_(i+1) + h.c.) + delta (C_i C_(i+1) + h.c.) - mu sum_i (N_i - 1/2)``.

    Parameters
    ----------
    n : int or Lattice
        Number of sites, of kind "fermion"; at least 2 (3 on a ring).
    t, delta, mu : real numbers, arrays or Tensors
        Hopping, pairing and chemical potential, one for all bonds or sites, or one for each; they may be
        differentiated.
    periodic : bool

    Returns
    -------
    MPO
        It conserves "parity".  For ``|mu| < 2 |t|`` the open chain has a Majorana mode at each end, and its two lowest
        levels coincide but for what falls exponentially with n (A. Y. Kitaev, Phys.-Usp. 44, 131 (2001)).

    Examples
    --------
    >>> import numpy as np, qad
    >>> levels = np.linalg.eigvalsh(qad.mps.kitaev_chain(4, 1.0, 1.0, 0.0).to_dense())
    >>> levels[:3].round(10)  # n - 1 pairs of Majorana modes
    array([-3., -3., -1.])
    """
    total = FiniteTerms(n, periodic, "fermion")
    for i, j, amplitude, pairing in total.on_bonds(t=t, delta=delta):
        total.add(-amplitude, "Cdag", i, "C", j).add(-amplitude, "Cdag", j, "C", i)
        total.add(pairing, "C", i, "C", j).add(pairing, "Cdag", j, "Cdag", i)
    for i, potential in total.on_sites(mu=mu):
        total.add(-potential, "N", i).add(0.5 * potential)
    return total.mpo()
