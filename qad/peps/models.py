"""Models of the square lattice: sums of local terms, the same at every site."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError, ShapeError
from qad.extend import as_array, stack_of, value_of
from qad.mps.operators.local import site
from qad.peps.checks import array_operand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.operators.local import Site
    from qad.typing import Array, ArrayLike

Sites = tuple[tuple[int, int], ...]
NEIGHBOURS: tuple[Sites, ...] = (((0, 0), (0, 1)), ((0, 0), (1, 0)))
DIAGONALS: tuple[Sites, ...] = (((0, 0), (1, 1)), ((0, 1), (1, 0)))
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
    kind : str or qad.mps.Site, optional
        What stands on the sites; by default spins. Of kinds with fermions ("fermion", "electron", "t-J") the operator
        of a term has the elements ``<x y|O|a b>``, where ``|x y>`` is made in the order of the term's sites.

    Raises
    ------
    ArgumentError
        If there is no term, or no such kind of site.
    ShapeError
        If a term does not fit the kind of site.

    Examples
    --------
    >>> import numpy as np, qad
    >>> sz = np.diag([0.5, -0.5])
    >>> zz = np.kron(sz, sz).reshape(2, 2, 2, 2)
    >>> qad.peps.Model([qad.peps.term(zz, [(0, 0), (0, 1)]), qad.peps.term(zz, [(0, 0), (1, 0)])])
    Model(2 terms, on 2 sites at most)
    """

    terms: tuple[Term, ...]
    kind: str | Site | None = field(default=None, metadata={"static": True})

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", tuple(self.terms))
        if not self.terms:
            raise ArgumentError("a model has one term at least")
        if self.kind is not None:
            object.__setattr__(self, "kind", site(self.kind))
            if any({*t.operator.shape} != {self.kind.phys} for t in self.terms):
                raise ShapeError(f"terms on sites of kind {self.kind.name!r} have legs of dimension {self.kind.phys}")

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
            If the turned terms are not the same on both sublattices, or `u` is not unitary; of fermions.
        """
        if self.kind is not None and self.kind.fermionic:
            raise ArgumentError('a turn may mix parities of fermions: take a cell of two sites, cell=["AB", "BA"]')
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
        return Model(turned, self.kind)

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
