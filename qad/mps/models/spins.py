"""Hamiltonians of well-known chains, as matrix product operators.

Each is a sum of products of local operators (`qad.mps.OpSum`).  On a ring the last site couples to the first; the
operator stays open, its outer bonds 1, and its inner ones carry what is needed to close the ring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import stack_of
from qad.mps.chain.chain import site_count
from qad.mps.models.couplings import FiniteTerms
from qad.mps.models.terms import exchanging, frustrated, in_a_field, spin_product
from qad.mps.operators.algebra import finite_number
from qad.mps.operators.local import spin as spin_site
from qad.mps.operators.opsum import OpSum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qad.mps.models.lattice import Lattice
    from qad.mps.operators.mpo import MPO
    from qad.typing import ArrayLike, Number, RealNumber


def heisenberg(
    n: int | Lattice,
    periodic: bool = False,
    spin: float = 0.5,
    *,
    j: RealNumber | ArrayLike = 1.0,
    h: RealNumber | ArrayLike = 0.0,
) -> MPO:
    """The Heisenberg chain ``H = J sum_i S_i . S_(i+1) - h sum_i Sz_i``.

    Parameters
    ----------
    n : int or Lattice
        Number of sites, at least 2 (3 on a ring), or a ladder or cylinder.
    periodic : bool
        Whether site n-1 couples to site 0; the operator's bond is then 8 instead of 5.
    spin : number
        1/2, 1, 3/2, ...
    j, h : real numbers, arrays or Tensors
        Exchange J of all bonds or of each, and field along z of all sites or of each; they may be differentiated.

    Returns
    -------
    MPO
        Real, with outer bonds of dimension 1 in both cases.

    Examples
    --------
    >>> import numpy as np, qad
    >>> H = qad.mps.heisenberg(4)
    >>> float(np.linalg.eigvalsh(H.to_dense())[0].round(12))
    -1.616025403784
    """
    return exchanging(FiniteTerms(n, periodic, spin_site(spin)), j, 1.0, h).mpo()


def xxz(
    n: int | Lattice,
    delta: RealNumber | ArrayLike,
    periodic: bool = False,
    *,
    j: RealNumber | ArrayLike = 1.0,
    h: RealNumber | ArrayLike = 0.0,
) -> MPO:
    """The spin-1/2 chain ``H = J sum_i (Sx_i Sx_(i+1) + Sy_i Sy_(i+1) + delta Sz_i Sz_(i+1)) - h sum_i Sz_i``.

    Parameters
    ----------
    n : int or Lattice
        Number of sites, at least 2 (3 on a ring), or a ladder or cylinder.
    delta : real number, array or Tensor
        Anisotropy, of all bonds or of each; it may be differentiated.
    periodic : bool
    j, h : real numbers, arrays or Tensors
        Exchange J of all bonds or of each, and field along z of all sites or of each.

    Returns
    -------
    MPO

    Examples
    --------
    >>> import qad
    >>> qad.mps.xxz(6, delta=0.5)
    MPO(6 sites, open, bonds 1-5-5-5-5-5-1, float64)
    """
    return exchanging(FiniteTerms(n, periodic), j, delta, h).mpo()


def ising(
    n: int | Lattice, g: RealNumber | ArrayLike, periodic: bool = False, *, j: RealNumber | ArrayLike = 1.0
) -> MPO:
    """The transverse-field Ising chain ``H = -j sum_i sz_i sz_(i+1) - g sum_i sx_i`` of Pauli matrices.

    Parameters
    ----------
    n : int or Lattice
        Number of sites, at least 2 (3 on a ring), or a ladder or cylinder.
    g : real number, array or Tensor
        Transverse field, of all sites or of each; critical at 1.  It may be differentiated.
    periodic : bool
    j : real number, array or Tensor
        Coupling, of all bonds or of each.

    Returns
    -------
    MPO

    Examples
    --------
    >>> import qad
    >>> qad.mps.ising(6, g=1.0)
    MPO(6 sites, open, bonds 1-3-3-3-3-3-1, float64)
    """
    return in_a_field(FiniteTerms(n, periodic), g, j).mpo()


def long_range_ising(n: int, rate: RealNumber, g: RealNumber) -> MPO:
    """The Ising chain of couplings that decay, ``H = -sum_{i<j} rate**(j-i-1) sz_i sz_j - g sum_i sx_i``.

    Parameters
    ----------
    n : int
        Number of sites, at least 2.
    rate : real number or Tensor
        Of each coupling to the next longer one; not zero.  It may be differentiated.
    g : real number or Tensor
        Transverse field.

    Returns
    -------
    MPO
        Of bond 3: all distances take one state of the automaton.

    Examples
    --------
    >>> import qad
    >>> qad.mps.long_range_ising(6, rate=0.5, g=1.0)
    MPO(6 sites, open, bonds 1-3-3-3-3-3-1, float64)
    """
    rate, g = finite_number(rate, "rate", real=True), finite_number(g, "g", real=True)
    if np.any(stack_of(rate) == 0):
        raise ArgumentError("rate must not be zero: qad.mps.ising couples neighbours only")
    total = OpSum(site_count(n, 2, "n")).add_exponential(-1 / rate, rate, "Z", "Z")
    for i in range(n):
        total.add(-g, "X", i)
    return total.mpo()


def j1j2(
    n: int | Lattice,
    j1: RealNumber | ArrayLike,
    j2: RealNumber | ArrayLike,
    periodic: bool = False,
    *,
    h: RealNumber | ArrayLike = 0.0,
) -> MPO:
    """The frustrated spin-1/2 chain ``H = sum_i J1 S_i . S_(i+1) + J2 S_i . S_(i+2) - h Sz_i``, or on a lattice.

    Parameters
    ----------
    n : int or Lattice
        Number of sites, at least 2 (5 on a ring); or a ladder or cylinder, whose diagonals are the second neighbours.
    j1, j2 : real numbers, arrays or Tensors
        Of all pairs or of each; they may be differentiated.  On a chain with ``j2 = j1 / 2`` the ground state is a
        product of singlets (C. K. Majumdar, D. K. Ghosh 1969), of energy ``-3/8 J1`` per site.
    periodic : bool
    h : real number, array or Tensor
        Field along z, of all sites or of each.

    Returns
    -------
    MPO

    Examples
    --------
    >>> import qad
    >>> qad.mps.j1j2(7, 1.0, 0.5).bond
    8
    """
    return frustrated(FiniteTerms(n, periodic), j1, j2, h).mpo()


def blbq(n: int | Lattice, theta: RealNumber, periodic: bool = False) -> MPO:
    """The bilinear-biquadratic spin-1 chain ``H = sum_i cos(theta) S_i . S_(i+1) + sin(theta) (S_i . S_(i+1))**2``.

    Parameters
    ----------
    n : int or Lattice
        Number of sites, at least 2 (3 on a ring), or a ladder or cylinder.
    theta : real number or Tensor
        Radians; it may be differentiated.
    periodic : bool

    Returns
    -------
    MPO

    Notes
    -----
    By the five quadrupole operators Q, ``(S . S')**2 = (Q . Q' - S . S' + 8/3) / 2``; so the bond is 10.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.mps.blbq(6, np.pi / 4)
    MPO(6 sites, open, bonds 1-10-10-10-10-10-1, float64)
    """
    theta = finite_number(theta, "theta", real=True)
    return bilinear_biquadratic(n, np.cos(theta), np.sin(theta), periodic)


def aklt(n: int | Lattice, periodic: bool = False) -> MPO:
    """The spin-1 chain ``H = sum_i S_i . S_(i+1) + (S_i . S_(i+1))**2 / 3``.

    Parameters
    ----------
    n : int or Lattice
        Number of sites, at least 2 (3 on a ring), or a ladder or cylinder.
    periodic : bool

    Returns
    -------
    MPO
        Its ground states are exact MPS of bond 2, of energy -2/3 per bond (I. Affleck et al., PRL 59, 799 (1987)).

    Examples
    --------
    >>> import numpy as np, qad
    >>> float(np.linalg.eigvalsh(qad.mps.aklt(4).to_dense())[0].round(12))
    -2.0
    """
    return bilinear_biquadratic(n, 1.0, 1 / 3, periodic)


def bilinear_biquadratic(n: int | Lattice, linear: Number, square: Number, periodic: bool) -> MPO:
    """``sum_i linear S . S' + square (S . S')**2`` of spins 1."""
    total = FiniteTerms(n, periodic, "spin-1")
    up, z = (total.sites[0].operators[name] for name in ("Sp", "Sz"))
    for i, j in total.bonds():
        spin_product(total, linear - square / 2, i, j)
        for q in quadrupoles(up, z):
            total.add(square / 2, q, i, q.T, j)
        total.add(square * (4 / 3))
    return total.mpo()


def quadrupoles(up: np.ndarray, z: np.ndarray) -> Iterator[np.ndarray]:
    """The five real quadrupole operators q of spins 1, each of which adds one charge: ``Q . Q' = sum_q q q'.T``."""
    yield (3 * z @ z - 2 * np.eye(len(z))) / np.sqrt(3)
    for q in (up @ up, up @ z + z @ up):
        yield q / np.sqrt(2)
        yield q.T / np.sqrt(2)
