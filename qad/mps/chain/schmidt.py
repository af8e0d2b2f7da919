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
from qad.mps.chain.gauge import check_open, isometric
from qad.mps.chain.reached import orders_of
from qad.mps.chain.weak_directions import whole
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
    for left, right in zip(factors_from_left(psi.tensors), factors_from_right(psi.tensors), strict=True):
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


def factors_from_left(tensors: Sequence[Any]) -> list[Carried]:
    """What is carried across every inner bond from the left.

    In second derivatives what a dead direction of a bond may be filled with counts: there a matrix stays as it is.
    """
    check_open(tensors)
    found, exact = [], orders_of([numbers(t) for t in tensors]) > 1
    for tensor in tensors[:-1]:
        centre = join(found[-1].factor, tensor) if found else tensor
        ranks = Ranks(exact)
        factor = isometric_rows(checked(centre), ranks.pair, exact)[1]
        found.append(Carried(of_size_one(factor), ranks.of(centre, 2, leg_sizes(factor, 0))))
    return found


def factors_from_right(tensors: Sequence[Any]) -> list[Carried]:
    """What is carried across every inner bond from the right; see `factors_from_left`."""
    check_open(tensors)
    found, exact = [], orders_of([numbers(t) for t in tensors]) > 1
    for tensor in tensors[:0:-1]:
        centre = join(tensor, found[-1].factor) if found else tensor
        ranks = Ranks(exact)
        factor, isometry = isometric_columns(checked(centre), ranks.pair, exact)
        found.append(Carried(of_size_one(factor), ranks.of(centre, 1, leg_sizes(isometry, 0))))
    return found[::-1]


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
