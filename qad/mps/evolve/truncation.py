"""Cuts of pairs of sites down to a largest bond, and account of what they discard.

They are made of operations that the tape differentiates (`qad.mps.evolve.cut`); of plain numbers, nothing is recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qad.core.errors import ArgumentError
from qad.extend import value_of
from qad.linalg.truncation import rule
from qad.mps.evolve.cut import amplitude_beyond, cut, guessed, orthonormal, size_of
from qad.mps.evolve.leading import SMALLEST, loose, lost
from qad.symmetric.generic import as_map, halves_of, laid_out, plain
from qad.symmetric.tensor import SymTensor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qad.typing import Array

NO_WEIGHT = (
    "a bond has directions that carry no weight, but that a change of the Hamiltonian, the time or the state may fill "
    "(to {:.2g} of the norm): the derivative would miss them. Take it where they are filled (at another time, with "
    "couplings that are not zero), tilt the state a little, give a smaller cutoff, or, if nothing that you "
    "differentiate by makes that change (it breaks a symmetry, say), evolve(..., reach=1.0)"
)


class Truncation:
    """Splits pairs of sites, and keeps account of what it cuts off.

    Parameters
    ----------
    bond : int
        Largest bond dimension.
    cutoff : float
        Largest weight (sum of squared Schmidt coefficients, relative) that a cut may discard below `bond`.
    reach : float, optional
        Amplitude, relative to the norm, that a local change may put into directions without weight before a derivative
        that would miss them is refused; by default none is.
    """

    def __init__(self, bond: int, cutoff: float, reach: float = np.inf):
        if not 0 <= cutoff < 1:
            raise ArgumentError(f"a cut may discard a weight from 0 to below 1, not cutoff={cutoff!r}")
        self.bond: int = bond
        self.cutoff: float = cutoff
        self.reach: float = reach
        self.discarded: float = 0.0

    def split(self, pair: Any, to_right: bool, before: Any = None, rows: int = 2) -> tuple[Any, Any]:
        """Two tensors, the left one of so many legs; the centre goes to the right one, or to the left.

        The norm is kept.

        `before` is the one that was an isometry before the pair changed: its bond is a first guess (`leading`), where
        there is one sector.
        """
        where, matrices = as_map(pair, rows)
        across, halves = matrices if to_right else [matrix.mT for matrix in matrices], None
        if before is not None and type(before) is not SymTensor:
            known = before.reshape(before.shape[0], -1) if to_right else before.reshape(-1, before.shape[2]).mT
            halves = self.by_guess(across[0], known)
        halves = self.by_values(pair, across) if halves is None else [halves]
        left, right = halves_of(where, halves if to_right else [(c.mT, q.mT) for q, c in halves], "evolve")
        return left, laid_out(right, 2)

    def by_guess(self, matrix: Array, known: Array) -> tuple[Array, Array] | None:
        """The halves of a matrix, by rows that held it before; None where it takes a singular value decomposition."""
        if not (SMALLEST <= len(known) == self.bond < min(matrix.shape)):  # a full bond is cut down to its size again
            return None
        q, c = guessed(matrix, known)
        if loose(value_of(matrix), value_of(c)):
            q, c = guessed(matrix, orthonormal(c.mT)[0].mT)
        share = lost(*map(value_of, (matrix, q, c)), self.cutoff)
        if share is None:
            return None
        self.discarded += share
        return q, c * (size_of(matrix) / size_of(c))

    def by_values(self, pair: Any, matrices: Sequence[Array]) -> list[tuple[Array, Array]]:
        """The halves of the matrices of a pair by their singular values."""
        found = cut(*matrices, ranks_of=self.ranks)
        ranks = [q.shape[1] for q in found[::2]]
        if self.reach < np.inf and sum(ranks) < self.bond:
            size = amplitude_beyond(plain(pair), ranks)
            if size > self.reach:
                raise ArgumentError(NO_WEIGHT.format(size))
        return list(zip(found[::2], found[1::2], strict=True))

    def ranks(self, values: list[np.ndarray]) -> list[int]:
        """How many of the singular values of each sector are kept; the weight of the others is put down."""
        ranks = rule.kept(values, self.bond, self.cutoff)
        self.discarded += rule.lost(values, ranks)
        return ranks
