"""Terms of spins and electrons that several models have, on finite and on infinite chains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from qad.mps.models.couplings import FiniteTerms, InfiniteTerms
    from qad.mps.operators.opsum import OpSum
    from qad.typing import ArrayLike, Number, RealNumber

    T = TypeVar("T", FiniteTerms, InfiniteTerms)


def exchanging(total: T, j: RealNumber | ArrayLike, delta: RealNumber | ArrayLike, h: RealNumber | ArrayLike) -> T:
    """``j sum (Sx Sx + Sy Sy + delta Sz Sz) - h sum Sz``, of all neighbours."""
    for one, other, coupling, anisotropy in total.on_bonds(j=j, delta=delta):
        spin_product(total, coupling, one, other, anisotropy)
    return along_z(total, h)


def along_z(total: T, h: RealNumber | ArrayLike) -> T:
    """A field along z, ``-h sum Sz``."""
    for i, field in total.on_sites(h=h):
        total.add(-field, "Sz", i)
    return total


def in_a_field(total: T, g: RealNumber | ArrayLike, j: RealNumber | ArrayLike) -> T:
    """``-j sum sz sz - g sum sx``, of Pauli matrices."""
    for one, other, coupling in total.on_bonds(j=j):
        total.add(-coupling, "Z", one, "Z", other)
    for i, field in total.on_sites(g=g):
        total.add(-field, "X", i)
    return total


def frustrated(total: T, j1: RealNumber | ArrayLike, j2: RealNumber | ArrayLike, h: RealNumber | ArrayLike) -> T:
    """``sum j1 S . S + j2 S . S - h Sz``, of all neighbours and second neighbours."""
    for i, j, coupling in (*total.on_bonds(1, j1=j1), *total.on_bonds(2, j2=j2)):
        spin_product(total, coupling, i, j)
    return along_z(total, h)


def repelling(
    total: T, t: RealNumber | ArrayLike, u: RealNumber | ArrayLike, v: RealNumber | ArrayLike, *more: Any
) -> T:  # fmt: skip
    """Electrons that hop and repel each other on a site and on neighbours; `more` as of `extended`."""
    for i, j, amplitude, repulsion in total.on_bonds(t=t, v=v):
        hopping(total, amplitude, i, j).add(repulsion, "N", i, "N", j)
    for i, repulsion in total.on_sites(u=u):
        total.add(repulsion, "NupNdn", i)
    return extended(total, *more)


def doped(total: T, t: RealNumber | ArrayLike, j: RealNumber | ArrayLike, *more: Any) -> T:
    """Electrons, never two on a site, that hop and exchange their spins; `more` as of `extended`."""
    for one, two, amplitude, exchange in total.on_bonds(t=t, j=j):
        spin_product(hopping(total, amplitude, one, two), exchange, one, two)
        total.add(-0.25 * exchange, "N", one, "N", two)
    return extended(total, *more)


def extended(total: T, t2: RealNumber | ArrayLike, mu: RealNumber | ArrayLike, h: RealNumber | ArrayLike) -> T:
    """Add hopping ``-t2`` of second neighbours, and ``-mu N - h Sz`` of all sites."""
    for i, j, amplitude in total.on_bonds(2, t2=t2):
        hopping(total, amplitude, i, j)
    for i, potential in total.on_sites(mu=mu):
        total.add(-potential, "N", i)
    return along_z(total, h)


def spin_product(total: OpSum, coupling: Number, i: int, j: int, anisotropy: Number = 1.0) -> None:
    """Add ``coupling * (Sx Sx + Sy Sy + anisotropy Sz Sz)`` on two sites."""
    total.add(coupling * 0.5, "Sp", i, "Sm", j).add(coupling * 0.5, "Sm", i, "Sp", j)
    total.add(coupling * anisotropy, "Sz", i, "Sz", j)


def hopping(total: OpSum, t: Number, i: int, j: int) -> OpSum:
    """Add ``-t (Cdag_i C_j + Cdag_j C_i)`` for both spins."""
    for up_or_down in ("up", "dn"):
        total.add(-t, "Cdag" + up_or_down, i, "C" + up_or_down, j)
        total.add(-t, "Cdag" + up_or_down, j, "C" + up_or_down, i)
    return total
