"""Charges that spins have along another axis than their basis states.

The Ising chain conserves the parity of flips, the product of all sx: of the spins that point down along x it counts the
number modulo two.  Tensors with such charges are of the basis states along x.  An operator is turned into it where its
symmetric tensors are made, and what leaves a state, densities and plain tensors, is turned back: names of operators and
results mean what they always do.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from qad.extend import Tensor, value_of
from qad.mps.operators.local import spin

if TYPE_CHECKING:
    from qad.typing import Array

ALONG_X, PAIRS_ALONG_X = "parity x", "parity x of pairs"  # the latter of sites with ancillas
ROUNDED = 16 * np.finfo(float).eps  # times the largest entry of a block: what a turn leaves of a zero


@lru_cache
def along_x(size: int) -> np.ndarray:
    """The states of a spin of this dimension along x, by descending Sx, as columns; real, and its own inverse."""
    vectors = np.linalg.eigh(spin((size - 1) / 2).operators["Sx"])[1][:, ::-1]
    found = vectors * np.sign(vectors[0])
    found.flags.writeable = False
    return found


def turned(matrix: Array, states: np.ndarray | None) -> Array:
    """Matrices on the last two axes between the states that are the columns; rounding is not taken for an entry."""
    if states is None:
        return matrix
    found = states.T @ matrix @ states
    if type(found) is Tensor:
        return found
    sizes = np.abs(value_of(found)).max(axis=(-1, -2), keepdims=True, initial=0.0)
    return np.where(np.abs(found) > ROUNDED * sizes, found, 0)


def in_basis(x: Any, frame: np.ndarray, axis: int) -> Any:
    """An axis in the order of a leg as one in the site's basis: the frame is the order, or the states as columns."""
    if frame.ndim == 1:
        return x[(slice(None),) * axis + (np.argsort(frame),)]
    return np.moveaxis(np.tensordot(frame, x, ((1,), (axis,))), 0, axis)
