"""The operator of a cell that repeats, as sweeps over infinite chains meet it: one kernel for each kind of tensor.

The first channel of every bond has placed nothing yet, and the last one a whole term.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qad.mps.charges.channels import Channels
from qad.mps.kernels.charged import ChargedKernel
from qad.mps.kernels.dense import DenseKernel
from qad.mps.kernels.environments import through
from qad.symmetric.create import from_dense
from qad.symmetric.sparse import Entries

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qad.mps.charges.quantities import Quantities
    from qad.typing import DTypeLike


def cell_of(H: Sequence[np.ndarray], dtype: DTypeLike, conserved: Quantities | None = None) -> Any:
    """The kernel of a cell, for states that conserve quantities, as the sites count them from the mean, or none."""
    return DenseCell(H, dtype) if conserved is None else ChargedCell(H, dtype, conserved)


def ends_of(tensors: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Multiples of 1 left, and right, of every channel of each bond: 1 in one of them, unknown in the others."""
    counts = [tensors[0].shape[0], *(w.shape[1] for w in tensors)]
    first = [np.array([1.0, *[np.nan] * (count - 1)]) for count in counts]
    return first, [row[::-1] for row in first]


def steps_to_nothing(tensors: Sequence[np.ndarray]) -> int | None:
    """After how many cells all terms have ended that had begun; None where some never do."""
    going = np.eye(tensors[0].shape[0] - 2, dtype=bool)
    for w in tensors:
        going = going @ w[1:-1, 1:-1].any(axis=(2, 3))
    cells, power = 1, going
    while power.any() and cells <= len(going):
        cells, power = cells + 1, power @ going
    return None if power.any() else cells


class CellEnds:
    """The part of both kinds that knows the ends of each bond: the first (0) and the last (1) of its channels.

    A channel of an environment is taken from it, or put in its place, by a product with a unit vector.

    Attributes
    ----------
    steps : int or None
        After how many cells all terms have ended; None where some never do.
    ends : dict
        Of the first (0) and the last (-1) channel left of the cell the unit vectors: where True, they join a leg of an
        environment on the left, else one of an environment on the right.
    between : array or Entries
        What leaves out both, a map from the channels to those in between.
    """

    steps: int | None
    ends: dict[tuple[int, bool], Any]
    between: Any

    def know_ends(self, tensors: Sequence[np.ndarray], order: np.ndarray, made: Callable[..., Any]) -> None:
        """Make the unit vectors of channels in this order by a function that is told the sides which legs join."""
        self.steps = steps_to_nothing(tensors)
        units = {k: np.eye(len(order))[k][order] for k in (0, -1)}
        self.ends = {(k, ahead): made(unit, ahead) for k, unit in units.items() for ahead in (True, False)}
        self.between = made(np.diag(1 - units[0] - units[-1]), True, False)

    def taken(self, environment: Any, channel: int, ahead: bool) -> Any:
        """The first (0) or the last (1) channel of an environment, legs (bra, ket)."""
        return through(self.ends[-channel, ahead], environment, ((1,), (0,)), (0, 1), 1)

    def placed(self, matrix: Any, channel: int, ahead: bool) -> Any:
        """An environment of nothing but this matrix in the first (0) or the last (1) channel."""
        return through(self.ends[-channel, not ahead], matrix, ((), ()), (0, 2, 1), 1)

    def inner(self, environment: Any, ahead: bool) -> Any:
        """An environment without its first and last channels."""
        return through(self.between, environment, ((1,), (0 if ahead else 1,)), (0, 2, 1), 1)


class DenseCell(CellEnds, DenseKernel):
    """The cell of an operator, for states of arrays."""

    def __init__(self, H: Sequence[np.ndarray], dtype: DTypeLike):
        super().__init__(H, dtype, ends_of(H))
        real = self.sites[0].real.dtype
        self.know_ends(H, np.arange(H[0].shape[0]), lambda array, *sides: array.astype(real))


class ChargedCell(CellEnds, ChargedKernel):
    """The cell of an operator, for states that conserve; as `DenseCell`, of environments sector by sector."""

    def __init__(self, H: Sequence[np.ndarray], dtype: DTypeLike, conserved: Quantities):
        tensors = [w.astype(np.result_type(w.dtype, dtype)) for w in H]
        super().__init__(tensors, conserved, Channels(tensors, conserved, around=True), ends_of(tensors))
        legs = {True: self.channels.legs[0], False: self.channels.legs[0].conj()}

        def made(array, *sides):
            return Entries(from_dense(array, tuple([legs[side] for side in sides])))

        self.know_ends(self.tensors, self.channels.orders[0], made)
