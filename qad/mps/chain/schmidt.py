"""The Schmidt values of bonds as singular values of small matrices, one for each sector.

What isometric forms carry across a bond from the left and from the right is joined there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import stack_of, unrecorded, value_of
from qad.linalg import norm as frobenius
from qad.mps.chain.dropped import orders_of
from qad.mps.chain.gauge import check_open, factor_of
from qad.symmetric.generic import as_map, bond_and_columns, charges_of, join, numbers, opposite_charges, permuted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
    check_open(psi.tensors)
    found, mirrored = [], [permuted(tensor, 2, 1, 0) for tensor in reversed(psi.tensors)]
    rights = reversed(factors_of(mirrored, opposite_charges))
    for left, right in zip(factors_of(psi.tensors, charges_of), rights, strict=True):
        where, matrices = as_map(unit(join(left.factor, right.factor, ((1,), (1,)))), 1)
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
    """What isometric forms of the sites before a bond carry across it, of size 1, and the rank of each charge."""

    factor: Any
    ranks: dict[Charge, int]


def factors_of(tensors: Sequence[Any], charges: Callable[[Any], list[Charge]]) -> list[Carried]:
    """What is carried across every inner bond from the left, by the `charges` of its sectors.

    In second derivatives what a dead direction of a bond may be filled with counts: there a matrix stays as it is.
    """
    found, exact = [], orders_of([numbers(t) for t in tensors]) > 1
    for tensor in tensors[:-1]:
        where, matrices = as_map(checked(join(found[-1].factor, tensor) if found else tensor), 2)
        every = exact or len(matrices) == 1  # one of several that carries nothing gets no direction
        pairs = [factor_of(m, exact) if every or stack_of(unrecorded(m)).any() else (m[:0], 0) for m in matrices]
        ranks = dict(zip(charges(where), [rank for _, rank in pairs], strict=True))
        found.append(Carried(of_size_one(bond_and_columns(where, [factor for factor, _ in pairs])), ranks))
    return found


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
