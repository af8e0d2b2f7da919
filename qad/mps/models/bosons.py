"""Hamiltonians of bosons on chains and lattices, as matrix product operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.mps.models.couplings import FiniteTerms

if TYPE_CHECKING:
    from qad.mps.models.lattice import Lattice
    from qad.mps.operators.mpo import MPO
    from qad.typing import ArrayLike, RealNumber


def bose_hubbard(
    n: int | Lattice,
    t: RealNumber | ArrayLike,
    u: RealNumber | ArrayLike,
    mu: RealNumber | ArrayLike = 0.0,
    most: int = 4,
    periodic: bool = False,
    *,
    v: RealNumber | ArrayLike = 0.0,
) -> MPO:
    """Bosons, ``H = sum_i -t (Bdag_i B_(i+1) + h.c.) + U/2 N_i (N_i - 1) + V N_i N_(i+1) - mu N_i``.

    Parameters
    ----------
    n : int or Lattice
        Number of sites, at least 2 (3 on a ring), or a ladder or cylinder.
    t, u, mu : real numbers, arrays or Tensors
        Hopping, repulsion U and chemical potential, one for all bonds or sites, or one for each; they may be
        differentiated.
    most : int
        Most bosons on a site.
    periodic : bool
    v : real number, array or Tensor
        Repulsion V of neighbours, of all bonds or of each.

    Returns
    -------
    MPO
        Of bond 4, or 5 with V; it conserves "N".

    Examples
    --------
    >>> import qad
    >>> H = qad.mps.bose_hubbard(8, t=0.1, u=1.0)
    >>> found = qad.mps.ground_state(H, bond=16, conserve="N", sector=8)  # one boson per site
    >>> round(found.energy, 6)
    -0.275839
    """
    total = FiniteTerms(n, periodic, f"boson-{most}")
    for i, j, amplitude, repulsion in total.on_bonds(t=t, v=v):
        total.add(-amplitude, "Bdag", i, "B", j).add(-amplitude, "Bdag", j, "B", i)
        total.add(repulsion, "N", i, "N", j)
    count = total.sites[0].operators["N"]
    for i, repulsion, potential in total.on_sites(u=u, mu=mu):
        total.add(repulsion * 0.5, count @ count - count, i).add(-potential, "N", i)
    return total.mpo()
