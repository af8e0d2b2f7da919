"""Truncated decompositions: the leading singular values of all sectors together."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from qad import linalg
from qad.core.errors import ArgumentError, BatchError
from qad.extend import stack_of, unrecorded
from qad.linalg.support.degeneracy import width
from qad.linalg.support.derivative_order import orders
from qad.linalg.truncation.rule import kept, tied
from qad.linalg.truncation.truncation_rank import check_gap
from qad.symmetric.decompositions import factored
from qad.symmetric.maps import as_map, halves

if TYPE_CHECKING:
    from qad.symmetric.tensor import SymTensor
    from qad.typing import Array, Real

__all__ = ["kept_ranks", "spectra", "split", "truncated_svd"]


def truncated_svd(
    a: SymTensor,
    max_rank: int | None = None,
    cutoff: float | None = None,
    relative: bool = True,
    *,
    split: int | None = None,
    multiplets: str = "warn",
) -> tuple[SymTensor, Array, SymTensor, Real]:
    """The leading singular triples between the first legs and the others, with the derivative of this truncation.

    Parameters
    ----------
    a : SymTensor
    max_rank : int, optional
        Keep at most so many, of all sectors together.
    cutoff : float, optional
        Keep singular values above it: above ``cutoff * s.max()`` if `relative`.
    relative : bool
    split : int, optional
        How many of the legs are rows; by default those of its layout.
    multiplets : "warn", "drop" or "cut"
        Where the cut would go through singular values that coincide: "drop" leaves all of them out, whatever sectors
        they are in.  The others choose among sectors by their order in the bond, and derivatives are refused; where
        values coincide within one sector, "warn" warns.

    Returns
    -------
    U, s, V
        As of `qad.symmetric.svd`.
    error : number
        Frobenius norm of what was discarded.

    Raises
    ------
    ArgumentError
        If nothing would be kept, or an entry is not finite; in a derivative if the cut goes through singular values
        that coincide, of one sector or several, and as `qad.linalg.svd`.
    BatchError
        Under `qad.vmap`, if examples keep different numbers of values of a sector: their bonds differ.

    Examples
    --------
    >>> import numpy as np, qad
    >>> leg = qad.symmetric.Leg({0: 2, 1: 2}, flow=+1)
    >>> a = qad.symmetric.from_dense(np.diag([3.0, 1.0, 2.0, 0.5]), (leg, leg.conj()))
    >>> u, s, v, error = qad.symmetric.truncated_svd(a, max_rank=3)
    >>> s, error, v.legs[0]
    (array([3., 1., 2.]), np.float64(0.5), Leg({0: 2, 1: 1}, flow=+1))
    """
    a = as_map(a, split, "truncated_svd")
    matrices, plain = a.sectors(), stack_of(a.data) is a.data
    whole = [linalg.svd(matrix, full_matrices=False) for matrix in matrices] if plain else None
    values = spectra(matrices) if whole is None else [s for _, s, _ in whole]
    ranks = kept_ranks(a, values, max_rank, cutoff, relative, multiplets, "truncated_svd")
    if whole is None:
        pairs = zip(matrices, ranks, strict=True)
        found = [linalg.truncated_svd(m, max_rank=rank, multiplets="cut") if rank else _nothing(m) for m, rank in pairs]
    else:
        pairs = zip(whole, ranks, strict=True)
        found = [(u[:, :rank], s[:rank], vh[:rank], np.linalg.norm(s[rank:])) for (u, s, vh), rank in pairs]
    left, values, right = factored(a.layout, [x[:3] for x in found], "truncated_svd")
    return left, values, right, linalg.norm(np.stack([x[3] for x in found]))


def _nothing(matrix):
    """No triples, and the norm of all of them."""
    return matrix[:, :0], matrix[0, :0].real, matrix[:0], linalg.norm(matrix)


def split(
    a: SymTensor,
    max_rank: int | None = None,
    cutoff: float | None = None,
    relative: bool = True,
    *,
    split: int | None = None,
    multiplets: str = "warn",
) -> tuple[SymTensor, SymTensor]:
    """Split a tensor in two halves of equal weight, with derivatives that are exact at coinciding singular values.

    Parameters
    ----------
    a, max_rank, cutoff, relative, split, multiplets
        As in `truncated_svd`; singular values that are zero to rounding are never kept.

    Returns
    -------
    L, R : SymTensor
        ``U sqrt(S)``, with the first legs and the new bond, and ``sqrt(S) V``, with the bond and the other legs.

    Raises
    ------
    ArgumentError
        If nothing would be kept; in a derivative if the cut goes through singular values that coincide, of one sector
        or several, or if the loss depends on the basis of the new bond, as `qad.linalg.split`.
    BatchError
        As `truncated_svd`.

    Examples
    --------
    >>> import qad
    >>> left, right = qad.symmetric.Leg({0: 2, 1: 3}, flow=+1), qad.symmetric.Leg({0: 3, 1: 2}, flow=-1)
    >>> a = qad.symmetric.random((left, right), seed=0)
    >>> l, r = qad.symmetric.split(a)
    >>> bool(qad.symmetric.norm(qad.symmetric.tensordot(l, r, 1) - a) < 1e-14)
    True
    """
    a = as_map(a, split, "split")
    matrices = a.sectors()
    values = spectra(matrices)
    ranks = kept_ranks(a, values, max_rank, cutoff, relative, multiplets, "split", zeros=False)
    pairs = [
        linalg.split(matrix, max_rank=rank, multiplets="cut") if rank else (matrix[:, :0], matrix[:0])
        for matrix, rank in zip(matrices, ranks, strict=True)
    ]
    return halves(a.layout, pairs, "split")


def spectra(matrices: list[Array]) -> list[np.ndarray]:
    """The singular values of matrices, not recorded; stacks of them in a batch."""
    return [stack_of(linalg.svdvals(unrecorded(matrix))) for matrix in matrices]


def kept_ranks(
    a: SymTensor,
    values: list[np.ndarray],
    max_rank: int | None,
    cutoff: float | None,
    relative: bool,
    multiplets: str,
    owner: str,
    zeros: bool = True,
) -> list[int]:
    """How many of the singular `values` of each sector of a map are kept; raises where those of a batch differ.

    Without `zeros`, those that are zero to rounding are not.  Derivatives are refused where the cut goes through values
    that coincide, of one sector or several, and are not zero: they would be of one side of a kink.
    """
    if multiplets not in ("warn", "drop", "cut"):
        raise ArgumentError(f'{owner}: multiplets={multiplets!r}: write "warn", "drop" or "cut"')
    sectors = a.layout.sectors
    order = sorted(range(len(sectors)), key=lambda i: sectors[i].charge)  # that of the bond
    values = [values[i] for i in order]
    batch = max((s.ndim for s in values), default=1) > 1
    if max_rank is not None and not hasattr(max_rank, "__index__"):
        raise ArgumentError(f"{owner}: max_rank={max_rank!r} must be a whole number")
    size = max([max(x.rows, x.columns) for x in sectors], default=0)
    how = {"relative": relative, "size": size, "zeros": zeros, "drop": multiplets == "drop", "least": 0}
    ranks = [
        kept([s[i] for s in values] if batch else values, max_rank, None, cutoff, **how)
        for i in range(len(values[0]) if batch else 1)
    ]
    most = _one_for_all(ranks, owner) if ranks else []
    if not any(most):
        raise ArgumentError(
            f"{owner}: truncation leaves nothing (max_rank={max_rank}, cutoff={cutoff}): keep one value at least"
        )
    if multiplets == "warn" and any(tied(s, rank, size) for s, rank in zip(values, most, strict=True)):
        warnings.warn(
            f"{owner}: the truncation cuts through singular values of one sector that coincide, of which the choice is "
            'arbitrary: write multiplets="drop" to leave them all out',
            RuntimeWarning,
            stacklevel=3,
        )
    if orders(a.data):
        _check_ties(values, sum(most), owner)
    return [most[order.index(i)] for i in range(len(order))]


def _check_ties(values, rank, owner):
    s = np.sort(np.concatenate(values, axis=-1))[..., ::-1]
    if (s[..., rank - 1] > width(s)).any():  # of zeros the factors know that they have no derivative
        check_gap(s, rank, owner)


def _one_for_all(ranks, owner):
    """The ranks of the examples of a batch; raises where they differ, as then do their bonds."""
    if others := [other for other in ranks if other != ranks[0]]:
        raise BatchError(
            f"{owner}: the examples of a batch keep different sectors, {ranks[0]} and {others[0]} values of each "
            "charge, so that their bonds differ: take the examples in a loop"
        )
    return ranks[0]
