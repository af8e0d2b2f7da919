"""Tensors of classical models on the square lattice, as functions of parameters that may be recorded.

Legs are ``(up, left, down, right)``; ln Z of `qad.peps.partition_function` is per tensor, that is per site.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.contract import einsum
from qad.core.errors import ArgumentError, ShapeError
from qad.extend import operand, value_of
from qad.linalg import funm_herm
from qad.peps.checks import array_operand

if TYPE_CHECKING:
    from qad.typing import Array, ArrayLike, RealNumber


def spins(bond: ArrayLike, site: ArrayLike | None = None) -> Array:
    """The tensor of spins with weights on bonds: ``Z = sum prod_<ij> bond[s_i, s_j] prod_i site[s_i]``.

    Parameters
    ----------
    bond : array (q, q)
        Symmetric. If positive definite, its square root goes to both ends, and the tensor has all symmetries of the
        lattice ("c4v"); else it stands on the legs down and right.
    site : array (q,), optional

    Returns
    -------
    array (q, q, q, q)

    Raises
    ------
    ShapeError
        If shapes do not fit.
    ArgumentError
        If `bond` is not symmetric.

    Examples
    --------
    >>> import numpy as np, qad
    >>> free = qad.peps.classical.spins(np.ones((3, 3)) + 1e-3 * np.eye(3))
    >>> free.shape
    (3, 3, 3, 3)
    """
    bond = array_operand(bond, "the weights of a bond")
    if bond.ndim != 2 or bond.shape[0] != bond.shape[1]:
        raise ShapeError(f"the weights of a bond are a square matrix, not an array of shape {bond.shape}")
    plain, q = value_of(bond), len(bond)
    if not np.allclose(plain, plain.T, rtol=0, atol=1e-12 * np.max(np.abs(plain))):
        raise ArgumentError("the weights of a bond are not symmetric: write the tensor of the site by hand")
    site = np.ones(q, plain.dtype) if site is None else operand(site)
    if site.shape != (q,):
        raise ShapeError(f"the weights of a site are one for each of {q} states, not an array of shape {site.shape}")
    if plain.dtype.kind != "c" and np.linalg.eigvalsh(plain)[0] > 1e-12 * np.max(np.abs(plain)):
        root = funm_herm(np.sqrt, (bond + bond.mT) / 2)
        return einsum("su,sl,sd,sr,s->uldr", root, root, root, root, site)
    return einsum("su,sl,sd,sr,s->uldr", np.eye(q), np.eye(q), bond, bond, site)


def ising(beta: RealNumber, field: RealNumber | None = None) -> Array:
    """The Ising model, ``Z = sum exp(beta sum_<ij> s_i s_j + field sum_i s_i)`` with spins of -1 and 1.

    Parameters
    ----------
    beta : float
        Coupling over temperature; negative for the antiferromagnet.
    field : float, optional
        Over temperature.

    Returns
    -------
    array (2, 2, 2, 2)

    Examples
    --------
    >>> import qad
    >>> magnetisation = qad.grad(lambda h: qad.peps.partition_function(qad.peps.classical.ising(0.2, h), chi=8))
    >>> print(round(float(magnetisation(0.1)), 6))
    0.272287
    """
    up = np.array([1.0, -1.0])
    return spins(np.exp(beta * np.outer(up, up)), None if field is None else np.exp(field * up))


def potts(beta: RealNumber, q: int) -> Array:
    """The Potts model of `q` colours, ``Z = sum exp(beta sum_<ij> [s_i = s_j])``.

    Parameters
    ----------
    beta : float
    q : int

    Returns
    -------
    array (q, q, q, q)

    Examples
    --------
    >>> import qad
    >>> qad.peps.classical.potts(0.5, 3).shape
    (3, 3, 3, 3)
    """
    return spins(np.exp(beta * np.eye(colours(q))))


def clock(beta: RealNumber, q: int) -> Array:
    """The clock model of `q` directions, ``Z = sum exp(beta sum_<ij> cos(2 pi (s_i - s_j) / q))``.

    Parameters
    ----------
    beta : float
    q : int

    Returns
    -------
    array (q, q, q, q)

    Examples
    --------
    >>> import qad
    >>> qad.peps.classical.clock(0.5, 5).shape
    (5, 5, 5, 5)
    """
    angles = 2 * np.pi * np.arange(colours(q)) / q
    return spins(np.exp(beta * np.cos(angles[:, None] - angles)))


def hard_squares(fugacity: RealNumber = 1.0) -> Array:
    """Particles of which no two are neighbours, each with weight `fugacity`.

    Parameters
    ----------
    fugacity : float

    Returns
    -------
    array (2, 2, 2, 2)

    Examples
    --------
    >>> import numpy as np, qad
    >>> constant = np.exp(qad.peps.partition_function(qad.peps.classical.hard_squares(), chi=8))
    >>> print(round(float(constant), 10))  # of hard squares
    1.5030480825
    """
    site = np.array([1.0, 0.0]) + fugacity * np.array([0.0, 1.0])
    return spins(np.array([[1.0, 1.0], [1.0, 0.0]]), site)


def six_vertex(a: RealNumber = 1.0, b: RealNumber = 1.0, c: RealNumber = 1.0) -> Array:
    """The six-vertex model in its weights a, b, c; all 1 for ice.

    Parameters
    ----------
    a, b, c : float
        a: both lines go straight on, up and right or down and left; b: up and left or down and right; c: both turn.

    Returns
    -------
    array (2, 2, 2, 2)
        A leg is 1 where its arrow leads from one sublattice to the other, so that two are 1 at each site, and the
        ordered phase of large c fits one tensor. With a = b it has all symmetries of the lattice.

    Examples
    --------
    >>> import numpy as np, qad
    >>> frozen = qad.peps.partition_function(qad.peps.classical.six_vertex(c=6.0), chi=8)
    >>> print(round(float(frozen), 6))
    1.792575
    """
    masks = np.zeros((3, 2, 2, 2, 2))
    masks[0, 1, 0, 0, 1] = masks[0, 0, 1, 1, 0] = 1
    masks[1, 1, 1, 0, 0] = masks[1, 0, 0, 1, 1] = 1
    masks[2, 1, 0, 1, 0] = masks[2, 0, 1, 0, 1] = 1
    return a * masks[0] + b * masks[1] + c * masks[2]


def dimers(horizontal: RealNumber = 1.0, vertical: RealNumber = 1.0) -> Array:
    """Dimers that cover every site once, with weights for both directions.

    Parameters
    ----------
    horizontal, vertical : float

    Returns
    -------
    array (2, 2, 2, 2)

    Examples
    --------
    >>> import qad
    >>> int(qad.peps.classical.dimers().sum())
    4
    """
    masks = np.zeros((2, 2, 2, 2, 2))
    masks[0, 0, 1, 0, 0] = masks[0, 0, 0, 0, 1] = masks[1, 1, 0, 0, 0] = masks[1, 0, 0, 1, 0] = 1
    return np.sqrt(horizontal) * masks[0] + np.sqrt(vertical) * masks[1]


def colours(q: int) -> int:
    """`q`, if a spin can have so many states."""
    if not isinstance(q, (int, np.integer)) or q < 2:
        raise ArgumentError(f"q is {q!r}: a spin has at least 2 states")
    return int(q)
