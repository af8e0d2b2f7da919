"""Operators on single sites, taken apart by the charge that they add.

An environment that such a part has passed has that charge, and only the opposite part of another operator brings it
back to none.  What is written for plain arrays too has one part of them, of charge ``()``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import Tensor, stack_of, value_of
from qad.mps.charges.axes import turned
from qad.mps.charges.quantities import changes
from qad.symmetric.create import from_dense
from qad.symmetric.generic import join, numbers, permuted

if TYPE_CHECKING:
    from qad.mps.charges.quantities import Charge, Quantities
    from qad.typing import Array


def parts_of(matrix: Array, site: int, conserved: Quantities | None) -> dict[Charge, Any]:
    """A matrix on a site by the charge that its parts add, symmetric tensors of legs (out, in); itself if none is.

    Parts without any weight are left out, unless the matrix is recorded: their derivative is not zero.
    """
    if conserved is None:
        return {(): matrix}
    group, leg, order = conserved.symmetry, conserved.legs[site], conserved.orders[site]
    charges = [conserved.charges[site][k] for k in order]
    matrix, found = turned(matrix, conserved.states[site])[np.ix_(order, order)], {}
    plain = np.abs(stack_of(value_of(matrix)))
    for charge, here in changes(charges, group.minus).items():
        if type(matrix) is Tensor or (plain * here).any():
            part = matrix * here.astype(matrix.real.dtype)
            found[charge] = from_dense(part, (leg, leg.conj()), charge=group.shown(charge), tol=0.0)
    return found


def applied(part: Any, tensor: Any) -> Any:
    """A site tensor after an operator on its physical leg."""
    return permuted(join(tensor, part, ((1,), (1,))), 0, 2, 1)


def strung(matrix: Array, site: int, tensor: Any, conserved: Quantities | None) -> Any:
    """A site tensor after a part of a string, which must not change the charge."""
    parts = parts_of(matrix, site, conserved)
    neutral = () if conserved is None else conserved.symmetry.neutral
    if any(charge != neutral and stack_of(value_of(numbers(part))).any() for charge, part in parts.items()):
        raise ArgumentError(
            f"the string changes the charge on site {site}: give psi.without_symmetry(), or a string that conserves"
        )
    return applied(parts[neutral], tensor) if neutral in parts else 0.0 * tensor
