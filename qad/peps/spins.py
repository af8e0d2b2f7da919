"""Models of spins on the square lattice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.extend import operand
from qad.mps.operators.local import site
from qad.mps.operators.local import spin as site_of_spin
from qad.peps.models import DIAGONALS, NEIGHBOURS, Model, Sites, Term

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array, RealNumber


def spin_term(couplings: Sequence[RealNumber], sites: Sites) -> Term:
    """``x SxSx + y SySy + z SzSz`` of spins 1/2 on two sites."""
    return Term(operand(spin_spin(*couplings)).reshape(2, 2, 2, 2), sites)


def spin_spin(x: RealNumber = 1.0, y: RealNumber = 1.0, z: RealNumber = 1.0, *, spin: float = 0.5) -> Array:
    """``x SxSx + y SySy + z SzSz`` of two spins, as a matrix.

    Examples
    --------
    >>> import qad
    >>> qad.peps.spin_spin()[1]
    array([ 0.  , -0.25,  0.5 ,  0.  ])
    """
    matrices = [site_of_spin(spin).operators[name] for name in ("Sx", "Sy", "Sz")]
    return sum(c * np.kron(s, s).real for c, s in zip((x, y, z), matrices, strict=True))


def along_z(h: RealNumber, spin: float = 0.5) -> list[Term]:
    """``-h Sz`` of one site; nothing for the number 0."""
    if isinstance(h, (int, float)) and h == 0:
        return []
    return [Term(operand(-h * site_of_spin(spin).operators["Sz"]), ((0, 0),))]


def xxz(delta: RealNumber, *, j: RealNumber = 1.0, h: RealNumber = 0.0) -> Model:
    """``H = J sum_<ij> (Sx Sx + Sy Sy + delta Sz Sz) - h sum_i Sz`` of spins 1/2 on neighbours.

    Parameters
    ----------
    delta, j, h : number
        Anisotropy, exchange J and field along z; they may be Tensors.

    Returns
    -------
    Model

    Examples
    --------
    >>> import qad
    >>> qad.peps.xxz(0.5)
    Model(2 terms, on 2 sites at most)
    """
    return Model([*(spin_term((j, j, j * delta), sites) for sites in NEIGHBOURS), *along_z(h)])


def heisenberg(spin: float = 0.5, *, j: RealNumber = 1.0, h: RealNumber = 0.0) -> Model:
    """The antiferromagnet ``H = J sum_<ij> S.S - h sum_i Sz`` on neighbours.

    Parameters
    ----------
    spin : number
        1/2, 1, 3/2, ...
    j, h : number
        Exchange J and field along z; they may be Tensors.

    Returns
    -------
    Model

    Examples
    --------
    >>> import qad
    >>> qad.peps.heisenberg().rotated()
    Model(2 terms, on 2 sites at most)
    """
    d = site_of_spin(spin).phys
    pair = operand(j * spin_spin(spin=spin)).reshape(d, d, d, d)
    return Model([*(Term(pair, sites) for sites in NEIGHBOURS), *along_z(h, spin)])


def j1j2(j1: RealNumber, j2: RealNumber, *, h: RealNumber = 0.0) -> Model:
    """``H = J1 sum_<ij> S.S + J2 sum_<<ij>> S.S - h sum_i Sz`` of spins 1/2 on neighbours and across the diagonals.

    Parameters
    ----------
    j1, j2, h : number
        Exchange J1 and J2, and field along z; they may be Tensors.

    Returns
    -------
    Model

    Examples
    --------
    >>> import qad
    >>> qad.peps.j1j2(1.0, 0.5)
    Model(4 terms, on 2 sites at most)
    """
    near = [spin_term((j1,) * 3, sites) for sites in NEIGHBOURS]
    return Model([*near, *(spin_term((j2,) * 3, sites) for sites in DIAGONALS), *along_z(h)])


def ising(g: RealNumber, *, j: RealNumber = 1.0) -> Model:
    """The Ising model in a transverse field, ``H = -j sum_<ij> Z Z - g sum_i X``, with Pauli matrices.

    Parameters
    ----------
    g, j : number
        They may be Tensors.

    Returns
    -------
    Model

    Examples
    --------
    >>> import qad
    >>> qad.peps.ising(3.1)
    Model(3 terms, on 2 sites at most)
    """
    pauli = site("spin-1/2").operators
    zz = operand(-j * np.kron(pauli["Z"], pauli["Z"]).reshape(2, 2, 2, 2))
    return Model([*(Term(zz, sites) for sites in NEIGHBOURS), Term(operand(-g * pauli["X"]), ((0, 0),))])
