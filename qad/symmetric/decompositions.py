"""Decompositions and functions of symmetric tensors, seen as maps from some of their legs to the others.

Each sector is a matrix of its own, and is given to `qad.linalg`; so derivatives are as right, or as much refused, at
coinciding values as those of dense matrices, and values that coincide between sectors make no difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad import linalg
from qad.extend import stack_of, unrecorded
from qad.linalg.support.check import require_hermitian
from qad.symmetric.maps import as_map, as_square, bond_leg, halves, in_order_of, joined, of_square, rows_of
from qad.symmetric.tensor import SymTensor, bare

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qad.symmetric.blocks.layout import Layout
    from qad.typing import Array

__all__ = ["eigh", "expm", "factored", "funm_herm", "funm_svd", "qr", "svd"]


def svd(a: SymTensor, split: int | None = None) -> tuple[SymTensor, Array, SymTensor]:
    """Singular value decomposition ``a = U diag(s) V`` between the first legs and the others.

    Parameters
    ----------
    a : SymTensor
    split : int, optional
        How many of the legs are rows; by default those of its layout.

    Returns
    -------
    U : SymTensor
        The first legs, and the new bond with flow -1; neutral.
    s : array (bond,)
        Real, sector after sector in the order of the bond, descending in each: see `qad.symmetric.scale`.
    V : SymTensor
        The new bond with flow +1, and the other legs; of the charge of `a`.

    Raises
    ------
    ArgumentError
        If an entry is not finite; in the backward pass as `qad.linalg.svd`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> left, right = qad.symmetric.Leg({0: 2, 1: 3}, flow=+1), qad.symmetric.Leg({0: 3, 1: 2}, flow=-1)
    >>> a = qad.symmetric.random((left, right), seed=0)
    >>> u, s, v = qad.symmetric.svd(a)
    >>> bool(qad.symmetric.norm(qad.symmetric.tensordot(qad.symmetric.scale(u, s, -1), v, 1) - a) < 1e-14)
    True
    """
    a = as_map(a, split, "svd")
    return factored(a.layout, [linalg.svd(matrix, full_matrices=False) for matrix in a.sectors()], "svd")


def factored(where: Layout, triples: Sequence[Any], owner: str) -> tuple[SymTensor, Array, SymTensor]:
    """The tensors of the factors (U, s, Vh) of each sector."""
    left, right = halves(where, [(u, vh) for u, _, vh in triples], owner)
    return left, np.concatenate(in_order_of(right.legs[0], where, [s for _, s, _ in triples])), right


def qr(a: SymTensor, split: int | None = None) -> tuple[SymTensor, SymTensor]:
    """QR decomposition ``a = Q R`` between the first legs and the others.

    Parameters
    ----------
    a : SymTensor
    split : int, optional
        How many of the legs are rows; by default those of its layout.

    Returns
    -------
    Q : SymTensor
        The first legs, and the new bond with flow -1; neutral, its columns orthonormal.
    R : SymTensor
        The new bond with flow +1, and the other legs; upper triangular in each sector.

    Raises
    ------
    ArgumentError
        If an entry is not finite; in the backward pass as `qad.linalg.qr`.

    Examples
    --------
    >>> import qad
    >>> bond, spin = qad.symmetric.Leg({-1: 2, 1: 2}, flow=+1), qad.symmetric.Leg({1: 1, -1: 1}, flow=+1)
    >>> a = qad.symmetric.random((bond, spin, qad.symmetric.Leg({0: 2}, flow=-1)), seed=0)
    >>> q, r = qad.symmetric.qr(a)
    >>> bool(qad.symmetric.norm(qad.symmetric.tensordot(q, r, 1) - a) < 1e-14)
    True
    """
    a = as_map(a, split, "qr")
    return halves(a.layout, [linalg.qr(matrix) for matrix in a.sectors()], "qr")


def eigh(a: SymTensor) -> tuple[Array, SymTensor]:
    """Eigenvalues and eigenvectors of a Hermitian tensor, as a map from its first legs to their conjugates.

    Parameters
    ----------
    a : SymTensor
        Its second half of legs is the conjugate of the first, its charge is neutral; Hermitian.

    Returns
    -------
    w : array (bond,)
        Real, sector after sector in the order of the bond, ascending in each.
    V : SymTensor
        The first legs, and the bond with flow -1.

    Raises
    ------
    ArgumentError
        If `a` is not Hermitian, an entry is not finite; in the backward pass as `qad.linalg.eigh`.
    ShapeError
        If the legs are no square.

    Examples
    --------
    >>> import numpy as np, qad
    >>> spin = qad.symmetric.Leg({1: 1, -1: 1}, flow=+1)
    >>> exchange = np.eye(4)[[0, 2, 1, 3]].reshape(2, 2, 2, 2)
    >>> h = qad.symmetric.from_dense(exchange / 2, (spin, spin, spin.conj(), spin.conj()))
    >>> qad.symmetric.eigh(h)[0]  # a triplet and a singlet, by 2 Sz = -2, 0, 2
    array([ 0.5, -0.5,  0.5,  0.5])
    """
    a = as_square(a, "eigh")
    for matrix in a.sectors():
        require_hermitian(stack_of(unrecorded(matrix)), "eigh")
    pairs = [linalg.eigh(matrix) for matrix in a.sectors()]
    bond = bond_leg(a.layout, [w.shape[-1] for w, _ in pairs], "eigh")
    values = np.concatenate([w for w, _ in in_order_of(bond, a.layout, pairs)])
    return values, rows_of(a.layout, bond, [v for _, v in pairs])


def expm(a: SymTensor) -> SymTensor:
    """The exponential of a tensor, as a map from its first legs to their conjugates.

    Parameters
    ----------
    a : SymTensor
        Its second half of legs is the conjugate of the first, its charge is neutral.

    Raises
    ------
    ShapeError
        If the legs are no square.

    Examples
    --------
    >>> import numpy as np, qad
    >>> leg = qad.symmetric.Leg({0: 1, 1: 1}, flow=+1)
    >>> qad.symmetric.expm(np.log(2) * qad.symmetric.eye(leg)).data.round(12)
    array([2., 2.])
    """
    a = as_square(a, "expm")
    return of_square(bare(a.layout, joined([linalg.expm(matrix) for matrix in a.sectors()])))


def funm_herm(f: Callable[[Array], Array], a: SymTensor) -> SymTensor:
    """A function of a Hermitian tensor, as a map from its first legs to their conjugates: ``V diag(f(w)) V^H``.

    Its derivatives are exact where eigenvalues coincide, which those of `eigh` are not.

    Parameters
    ----------
    f : callable
        Elementwise, from real numbers: `qad.linalg.funm_herm`.
    a : SymTensor
        Its second half of legs is the conjugate of the first, its charge is neutral; Hermitian.

    Raises
    ------
    ArgumentError, ShapeError
        As `eigh`.

    Examples
    --------
    >>> import numpy as np, qad
    >>> leg = qad.symmetric.Leg({0: 1, 1: 1}, flow=+1)
    >>> qad.symmetric.funm_herm(np.sqrt, 4 * qad.symmetric.eye(leg)).data
    array([2., 2.])
    """
    a = as_square(a, "funm_herm")
    return of_square(bare(a.layout, joined([linalg.funm_herm(f, matrix) for matrix in a.sectors()])))


def funm_svd(f: Callable[[Array], Array], a: SymTensor, split: int | None = None) -> SymTensor:
    """A function of singular values, ``U diag(f(s)) V``, with the legs of `a`.

    Its derivatives are exact where singular values coincide, which those of `svd` are not.

    Parameters
    ----------
    f : callable
        Elementwise, from real numbers: `qad.linalg.funm_svd`.
    a, split
        As in `svd`.

    Examples
    --------
    >>> import qad
    >>> leg = qad.symmetric.Leg({0: 1, 1: 1}, flow=+1)
    >>> qad.symmetric.funm_svd(lambda s: s**3, 2 * qad.symmetric.eye(leg)).data
    array([8., 8.])
    """
    a = as_map(a, split, "funm_svd")
    return bare(a.layout, joined([linalg.funm_svd(f, matrix) for matrix in a.sectors()]))
