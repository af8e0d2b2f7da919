"""Other lattices on the square one: sites that repeat together are joined to one site of a square lattice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ShapeError
from qad.mps.operators.local import site
from qad.peps.charges import odd_states
from qad.peps.checks import array_operand
from qad.peps.infinite.orbits import canonical, joined
from qad.peps.models import NEIGHBOURS, Model, Sites, Term, term
from qad.peps.spins import spin_spin
from qad.peps.together import together

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from qad.mps.operators.local import Site
    from qad.typing import Array, ArrayLike, RealNumber

    Pattern: TypeAlias = tuple[tuple[int, tuple[int, int], Sites], ...]

SAME: Sites = ((0, 0),)
RIGHT, DOWN = NEIGHBOURS
UP_RIGHT: Sites = ((1, 0), (0, 1))
DIAGONAL: Sites = ((0, 0), (1, 1))

# Bonds (of which kind, which of the joined sites, between which sites of the square lattice).
HONEYCOMB: Pattern = ((2, (0, 1), SAME), (0, (1, 0), RIGHT), (1, (1, 0), DOWN))
KAGOME: Pattern = (
    (0, (0, 1), SAME), (0, (0, 2), SAME), (0, (1, 2), SAME),
    (0, (1, 0), RIGHT), (0, (2, 0), DOWN), (0, (2, 1), UP_RIGHT),
)  # fmt: skip


def triangular(bond: ArrayLike) -> Model:
    """The same term on all bonds of a triangular lattice: neighbours of the square one, and one of its diagonals.

    Parameters
    ----------
    bond : array (d**2, d**2) or (d, d, d, d)
        Hermitian; it may be a Tensor.

    Returns
    -------
    Model

    Examples
    --------
    >>> import qad
    >>> qad.peps.triangular(qad.peps.spin_spin())
    Model(3 terms, on 2 sites at most)
    """
    return Model([term(bond, sites) for sites in (*NEIGHBOURS, DIAGONAL)])


def honeycomb(
    x: ArrayLike, y: ArrayLike | None = None, z: ArrayLike | None = None, *, kind: str | Site | None = None
) -> Model:
    """Terms on the bonds of a honeycomb lattice: two of its sites are one site of dimension ``d**2``.

    Parameters
    ----------
    x, y, z : arrays (d**2, d**2) or (d, d, d, d)
        Hermitian, of the bonds in the three directions: to the right, down, and within a site. `y` and `z` are `x` by
        default. They may be Tensors. Where an operator is not the same from both sides, the first site of `x` and `y`
        is the second of the pair.
    kind : str or Site, optional
        What stands on the sites of the honeycomb; by default spins. Of fermions the operators are as in `Model`.

    Returns
    -------
    Model
        Energies are those of two sites, of kind "pair of electron" and so on.

    Examples
    --------
    >>> import qad
    >>> qad.peps.honeycomb(qad.peps.spin_spin())
    Model(3 terms, on 2 sites at most)
    """
    return of_joined((x, x if y is None else y, x if z is None else z), HONEYCOMB, 2, kind)


def kagome(bond: ArrayLike, *, kind: str | Site | None = None) -> Model:
    """The same term on all bonds of a kagome lattice: a triangle is one site of dimension ``d**3``.

    Parameters
    ----------
    bond : array (d**2, d**2) or (d, d, d, d)
        Hermitian, the same from both sides; it may be a Tensor.
    kind : str or Site, optional
        What stands on the sites of the lattice; by default spins. Of fermions the operator is as in `Model`.

    Returns
    -------
    Model
        Energies are those of three sites, of kind "triple of electron" and so on.

    Examples
    --------
    >>> import qad
    >>> qad.peps.kagome(qad.peps.spin_spin())
    Model(4 terms, on 2 sites at most)
    """
    return of_joined((bond,), KAGOME, 3, kind)


def kitaev(jx: RealNumber = 1.0, jy: RealNumber = 1.0, jz: RealNumber = 1.0) -> Model:
    """Kitaev's model, ``H = -sum jx Sx Sx - sum jy Sy Sy - sum jz Sz Sz`` on the three bonds of a honeycomb.

    Parameters
    ----------
    jx, jy, jz : number
        They may be Tensors.

    Returns
    -------
    Model
        Two spins 1/2 are a site; energies are those of two spins.

    Notes
    -----
    A. Kitaev, Ann. Phys. 321, 2 (2006): -0.393642 for equal couplings 1.

    Examples
    --------
    >>> import qad
    >>> qad.peps.kitaev()
    Model(3 terms, on 2 sites at most)
    """
    return honeycomb(spin_spin(-jx, 0, 0), spin_spin(0, -jy, 0), spin_spin(0, 0, -jz))


def of_joined(bonds: tuple[ArrayLike, ...], pattern: Pattern, count: int, kind: str | Site | None = None) -> Model:
    """The model of some bonds between sites of which `count` are one."""
    own = None if kind is None else site(kind)
    odd = odd_states(own) if own is not None and own.fermionic else None
    terms = [term(embedded(bonds[which], slots, len(sites), count, odd), sites) for which, slots, sites in pattern]
    return Model(joined(terms), None if own is None else together(own, count))


def embedded(
    bond: ArrayLike, slots: tuple[int, int], cells: int, count: int, odd: Sequence[int] | None = None
) -> Array:
    """A term of two sites as a matrix of `cells` joined ones: of one, or of the first and the last of two."""
    bond = array_operand(bond, "the term of a bond")
    d = round(bond.size**0.25)
    if bond.shape not in ((d,) * 4, (d * d,) * 2):
        raise ShapeError(f"the term of a bond has the shape (d, d, d, d) or (d^2, d^2), not {bond.shape}")
    if odd is not None and len(odd) != d:
        raise ShapeError(f"the term of a bond is one of sites of dimension {len(odd)}, not of shape {bond.shape}")
    n = cells * count
    acts = (slots[0], slots[1] + (cells - 1) * count)
    rest = [i for i in range(n) if i not in acts]
    wide = np.kron(bond.reshape(d * d, d * d), np.eye(d ** len(rest))).reshape((d,) * (2 * n))
    return canonical(Term(wide, tuple((0, i) for i in (*acts, *rest))), odd).operator.reshape(d**n, d**n)
