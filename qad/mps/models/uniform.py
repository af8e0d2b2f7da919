"""Hamiltonians of infinite chains, as those of finite ones in `qad.mps`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qad.mps.models.couplings import InfiniteTerms
from qad.mps.models.terms import doped, exchanging, frustrated, in_a_field, repelling
from qad.mps.operators.local import spin as spin_site

if TYPE_CHECKING:
    from qad.mps.operators.uniform_mpo import UniformMPO
    from qad.typing import RealNumber


def heisenberg(spin: float = 0.5, *, j: RealNumber = 1.0, h: RealNumber = 0.0) -> UniformMPO:
    """The infinite Heisenberg chain ``H = sum_i J S_i . S_(i+1) - h Sz_i``.

    Parameters
    ----------
    spin : number
        1/2, 1, 3/2, ...
    j, h : real numbers or Tensors
        Exchange J, and field along z; they may be differentiated.

    Returns
    -------
    UniformMPO
        Of a cell of one site.  For spins 1/2 the energy per site is ``1/4 - ln 2`` (L. Hulthén 1938).

    Examples
    --------
    >>> import qad
    >>> qad.mps.uniform.heisenberg()
    UniformMPO(1 sites, repeated, bonds 5-5, float64)
    """
    return exchanging(InfiniteTerms(spin_site(spin)), j, 1.0, h).mpo()


def xxz(delta: RealNumber, *, j: RealNumber = 1.0, h: RealNumber = 0.0) -> UniformMPO:
    """The infinite spin-1/2 chain ``H = sum_i J (Sx_i Sx_(i+1) + Sy_i Sy_(i+1) + delta Sz_i Sz_(i+1)) - h Sz_i``.

    Parameters
    ----------
    delta : real number or Tensor
        Anisotropy; it may be differentiated.
    j, h : real numbers or Tensors
        Exchange J, and field along z.

    Returns
    -------
    UniformMPO

    Examples
    --------
    >>> import qad
    >>> qad.mps.uniform.xxz(0.5).bond
    5
    """
    return exchanging(InfiniteTerms(), j, delta, h).mpo()


def ising(g: RealNumber, *, j: RealNumber = 1.0) -> UniformMPO:
    """The infinite Ising chain in a field, ``H = -j sum_i sz_i sz_(i+1) - g sum_i sx_i`` of Pauli matrices.

    Parameters
    ----------
    g, j : real numbers or Tensors
        Transverse field, critical at `j`, and coupling; they may be differentiated.

    Returns
    -------
    UniformMPO

    Examples
    --------
    >>> import qad
    >>> found = qad.mps.uniform.ground_state(qad.mps.uniform.ising(1.5), bond=8, cell=1)
    >>> round(found.energy, 9)  # exact: -1.671926221536195
    -1.671926222
    """
    return in_a_field(InfiniteTerms(), g, j).mpo()


def j1j2(j1: RealNumber, j2: RealNumber, *, h: RealNumber = 0.0) -> UniformMPO:
    """The infinite frustrated spin-1/2 chain ``H = sum_i J1 S_i . S_(i+1) + J2 S_i . S_(i+2) - h Sz_i``.

    Parameters
    ----------
    j1, j2 : real numbers or Tensors
        They may be differentiated.  With ``j2 = j1 / 2`` the ground states are products of singlets, of energy
        ``-3/8 J1`` per site (C. K. Majumdar and D. K. Ghosh 1969).
    h : real number or Tensor
        Field along z.

    Returns
    -------
    UniformMPO

    Examples
    --------
    >>> import qad
    >>> found = qad.mps.uniform.ground_state(qad.mps.uniform.j1j2(1.0, 0.5), bond=4)
    >>> round(found.energy, 9)
    -0.375
    """
    return frustrated(InfiniteTerms(), j1, j2, h).mpo()


def hubbard(
    t: RealNumber, u: RealNumber, *, v: RealNumber = 0.0, t2: RealNumber = 0.0, mu: RealNumber = 0.0,
    h: RealNumber = 0.0,
) -> UniformMPO:  # fmt: skip
    """The infinite Hubbard chain ``H = sum_i -t sum_spin (Cdag_i C_(i+1) + h.c.) + U Nup_i Ndn_i``, and its extensions.

    Parameters
    ----------
    t, u : real numbers or Tensors
        Hopping t and repulsion U; they may be differentiated.  At half filling the energy per site is
        ``-4 t int_0^oo J0(w) J1(w) / (w (1 + exp(w U / 2 t))) dw`` (E. H. Lieb and F. Y. Wu 1968).
    v, t2, mu, h : real numbers or Tensors
        Repulsion V and hopping t' of neighbours and second neighbours, chemical potential and field along z, as in
        `qad.mps.hubbard`.

    Returns
    -------
    UniformMPO
        Of sites of kind "electron"; it conserves "N" and "Sz".

    Examples
    --------
    >>> import qad
    >>> H = qad.mps.uniform.hubbard(1.0, 4.0)
    >>> found = qad.mps.uniform.ground_state(H, bond=24, conserve=("N", "Sz"), sector=(2, 0))
    >>> round(found.energy, 2)  # exact: -0.573729
    -0.57
    """
    return repelling(InfiniteTerms("electron"), t, u, v, t2, mu, h).mpo()


def tj(
    t: RealNumber, j: RealNumber, *, t2: RealNumber = 0.0, mu: RealNumber = 0.0, h: RealNumber = 0.0
) -> UniformMPO:  # fmt: skip
    """The infinite t-J chain ``-t sum_(i, spin) (Cdag_i C_(i+1) + h.c.) + J sum_i (S_i . S_(i+1) - N_i N_(i+1) / 4)``.

    Parameters
    ----------
    t, j : real numbers or Tensors
        Hopping t and exchange J; they may be differentiated.
    t2, mu, h : real numbers or Tensors
        Hopping t' of second neighbours, chemical potential and field along z, as in `qad.mps.hubbard`.

    Returns
    -------
    UniformMPO
        Of sites of kind "t-J", without two electrons on one site; it conserves "N" and "Sz".  With an electron on
        every site it is the Heisenberg chain, less ``J / 4``.

    Examples
    --------
    >>> import qad
    >>> H = qad.mps.uniform.tj(1.0, 0.5)
    >>> found = qad.mps.uniform.ground_state(H, bond=8, conserve=("N", "Sz"), sector=(2, 0))
    >>> round(found.energy, 3)  # exact: -J ln 2 = -0.346574
    -0.346
    """
    return doped(InfiniteTerms("t-J"), t, j, t2, mu, h).mpo()
