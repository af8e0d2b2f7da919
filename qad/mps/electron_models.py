"""Hamiltonians of electrons on chains, as matrix product operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.mps.models import pairs, real_number, ring_or_chain, spin_product
from qad.mps.opsum import OpSum

if TYPE_CHECKING:
    from qad.mps.operator import MPO
    from qad.typing import Number, RealNumber


def hubbard(n: int, t: RealNumber, u: RealNumber, periodic: bool = False) -> MPO:
    """The Hubbard chain ``H = -t sum_(i, spin) (Cdag_i C_(i+1) + h.c.) + u sum_i Nup_i Ndn_i``.

    Parameters
    ----------
    n : int
        Number of sites, of kind "electron"; at least 2 (3 on a ring).
    t, u : real numbers or Tensors
        Hopping and repulsion; they may be differentiated.
    periodic : bool

    Returns
    -------
    MPO
        Of bond 6; it conserves "N" and "Sz".

    Examples
    --------
    >>> import numpy as np, qad
    >>> H = qad.mps.hubbard(2, 1.0, 4.0)
    >>> bool(np.isclose(np.linalg.eigvalsh(H.to_dense()), 2 - 2 * np.sqrt(2)).any())  # two electrons, a singlet
    True
    """
    t, u = real_number(t, "t"), real_number(u, "u")
    total = OpSum(ring_or_chain(n, periodic), "electron")
    for i, j in pairs(n, periodic):
        hopping(total, t, i, j)
    for i in range(n):
        total.add(u, "NupNdn", i)
    return total.mpo()


def tj(n: int, t: RealNumber, j: RealNumber, periodic: bool = False) -> MPO:
    """The t-J chain ``H = -t sum_(i, spin) (Cdag_i C_(i+1) + h.c.) + j sum_i (S_i . S_(i+1) - N_i N_(i+1) / 4)``.

    Parameters
    ----------
    n : int
        Number of sites, of kind "t-J", without two electrons on one site; at least 2 (3 on a ring).
    t, j : real numbers or Tensors
        Hopping and exchange; they may be differentiated.
    periodic : bool

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
    t, j = real_number(t, "t"), real_number(j, "j")
    total = OpSum(ring_or_chain(n, periodic), "t-J")
    for one, two in pairs(n, periodic):
        hopping(total, t, one, two)
        spin_product(total, j, one, two)
        total.add(-0.25 * j, "N", one, "N", two)
    return total.mpo()


def hopping(total: OpSum, t: Number, i: int, j: int) -> None:
    """Add ``-t (Cdag_i C_j + Cdag_j C_i)`` for both spins."""
    for up_or_down in ("up", "dn"):
        total.add(-t, "Cdag" + up_or_down, i, "C" + up_or_down, j)
        total.add(-t, "Cdag" + up_or_down, j, "C" + up_or_down, i)
