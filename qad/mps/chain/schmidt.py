"""The Schmidt values of bonds as singular values of small matrices, one for each sector.

What isometric forms carry across a bond from the left and from the right is joined there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import stack_of, unrecorded, value_of
from qad.linalg import norm as frobenius
from qad.mps.chain.canonical import isometric_columns, isometric_rows
from qad.mps.chain.dropped import orders_of, whole
from qad.mps.chain.gauge import check_open, isometric
from qad.symmetric.generic import as_map, charges_of, join, leg_sizes, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.chain.state import MPS
    from qad.symmetric.groups import Charge
    from qad.typing import Array

__all__ = ["SchmidtSector", "sectors_of"]


class SchmidtSector(NamedTuple):
    """One sector of a bond: the charge on its left, a matrix of its Schmidt values, and how many it can have."""

    charge: Charge
    matrix: Array
    rank: int


def sectors_of(psi: MPS) -> list[list[SchmidtSector]]:
    """For every inner bond its sectors, whose singular values are the Schmidt values of the normalised state."""
    found = []
    for left, right in zip(factors_of(psi.tensors, True), factors_of(psi.tensors, False), strict=True):
        where, matrices = as_map(unit(join(left.factor, right.factor)), 1)
        charges = charges_of(where)
        ranks = [min(left.ranks[q], right.ranks[q]) for q in charges]
        found.append([SchmidtSector(*row) for row in zip(charges, matrices, ranks, strict=True)])
    return found


def unit(center: Any) -> Any:
    """The centre on a bond divided by its norm."""
    size = frobenius(numbers(center).reshape(-1))
    if not (stack_of(value_of(size)) > 0).all():
        raise ArgumentError("the state is zero or not finite: it has no entanglement")
    return center * (1 / size)


class Carried(NamedTuple):
    """What isometric forms of one side carry across a bond, of size near one, and the rank of each charge."""

    factor: Any
    ranks: dict[Charge, int]


def factors_of(tensors: Sequence[Any], to_right: bool) -> list[Carried]:
    """What is carried across every inner bond from the left, or from the right.

    In second derivatives what a dead direction of a bond may be filled with counts: there a matrix stays as it is.
    """
    check_open(tensors)
    found, exact = [], orders_of([numbers(t) for t in tensors]) > 1
    for tensor in tensors[:-1] if to_right else tensors[:0:-1]:
        before = found[-1].factor if found else None
        ranks = Ranks(exact)
        if to_right:
            centre = checked(join(before, tensor) if found else tensor)
            factor = isometric_rows(centre, ranks.pair, exact)[1]
            rank = ranks.of(centre, 2, leg_sizes(factor, 0))
        else:
            centre = checked(join(tensor, before) if found else tensor)
            factor, isometry = isometric_columns(centre, ranks.pair, exact)
            rank = ranks.of(centre, 1, leg_sizes(isometry, 0))
        found.append(Carried(of_size_one(factor), rank))
    return found if to_right else found[::-1]


class Ranks:
    """Isometric forms of matrices, which stay as they are where they would have fewer rows and are to be `exact`."""

    def __init__(self, exact: bool):
        self.exact: bool = exact
        self.found: list[int] = []

    def pair(self, matrix: Array) -> tuple[Array, Array]:
        """The form of one matrix, whose rank is put down."""
        q, c = isometric(matrix)
        self.found.append(c.shape[0])
        return whole(matrix, c.shape[0]) if self.exact and c.shape[0] < min(matrix.shape) else (q, c)

    def of(self, centre: Any, rows: int, sizes: dict[Charge, int]) -> dict[Charge, int]:
        """The rank of each charge of a map; the `sizes` of the new bond, where nothing stayed as it was."""
        return dict(zip(charges_of(as_map(centre, rows)[0]), self.found, strict=True)) if self.exact else sizes


def checked(tensor: Any) -> Any:
    """The tensor; raises where it is not finite."""
    if not np.isfinite(stack_of(unrecorded(numbers(tensor)))).all():
        raise ArgumentError("the state is zero or not finite: it has no entanglement")
    return tensor


def of_size_one(factor: Any) -> Any:
    """A factor divided by its size, which is no part of the derivative."""
    values = numbers(factor)
    size = np.linalg.norm(stack_of(unrecorded(values)).reshape(-1))
    if not 0 < size < np.inf:
        raise ArgumentError("the state is zero or not finite: it has no entanglement")
    return factor * (1 / size).astype(values.real.dtype)
