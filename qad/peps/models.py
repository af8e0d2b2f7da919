"""Models of the square lattice: sums of local terms, the same at every site."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import as_array, operand, stack_of, value_of
from qad.mps.operators.local import site
from qad.mps.operators.local import spin as site_of_spin
from qad.peps.checks import array_operand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.typing import Array, ArrayLike, RealNumber

Sites = tuple[tuple[int, int], ...]
SAME = 1e-12  # relative: rounding of a product of a few matrices


@dataclass(frozen=True)
class Term:
    """An operator on a few sites, repeated from every site of the lattice.

    Attributes
    ----------
    operator : array
        Hermitian, with legs ``(out, ..., out, in, ..., in)``, one of each per site.
    sites : tuple of (int, int)
        Where it acts, as ``(row, column)``; rows count downwards.
    """

    operator: Array
    sites: Sites = field(metadata={"static": True})


@dataclass(frozen=True)
class Model:
    """A Hamiltonian: the sum of its terms over the lattice.

    Parameters
    ----------
    terms : sequence of Term
        Make them by `qad.peps.term`.

    Raises
    ------
    ArgumentError
        If there is none.

    Examples
    --------
    >>> import numpy as np, qad
    >>> sz = np.diag([0.5, -0.5])
    >>> zz = np.kron(sz, sz).reshape(2, 2, 2, 2)
    >>> qad.peps.Model([qad.peps.term(zz, [(0, 0), (0, 1)]), qad.peps.term(zz, [(0, 0), (1, 0)])])
    Model(2 terms, on 2 sites at most)
    """

    terms: tuple[Term, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", tuple(self.terms))
        if not self.terms:
            raise ArgumentError("a model has one term at least")

    def rotated(self, u: ArrayLike | None = None) -> Model:
        """The same model in a basis that is turned by `u` on every second site.

        So that antiferromagnets fit cells of one site.

        Parameters
        ----------
        u : array (d, d), optional
            Unitary; default ``i sigma_y``, which turns the Heisenberg term into ``-SxSx + SySy - SzSz``.

        Raises
        ------
        ArgumentError
            If the turned terms are not the same on both sublattices, or `u` is not unitary.
        """
        u = np.array([[0.0, 1.0], [-1.0, 0.0]]) if u is None else np.asarray(u)
        if u.ndim != 2 or not np.allclose(u @ u.conj().T, np.eye(len(u)), rtol=0, atol=1e-12):
            raise ArgumentError(f"the rotation is a unitary matrix, not an array of shape {u.shape} that is none")
        turned = []
        for t in self.terms:
            odd, even = (turn(t, u, parity) for parity in (1, 0))
            size = np.linalg.norm(plain(t.operator))
            if np.linalg.norm(plain(odd) - plain(even)) > SAME * size:
                raise ArgumentError(
                    f"the term on {t.sites} is not the same on both sublattices once turned: take a cell of two sites"
                )
            turned.append(Term(odd, t.sites))
        return Model(turned)

    def __repr__(self) -> str:
        most = max((len(t.sites) for t in self.terms), default=0)
        return f"Model({len(self.terms)} terms, on {most} sites at most)"


def term(operator: ArrayLike, sites: Sequence[tuple[int, int]]) -> Term:
    """A local term, to be repeated from every site of the lattice.

    Parameters
    ----------
    operator : array
        Hermitian: of shape ``(d,) * 2k``, legs ``(out, ..., out, in, ..., in)``, or the matrix ``(d**k, d**k)``. It may
        be a Tensor.
    sites : sequence of (row, column)
        Where it acts, k different sites, counted from any of them; rows count downwards.

    Returns
    -------
    Term

    Raises
    ------
    ShapeError
        If the operator's shape does not fit the number of sites.
    ArgumentError
        If it is not Hermitian, or a site is named twice.

    Examples
    --------
    >>> import numpy as np, qad
    >>> qad.peps.term(np.diag([1.0, -1.0]), [(0, 0)]).operator.shape
    (2, 2)
    """
    places = tuple((int(row), int(column)) for row, column in sites)
    if not places or len(set(places)) != len(places):
        raise ArgumentError(f"a term acts on one or several different sites, not on {places}")
    operator, k = array_operand(operator, "the operator of a term"), len(places)
    if operator.ndim == 2 and k > 1:
        d = round(operator.shape[0] ** (1 / k))
        if operator.shape != (d**k, d**k):
            raise ShapeError(f"an operator on {k} sites of one dimension has no shape {operator.shape}")
        operator = operator.reshape((d,) * (2 * k))
    if operator.ndim != 2 * k or operator.shape[:k] != operator.shape[k:]:
        raise ShapeError(f"an operator on {k} sites has {2 * k} legs, all out legs first, not shape {operator.shape}")
    check_hermitian(operator, places)
    return Term(operator, places)


def check_hermitian(operator: Array, places: Sites) -> None:
    """Raise unless an operator with legs ``(out, ..., in, ...)`` is its own adjoint; under `qad.vmap`, all of them."""
    values, k = as_array(stack_of(operator)), len(places)
    first = values.ndim - 2 * k
    back = values.transpose(*range(first), *range(first + k, first + 2 * k), *range(first, first + k)).conj()
    if not np.linalg.norm(values - back) <= 1e-10 * np.linalg.norm(values):
        raise ArgumentError(f"the term on {places} is not Hermitian, or holds numbers that are not finite")


def plain(x: ArrayLike) -> np.ndarray:
    """The values of an array that may be recorded."""
    return as_array(value_of(x))


def turn(t: Term, u: np.ndarray, parity: int) -> Array:
    """The operator of a term with `u` applied on the sites of one parity; real if it has no imaginary part."""
    k, turned = len(t.sites), t.operator
    for i, (row, column) in enumerate(t.sites):
        if (row + column) % 2 == parity:
            turned = np.moveaxis(np.tensordot(u.conj().T, turned, (1, i)), 0, i)
            turned = np.moveaxis(np.tensordot(turned, u, (k + i, 0)), -1, k + i)
    return real_if_real(turned)


def real_if_real(x: Array) -> Array:
    """An operator without its imaginary part, if that is nothing but rounding."""
    if not np.iscomplexobj(x) or np.linalg.norm(plain(x).imag) > SAME * np.linalg.norm(plain(x)):
        return x
    return x.real


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


NEIGHBOURS: tuple[Sites, ...] = (((0, 0), (0, 1)), ((0, 0), (1, 0)))
DIAGONALS: tuple[Sites, ...] = (((0, 0), (1, 1)), ((0, 1), (1, 0)))


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
