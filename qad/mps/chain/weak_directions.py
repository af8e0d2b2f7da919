"""Directions of a bond that carry little weight: where a derivative would divide by it too often.

The rule of `qad.mps.chain.gauge.isometric` divides by singular values in such a way that the rounding of a derivative
of order n is ``eps / s**(n - 1)``; that of `qad.linalg.split`, where it has something to leave out, is ``eps / s**n``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, like, stack_of, value_of
from qad.linalg.support import tolerances
from qad.linalg.truncation.truncation_rank import lost_in_split
from qad.mps.chain.dropped import orders_of

if TYPE_CHECKING:
    from qad.typing import Array


MOST_WHOLE = 2**24  # entries of a matrix that is kept as it is for derivatives


def too_weak(carried: Array, rows: int) -> bool:
    """Whether a derivative of ``A = Q C``, of so many `rows`, divides by too small a singular value of C.

    Where Q is square nothing is divided by.
    """
    if type(carried) is not Tensor or carried.shape[0] >= rows or (order := orders_of([carried])) < 2:
        return False
    s = np.linalg.svdvals(stack_of(value_of(carried)))
    return bool((tolerances.lost(s.dtype) * s[..., 0] ** (order - 1) > s[..., -1] ** (order - 1)).any())


def divides_by_little(matrices: list[Array], max_bond: int | None, cutoff: float) -> bool:
    """Whether `split` drops nothing of the matrices of a map, but divides by too small a singular value of one."""
    if max_bond is not None and max_bond < sum(min(matrix.shape) for matrix in matrices):
        return False
    spectra = [np.linalg.svdvals(stack_of(value_of(matrix))) for matrix in matrices]
    largest = np.max([s.max(axis=-1) for s in spectra], axis=0)
    least = max(cutoff, max(tolerances.empty(s.dtype, max(m.shape)) for s, m in zip(spectra, matrices, strict=True)))
    if any((s[..., -1] <= least * largest).any() for s in spectra):
        return False
    order = orders_of(matrices)
    return any(lost_in_split(s, s.shape[-1], m.shape, order) for s, m in zip(spectra, matrices, strict=True))


def refuse_weak(bond: int, order: int, side: str = "") -> NoReturn:
    """Raise: a direction that is kept carries too little weight."""
    raise ArgumentError(
        f"bond {bond}{side} has a direction that carries so little weight that rounding would be more than 1e-4 of a "
        f"derivative of order {order} through the canonical form. Differentiate the loss of the chain as it is, or "
        "drop the direction beforehand, outside of the differentiated function: psi.truncate(cutoff=1e-9)"
    )


def whole(matrix: Array, rank: int) -> tuple[Array, Array]:
    """A matrix as it is, of the isometry one."""
    check_small(matrix, rank)
    return like(matrix).eye(len(matrix), dtype=matrix.dtype), matrix


def check_small(matrix: Array, kept: int) -> None:
    """Raise where a matrix of dead directions is too large to be kept as it is."""
    if matrix.size > MOST_WHOLE:
        raise ArgumentError(
            f"derivatives at a bond of rank {kept} of {min(matrix.shape)} take the whole matrix of its left or right "
            f"side, here {matrix.shape}, which is too large: drop what carries no weight beforehand, outside of the "
            "differentiated function, psi.truncate(cutoff=1e-12)"
        )
