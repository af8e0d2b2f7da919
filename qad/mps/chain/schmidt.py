"""The Schmidt values of bonds as singular values of small matrices, one for each sector.

What isometric forms carry across a bond from the left and from the right is joined there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import stack_of, unrecorded, value_of
from qad.linalg import norm as frobenius
from qad.mps.chain.dropped import is_second
from qad.mps.chain.gauge import carried_of, check_open
from qad.symmetric.generic import as_map, bond_and_columns, charges_of, join, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qad.mps.chain.state import MPS
    from qad.symmetric.groups import Charge
    from qad.typing import Array, Real

EMPTY = "the state is zero or not finite: it has no entanglement"


def sectors_of(psi: MPS) -> list[list[tuple[Charge, Array]]]:
    """For every inner bond its sectors, whose singular values are the Schmidt values of the normalised state."""
    check_open(psi.tensors)
    if not all(np.isfinite(stack_of(unrecorded(numbers(tensor)))).all() for tensor in psi):
        raise ArgumentError(EMPTY)
    found, mirrored, bonds = [], [tensor.transpose(2, 1, 0) for tensor in reversed(psi.tensors)], range(1, len(psi))
    lefts, rights = factors_of(psi.tensors, bonds), factors_of(mirrored, bonds[::-1])
    for left, right in zip(lefts, reversed(rights), strict=True):
        centre = join(left, right, ((1,), (1,)))
        where, matrices = as_map(of_size_one(centre, frobenius(numbers(centre).reshape(-1))), 1)
        found.append(list(zip(charges_of(where), matrices, strict=True)))
    return found


def factors_of(tensors: Sequence[Any], bonds: Sequence[int]) -> list[Any]:
    """What isometric forms of the sites before every inner bond carry across it, of size 1; the bonds' numbers."""
    found, second = [], is_second(tensors)
    for bond, tensor in zip(bonds, tensors, strict=False):
        where, matrices = as_map(join(found[-1], tensor) if found else tensor, 2)
        every = second or len(matrices) == 1  # one of several that carries nothing gets no direction
        place, reached = f"bond {bond}", [every or stack_of(unrecorded(m)).any() for m in matrices]
        rows = [carried_of(m, place, second) if some else m[:0] for m, some in zip(matrices, reached, strict=True)]
        factor = bond_and_columns(where, rows)  # whose size is no part of the derivative
        found.append(of_size_one(factor, np.linalg.norm(stack_of(unrecorded(numbers(factor))).reshape(-1))))
    return found


def of_size_one(factor: Any, size: Real) -> Any:
    """A factor divided by its size; raises where that is none."""
    if not ((plain := stack_of(value_of(size))) > 0).all() or not np.isfinite(plain).all():
        raise ArgumentError(EMPTY)
    return factor * (1 / size)
