"""The Schmidt values of bonds as singular values of small matrices, one for each sector.

What isometric forms carry across a bond from the left and from the right is joined there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import stack_of, unrecorded, value_of
from qad.linalg import norm as frobenius
from qad.mps.chain.dropped import is_second
from qad.mps.chain.gauge import carried_of, check_open
from qad.symmetric.generic import as_map, bond_and_columns, charges_of, join, numbers, permuted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.chain.state import MPS
    from qad.symmetric.groups import Charge
    from qad.typing import Array

__all__ = ["SchmidtSector", "sectors_of"]


class SchmidtSector(NamedTuple):
    """One sector of a bond: the charge on its left, and a matrix of its Schmidt values."""

    charge: Charge
    matrix: Array


def sectors_of(psi: MPS) -> list[list[SchmidtSector]]:
    """For every inner bond its sectors, whose singular values are the Schmidt values of the normalised state."""
    check_open(psi.tensors)
    found, mirrored, bonds = [], [permuted(tensor, 2, 1, 0) for tensor in reversed(psi.tensors)], range(1, len(psi))
    lefts, rights = factors_of(psi.tensors, bonds), factors_of(mirrored, bonds[::-1])
    for left, right in zip(lefts, reversed(rights), strict=True):
        where, matrices = as_map(unit(join(left, right, ((1,), (1,)))), 1)
        found.append([SchmidtSector(*row) for row in zip(charges_of(where), matrices, strict=True)])
    return found


def unit(center: Any) -> Any:
    """The centre on a bond divided by its norm."""
    size = frobenius(numbers(center).reshape(-1))
    if not (stack_of(value_of(size)) > 0).all():
        raise ArgumentError("the state is zero or not finite: it has no entanglement")
    return center * (1 / size)


def factors_of(tensors: Sequence[Any], bonds: Sequence[int]) -> list[Any]:
    """What isometric forms of the sites before every inner bond carry across it, of size 1; the bonds' numbers."""
    found, second = [], is_second(tensors)
    for bond, tensor in zip(bonds, tensors, strict=False):
        where, matrices = as_map(checked(join(found[-1], tensor) if found else tensor), 2)
        every = second or len(matrices) == 1  # one of several that carries nothing gets no direction
        place, reached = f"bond {bond}", [every or stack_of(unrecorded(m)).any() for m in matrices]
        rows = [carried_of(m, place, second) if some else m[:0] for m, some in zip(matrices, reached, strict=True)]
        found.append(of_size_one(bond_and_columns(where, rows)))
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
